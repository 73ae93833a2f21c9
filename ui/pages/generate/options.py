"""What the page Generate lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ui.state.options import Answered, nothing
from wording import sentence

SHOWS = {
    "next": sentence("Next token"),
    "looks": sentence("Where it looks"),
    "heads": sentence("All heads"),
    "layers": sentence("Layer by layer"),
    "sink": sentence("The first token"),
    "induction": sentence("Induction heads"),
}
PICKS = {"likeliest": sentence("The likeliest"), "drawn": sentence("Drawn")}
OVERS = {"head": sentence("One head"), "layer": sentence("Mean of its layer"), "all": sentence("Mean of all")}
CELLS = {
    "strongest": (sentence("Largest weight further back"), sentence("weight")),
    "reach": (sentence("How far back"), sentence("tokens")),
}


@dataclass(frozen=True)
class Options(Answered):
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "pick": tuple(PICKS),
        "over": tuple(OVERS),
        "cell": tuple(CELLS),
    }
    OF_TEXT: ClassVar = dict.fromkeys(("at", "whole"), nothing)

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
