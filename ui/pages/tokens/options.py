"""Options of the Tokens page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ui.state.params import drop_place


@dataclass(frozen=True)
class TokensOptions:
    """Options of the Tokens page; None and "" stand for automatic choices."""

    OF_TEXT: ClassVar = dict.fromkeys(("way", "side", "at"), drop_place)

    beside: str = ""  # The model of the second tokenizer.
    way: int = 0  # Index of the tokenizer in which the word was selected.
    side: int = 0  # Index of the text.
    at: int | None = None  # Index of the word in that text.
