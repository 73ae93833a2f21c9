"""Options of the Next sentence page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.view import GROUPS
from ui.state.params import AnsweringOptions


@dataclass(frozen=True)
class NextSentenceOptions(AnsweringOptions):
    """Options of the Next sentence page."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"looks": GROUPS, "at": GROUPS}

    looks: str = "a"  # The group of query tokens.
    at: str = "b"  # The group of key tokens.
