"""Address parameters of the page Side by side."""

from __future__ import annotations

from dataclasses import dataclass

from attention.edits import drop_token_edits
from i18n import gettext_lazy
from ui.state.params import AnsweringOptions, drop_place
from viz.options import option

DIFFERS = {
    "text": gettext_lazy("Another text"),
    "model": gettext_lazy("Another model"),
    "edit": gettext_lazy("Heads removed"),
}
SHOWS = {
    "pair": gettext_lazy("Two readings"),
    "carry": gettext_lazy("What carries the difference"),
    "set": gettext_lazy("Across a set of pairs"),
}
WATCHES = {
    "blank": gettext_lazy("Masked word"),
    "next": gettext_lazy("Next token"),
    "vector": gettext_lazy("Sentence vector"),
}
BRINGS = {"ready": gettext_lazy("Ready pairs"), "file": gettext_lazy("A file of your own")}
HEADS = {"same": gettext_lazy("The same head"), "best": gettext_lazy("The head most like it")}


@dataclass(frozen=True)
class CompareOptions(AnsweringOptions):
    """Options of the page Side by side; the first reading is the shared view state."""

    show: str = option(
        "pair",
        label=gettext_lazy("Compare"),
        help=gettext_lazy(
            "One reading beside another, word by word; which words and heads carry the difference between two texts; "
            "or many pairs of texts at once"
        ),
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
    # The patching metric; "" is the model's usual task.
    watch: str = option(
        "",
        label=gettext_lazy("Follow"),
        help=gettext_lazy("The answer of the model that is followed from the first text's to the second's."),
        choices=WATCHES,
    )
    first: str = ""  # first and second are the compared words; "" are those that change most
    second: str = ""
    lent: str = (
        option(
            "", of_text=drop_place
        )  # the single patch: s3-5 (input of layer 3 at word 5), h3-1 (a head), "" (the head with the largest effect)
    )
    # Packed edits of the second reading; "" ablates the first head of the first layer.
    edits: str = option("", of_text=drop_token_edits)
