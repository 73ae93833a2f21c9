"""Address parameters of the page Generate."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.state.params import AnsweringOptions, drop_place
from viz.options import option

SHOWS = {
    "next": gettext_lazy("Next token"),
    "looks": gettext_lazy("Attention"),
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

    show: str = option(
        "next",
        label=gettext_lazy("View"),
        help=gettext_lazy("What comes next, what was looked at before it, and what single heads do"),
        choices=SHOWS,
    )
    whole: bool = option(False, of_text=drop_place)  # read an example sentence with its last word
    written: str = ""  # ids of the generated tokens, separated by dots
    of: str = ""  # fingerprint of the model and the prompt of these tokens
    at: int | None = option(None, of_text=drop_place)  # token whose step is shown; None is the next token
    # The token that "Next token" appends.
    pick: str = option(
        "likeliest",
        label=gettext_lazy("Which token is written"),
        help=gettext_lazy(
            "The likeliest each time, or one drawn by its probability under temperature, top-k and top-p"
        ),
        choices=PICKS,
    )
    more: int = option(20, label=gettext_lazy("How many"), help=gettext_lazy("Tokens that “Write more” writes"))
    temperature: int = 100  # hundredths
    top_k: int = option(
        0, label="Top-k", help=gettext_lazy("Only the k likeliest tokens can be drawn; 0: all of them.")
    )
    top_p: int = 100  # hundredths
    seed: int = option(
        0,
        label=gettext_lazy("Seed"),
        help=gettext_lazy(
            "Decides the draw together with the number of written tokens: the same seed writes the same text."
        ),
    )
    top: int = option(
        10, label=gettext_lazy("Tokens in the figures"), help=gettext_lazy("How many of the likeliest are drawn above")
    )
    over: str = option(
        "head",
        label=gettext_lazy("Shade the text by"),
        help=gettext_lazy("The weights of the chosen head, or their mean over its layer or over all heads"),
        choices=OVERS,
    )
    # Measure in the map of heads.
    cell: str = option(
        "strongest",
        label=gettext_lazy("Each cell shows"),
        help=gettext_lazy("What the map below shows of every head"),
        choices={name: title for name, (title, _unit) in CELLS.items()},
    )
    # Seed of the random tokens in the test for induction heads.
    sample: int = option(
        0,
        label=gettext_lazy("Sample"),
        help=gettext_lazy("Decides which random tokens are read; what a head is should not depend on it"),
    )
    # Include the first token in figures of attention.
    first: bool = option(
        True,
        label=gettext_lazy("Count the first token"),
        help=gettext_lazy("Off: the first token is left out, and each head's other weights are scaled to one"),
    )
