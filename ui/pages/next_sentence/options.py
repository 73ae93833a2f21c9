"""Options of the Next sentence page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from attention.view import GROUPS
from ui.state.params import AnsweringOptions
from viz.options import option


@dataclass(frozen=True)
class NextSentenceOptions(AnsweringOptions):
    """Options of the Next sentence page."""

    looks: str = option("a", choices=GROUPS)  # The group of query tokens.
    at: str = option("b", choices=GROUPS)  # The group of key tokens.
