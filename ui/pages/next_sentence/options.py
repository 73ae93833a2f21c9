"""What the page Next sentence lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.view import GROUPS
from ui.state.params import AnsweringOptions


@dataclass(frozen=True)
class NextSentenceOptions(AnsweringOptions):
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"looks": GROUPS, "at": GROUPS}

    looks: str = "a"  # the group of tokens that look
    at: str = "b"  # the group that they look at
