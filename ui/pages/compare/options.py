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
    "edit": gettext_lazy("Ablated heads"),
}
SHOWS = {
    "pair": gettext_lazy("Two runs"),
    "set": gettext_lazy("Set of pairs"),
}
BRINGS = {"ready": gettext_lazy("Ready pairs"), "file": gettext_lazy("Your own file")}
HEADS = {"same": gettext_lazy("Same head"), "best": gettext_lazy("Most similar head")}


@dataclass(frozen=True)
class CompareOptions(AnsweringOptions):
    """Options of the page Side by side; the first reading is the shared view state."""

    show: str = option(
        "pair",
        label=gettext_lazy("Compare"),
        help=gettext_lazy("Two runs word by word, or many pairs of texts"),
        choices=SHOWS,
    )
    # Source of the set of pairs.
    bring: str = option(
        "ready",
        label=gettext_lazy("Pairs"),
        help=gettext_lazy("Texts that differ in meaning, and controls that differ only in wording"),
        choices=BRINGS,
    )
    leaf: int = 1  # page of the list of pairs, from 1
    # Difference of the second reading; "" is a text if one fits the first.
    differs: str = option(
        "",
        label=gettext_lazy("Compare with"),
        help=gettext_lazy("Change the text, the model, or ablate heads."),
        choices=DIFFERS,
    )
    other: str = ""  # the second text; "" is the ready counterpart of the first, if any
    beside: str = ""  # the second model; "" is the first downloaded model that fits
    beside_revision: str = ""
    # How heads of the two models are paired.
    heads: str = option(
        "same",
        label=gettext_lazy("Matched head"),
        help=gettext_lazy(
            "Same number suits only related models; similar heads distribute attention alike on the same sentences."
        ),
        choices=HEADS,
    )
    # Packed edits of the second reading; "" ablates the first head of the first layer.
    edits: str = option("", of_text=drop_token_edits)
