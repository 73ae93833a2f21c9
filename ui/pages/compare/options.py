"""What the page Side by side lets its reader choose."""

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
    """What this page lets its reader choose; the first reading is the shared choice."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS), "bring": tuple(BRINGS), "differs": ("", *DIFFERS), "heads": tuple(HEADS),
        "watch": ("", *WATCHES),
    }  # fmt: skip
    OF_TEXT: ClassVar = {"edits": drop_token_edits, "lent": drop_place}

    show: str = "pair"
    bring: str = "ready"  # which set
    leaf: int = 1  # which part of the list of its pairs is shown, from 1
    differs: str = ""  # what the second reading has of its own; "" is a text where there is one to go with the first
    other: str = ""  # the second text; "" is the ready one, where the first text has one
    beside: str = ""  # the second model; "" is the first one on this machine that fits
    beside_revision: str = ""
    heads: str = "same"  # which head of the second model stands beside one of the first
    watch: str = ""  # the answer that is followed; "" is what the model is there for
    first: str = ""  # the two words whose odds are followed; "" are those that differ most
    second: str = ""
    lent: str = (
        ""  # what is taken on its own: s3-5, what enters layer 3 at word 5, or h3-1, a head; "" what carries most
    )
    edits: str = ""  # what is removed in the second reading; "" is the first head of the first layer
