"""What the page The whole pass lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from inference.heads import BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, TAG
from ui.state.options import nothing
from wording import sentence

ZOOMS = {"stack": sentence("The stack"), "layer": sentence("A layer"), "stage": sentence("A stage")}
TAUGHT = {"classes": sentence("Classes"), "tags": sentence("Tags")}  # what models are taught to tell
# By the kind of a model, the heads that its pass may end with, the first by itself.
HEADS = {
    "encoder": {
        "masked": sentence("Masked words"),
        "next": sentence("Next sentence"),
        **TAUGHT,
        "none": sentence("No head"),
    },
    "decoder": {"causal": sentence("Next token"), **TAUGHT, "none": sentence("No head")},
    "encoder-decoder": {"none": sentence("Its own")},
}
QUESTIONED = {"masked": MASKED, "next": NEXT_SENTENCE, "causal": CAUSAL, "classes": CLASSIFY, "tags": TAG, "none": BARE}

CHANGES = {
    "": sentence("Nothing"),
    "number": sentence("This number"),
    "token": sentence("This token's vector"),
    "head": sentence("This head"),
    "stage": sentence("The whole stage"),
}


@dataclass(frozen=True)
class Options:
    """This page's own options. ``stage`` counts the stages of the pass from 0; ``row`` and ``column`` are of the
    chosen number in the stage's result as it is drawn."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "zoom": tuple(ZOOMS),
        "ends": ("", *QUESTIONED),
        "change": tuple(CHANGES),
    }
    OF_TEXT: ClassVar = dict.fromkeys(("row", "column"), nothing)

    zoom: str = "stack"
    ends: str = ""  # the head; "" for the first that the model has
    stage: int | None = None  # None: where the pass ends in probabilities, there; else the first
    row: int | None = None  # None: a decoder's last token, a blank, else the first token that is the text's own
    column: int | None = None  # None: the row's largest number
    change: str = ""  # what is changed at the stage
    becomes: str = "0"  # as it was typed
    lender: str = ""  # the text whose numbers it becomes instead
    whole: bool = False  # whether the lines of a stage begin with all that it needs
