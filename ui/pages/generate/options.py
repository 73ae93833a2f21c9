"""What the page Generate lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy
from ui.state.params import AnsweringOptions, drop_place

SHOWS = {
    "next": gettext_lazy("Next token"),
    "looks": gettext_lazy("Where it looks"),
    "heads": gettext_lazy("All heads"),
    "layers": gettext_lazy("Layer by layer"),
    "sink": gettext_lazy("The first token"),
    "induction": gettext_lazy("Induction heads"),
}
PICKS = {"likeliest": gettext_lazy("The likeliest"), "drawn": gettext_lazy("Drawn")}
OVERS = {
    "head": gettext_lazy("One head"),
    "layer": gettext_lazy("Mean of its layer"),
    "all": gettext_lazy("Mean of all"),
}
CELLS = {
    "strongest": (gettext_lazy("Largest weight further back"), gettext_lazy("weight")),
    "reach": (gettext_lazy("How far back"), gettext_lazy("tokens")),
}


@dataclass(frozen=True)
class GenerateOptions(AnsweringOptions):
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "pick": tuple(PICKS),
        "over": tuple(OVERS),
        "cell": tuple(CELLS),
    }
    OF_TEXT: ClassVar = dict.fromkeys(("at", "whole"), drop_place)

    show: str = "next"
    whole: bool = False  # an example sentence is read with its last word
    written: str = ""  # the tokens written, in the model's numbers
    of: str = ""  # fingerprint of the model and the prompt that these tokens follow
    at: int | None = None  # the token whose step is looked at; None for the one that comes next
    pick: str = "likeliest"  # what "Next token" writes
    more: int = 20
    temperature: int = 100  # hundredths
    top_k: int = 0
    top_p: int = 100  # hundredths
    seed: int = 0
    top: int = 10
    over: str = "head"
    cell: str = "strongest"  # what the map of heads shows
    sample: int = 0  # of the random tokens that induction heads are tested with
    first: bool = True  # whether the first token counts where attention is shown
