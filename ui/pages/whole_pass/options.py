"""What the page The whole pass lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy
from inference.task_heads import BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, TAG
from ui.state.params import drop_place

ZOOMS = {"stack": gettext_lazy("The stack"), "layer": gettext_lazy("A layer"), "stage": gettext_lazy("A stage")}
TAUGHT = {"classes": gettext_lazy("Classes"), "tags": gettext_lazy("Tags")}  # what models are taught to tell
# By the kind of a model, the heads that its pass may end with, the first by itself.
HEADS = {
    "encoder": {
        "masked": gettext_lazy("Masked words"),
        "next": gettext_lazy("Next sentence"),
        **TAUGHT,
        "none": gettext_lazy("No head"),
    },
    "decoder": {"causal": gettext_lazy("Next token"), **TAUGHT, "none": gettext_lazy("No head")},
    "encoder-decoder": {"none": gettext_lazy("Its own")},
}
QUESTIONED = {"masked": MASKED, "next": NEXT_SENTENCE, "causal": CAUSAL, "classes": CLASSIFY, "tags": TAG, "none": BARE}

CHANGES = {
    "": gettext_lazy("Nothing"),
    "number": gettext_lazy("This number"),
    "token": gettext_lazy("This token's vector"),
    "head": gettext_lazy("This head"),
    "stage": gettext_lazy("The whole stage"),
}


@dataclass(frozen=True)
class WholePassOptions:
    """This page's own options. ``stage`` counts the stages of the pass from 0; ``row`` and ``column`` are of the
    chosen number in the stage's result as it is drawn."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "zoom": tuple(ZOOMS),
        "ends": ("", *QUESTIONED),
        "change": tuple(CHANGES),
    }
    OF_TEXT: ClassVar = dict.fromkeys(("row", "column"), drop_place)

    zoom: str = "stack"
    ends: str = ""  # the head; "" for the first that the model has
    stage: int | None = None  # None: where the pass ends in probabilities, there; else the first
    row: int | None = None  # None: a decoder's last token, a blank, else the first token that is the text's own
    column: int | None = None  # None: the row's largest number
    change: str = ""  # what is changed at the stage
    becomes: str = "0"  # as it was typed
    lender: str = ""  # the text whose numbers it becomes instead
    whole: bool = False  # whether the lines of a stage begin with all that it needs
