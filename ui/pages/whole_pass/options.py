"""Options of the page The whole pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy
from inference.task_heads import BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, TAG
from ui.state.params import drop_place

ZOOMS = {"stack": gettext_lazy("The stack"), "layer": gettext_lazy("A layer"), "stage": gettext_lazy("A stage")}
TAUGHT = {"classes": gettext_lazy("Classes"), "tags": gettext_lazy("Tags")}  # heads of fine-tuned models
# The heads that a pass may end with, by the kind of model; by default the first that the model has.
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
    """Options of the page The whole pass.

    ``stage`` counts the stages of the pass from 0; ``row`` and ``column`` index the stage's result as drawn.
    """

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "zoom": tuple(ZOOMS),
        "ends": ("", *QUESTIONED),
        "change": tuple(CHANGES),
    }
    OF_TEXT: ClassVar = dict.fromkeys(("row", "column"), drop_place)

    zoom: str = "stack"
    ends: str = ""  # a key of HEADS; "" selects the first head that the model has
    stage: int | None = None  # None selects the last stage if it has probabilities, else the first
    row: int | None = None  # None selects a decoder's last token, a blank, or token 1
    column: int | None = None  # None selects the largest number of the row
    change: str = ""  # a key of CHANGES
    becomes: str = "0"  # the new value as typed
    lender: str = ""  # the donor text; its values are used instead of ``becomes``
    whole: bool = False  # the code of a stage includes all code before it
