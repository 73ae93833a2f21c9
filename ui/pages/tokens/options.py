"""What the page Tokens lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ui.state.params import drop_place


@dataclass(frozen=True)
class TokensOptions:
    """What this page lets its reader choose; None and "" mean "what fits"."""

    OF_TEXT: ClassVar = dict.fromkeys(("way", "side", "at"), drop_place)

    beside: str = ""  # the second tokenizer's model
    way: int = 0  # of the two: where the word was picked
    side: int = 0  # of the texts
    at: int | None = None  # which of its words
