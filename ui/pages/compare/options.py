"""Address parameters of the page Side by side."""

from __future__ import annotations

from dataclasses import dataclass

from attention.edits import drop_token_edits
from i18n import gettext_lazy
from ui.state.params import AnsweringOptions
from viz.options import option

DIFFERS = {
    "text": gettext_lazy("Another text"),
    "model": gettext_lazy("Another model"),
    "edit": gettext_lazy("Heads removed"),
}
SHOWS = {
    "pair": gettext_lazy("Two readings"),
    "set": gettext_lazy("Across a set of pairs"),
}
BRINGS = {"ready": gettext_lazy("Ready pairs"), "file": gettext_lazy("A file of your own")}
HEADS = {"same": gettext_lazy("The same head"), "best": gettext_lazy("The head most like it")}


@dataclass(frozen=True)
class CompareOptions(AnsweringOptions):
    """Options of the page Side by side; the first reading is the shared view state."""

    show: str = option(
        "pair",
        label=gettext_lazy("Compare"),
        help=gettext_lazy("One reading beside another, word by word, or many pairs of texts at once"),
        choices=SHOWS,
    )
    # Source of the set of pairs.
    bring: str = option(
        "ready",
        label=gettext_lazy("Pairs"),
        help=gettext_lazy(
            "Pairs of texts that differ in meaning, and beside them pairs that differ in wording only, the control"
        ),
        choices=BRINGS,
    )
    leaf: int = 1  # page of the list of pairs, from 1
    # Difference of the second reading; "" is a text if one fits the first.
    differs: str = option(
        "",
        label=gettext_lazy("Put beside it"),
        help=gettext_lazy(
            "Another text read by the same model, the same text read by another model, or the same text read by the "
            "same model without some of its heads."
        ),
        choices=DIFFERS,
    )
    other: str = ""  # the second text; "" is the ready counterpart of the first, if any
    beside: str = ""  # the second model; "" is the first downloaded model that fits
    beside_revision: str = ""
    # How heads of the two models are paired.
    heads: str = option(
        "same",
        label=gettext_lazy("Beside each head"),
        help=gettext_lazy(
            "Heads have no meaning by their number: only models that grew out of each other have the same ones. Two "
            "heads are alike where they give the words of sentences like shares of their attention."
        ),
        choices=HEADS,
    )
    # Packed edits of the second reading; "" ablates the first head of the first layer.
    edits: str = option("", of_text=drop_token_edits)
