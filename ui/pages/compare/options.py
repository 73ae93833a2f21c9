"""What the page Side by side lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import anywhere

DIFFERS = {"text": "Another text", "model": "Another model", "edit": "Heads removed"}
SHOWS = {"pair": "Two readings", "set": "Across a set of pairs"}
BRINGS = {"ready": "Ready pairs", "file": "A file of your own"}
HEADS = {"same": "The same head", "best": "The head most like it"}


@dataclass(frozen=True)
class Compare:
    """What this page lets its reader choose; the first reading is the shared choice."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS), "bring": tuple(BRINGS), "differs": ("", *DIFFERS), "heads": tuple(HEADS),
    }  # fmt: skip
    OF_TEXT: ClassVar = {"edits": anywhere}

    show: str = "pair"
    bring: str = "ready"  # which set
    leaf: int = 1  # which part of the list of its pairs is shown, from 1
    differs: str = ""  # what the second reading has of its own; "" is a text where there is one to go with the first
    other: str = ""  # the second text; "" is the ready one, where the first text has one
    beside: str = ""  # the second model; "" is the first one on this machine that fits
    beside_revision: str = ""
    heads: str = "same"  # which head of the second model stands beside one of the first
    edits: str = ""  # what is removed in the second reading; "" is the first head of the first layer
