"""Options of the Tokens page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.state.params import drop_place
from viz.options import option


@dataclass(frozen=True)
class TokensOptions:
    """Options of the Tokens page; None and "" stand for automatic choices."""

    # The model of the second tokenizer.
    beside: str = option(
        "",
        label=gettext_lazy("Compare tokenizers"),
        help=gettext_lazy("Models whose files are on this machine"),
    )
    way: int = option(0, of_text=drop_place)  # Index of the tokenizer in which the word was selected.
    side: int = option(0, of_text=drop_place)  # Index of the text.
    at: int | None = option(None, of_text=drop_place)  # Index of the word in that text.
