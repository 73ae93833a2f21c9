"""What the page Side by side lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import anywhere
from ui.state.options import Answered, nothing
from wording import sentence

DIFFERS = {"text": sentence("Another text"), "model": sentence("Another model"), "edit": sentence("Heads removed")}
SHOWS = {
    "pair": sentence("Two readings"),
    "carry": sentence("What carries the difference"),
    "set": sentence("Across a set of pairs"),
}
WATCHES = {"blank": sentence("Masked word"), "next": sentence("Next token"), "vector": sentence("Sentence vector")}
BRINGS = {"ready": sentence("Ready pairs"), "file": sentence("A file of your own")}
HEADS = {"same": sentence("The same head"), "best": sentence("The head most like it")}


@dataclass(frozen=True)
class Compare(Answered):
    """What this page lets its reader choose; the first reading is the shared choice."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS), "bring": tuple(BRINGS), "differs": ("", *DIFFERS), "heads": tuple(HEADS),
        "watch": ("", *WATCHES),
    }  # fmt: skip
    OF_TEXT: ClassVar = {"edits": anywhere, "lent": nothing}

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
