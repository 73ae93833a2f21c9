"""Address parameters of the page Side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import drop_token_edits
from i18n import gettext_lazy
from ui.state.params import AnsweringOptions, drop_place

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

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS), "bring": tuple(BRINGS), "differs": ("", *DIFFERS), "heads": tuple(HEADS),
        "watch": ("", *WATCHES),
    }  # fmt: skip
    OF_TEXT: ClassVar = {"edits": drop_token_edits, "lent": drop_place}

    show: str = "pair"
    bring: str = "ready"  # source of the set of pairs
    leaf: int = 1  # page of the list of pairs, from 1
    differs: str = ""  # difference of the second reading; "" is a text if one fits the first
    other: str = ""  # the second text; "" is the ready counterpart of the first, if any
    beside: str = ""  # the second model; "" is the first downloaded model that fits
    beside_revision: str = ""
    heads: str = "same"  # how heads of the two models are paired
    watch: str = ""  # the patching metric; "" is the model's usual task
    first: str = ""  # first and second are the compared words; "" are those that change most
    second: str = ""
    lent: str = (
        ""  # the single patch: s3-5 (input of layer 3 at word 5), h3-1 (a head), "" (the head with the largest effect)
    )
    edits: str = ""  # packed edits of the second reading; "" ablates the first head of the first layer
