"""Address parameters of the page Generate."""

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
    """Options of the page Generate."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "pick": tuple(PICKS),
        "over": tuple(OVERS),
        "cell": tuple(CELLS),
    }
    OF_TEXT: ClassVar = dict.fromkeys(("at", "whole"), drop_place)

    show: str = "next"
    whole: bool = False  # read an example sentence with its last word
    written: str = ""  # ids of the generated tokens, separated by dots
    of: str = ""  # fingerprint of the model and the prompt of these tokens
    at: int | None = None  # token whose step is shown; None is the next token
    pick: str = "likeliest"  # the token that "Next token" appends
    more: int = 20
    temperature: int = 100  # hundredths
    top_k: int = 0
    top_p: int = 100  # hundredths
    seed: int = 0
    top: int = 10
    over: str = "head"
    cell: str = "strongest"  # measure in the map of heads
    sample: int = 0  # seed of the random tokens in the test for induction heads
    first: bool = True  # include the first token in figures of attention
