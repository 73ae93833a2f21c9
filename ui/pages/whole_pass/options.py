"""Options of the page The whole pass."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from inference.task_heads import BARE, CAUSAL, CLASSIFY, MASKED, NEXT_SENTENCE, TAG
from ui.state.params import drop_place
from viz.options import option

ZOOMS = {"stack": gettext_lazy("All layers"), "layer": gettext_lazy("One layer"), "stage": gettext_lazy("One stage")}
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
    "stage": gettext_lazy("Whole stage"),
}


@dataclass(frozen=True)
class WholePassOptions:
    """Options of the page The whole pass.

    ``stage`` counts the stages of the pass from 0; ``row`` and ``column`` index the stage's result as drawn.
    """

    zoom: str = option(
        "stack",
        label=gettext_lazy("Zoom"),
        help=gettext_lazy("Clicking a part of the picture also zooms in"),
        choices=ZOOMS,
    )
    ends: str = option("", choices=QUESTIONED)  # a key of HEADS; "" selects the first head that the model has
    stage: int | None = None  # None selects the last stage if it has probabilities, else the first
    row: int | None = option(None, of_text=drop_place)  # None selects a decoder's last token, a blank, or token 1
    column: int | None = option(None, of_text=drop_place)  # None selects the largest number of the row
    # A key of CHANGES.
    change: str = option(
        "",
        label=gettext_lazy("Intervention"),
        help=gettext_lazy("What to change here; the model computes the rest"),
        choices=CHANGES,
    )
    # The new value as typed.
    becomes: str = option("0", label=gettext_lazy("New value"), help=gettext_lazy("A number such as 0, -1.5 or 1e2"))
    # The donor text; its values are used instead of ``becomes``.
    lender: str = option(
        "",
        label=gettext_lazy("Donor text"),
        help=gettext_lazy("Activation patching: each word takes the value of its aligned word here"),
    )
    # The code of a stage includes all code before it.
    whole: bool = option(
        False,
        label=gettext_lazy("Complete program"),
        help=gettext_lazy("PyTorch from the ids to this stage; it prints the stage's numbers"),
    )
