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
    "layers": gettext_lazy("Logit lens"),
    "sink": gettext_lazy("Attention sinks"),
    "induction": gettext_lazy("Induction heads"),
}
PICKS = {"likeliest": gettext_lazy("Greedy"), "drawn": gettext_lazy("Sampled")}
OVERS = {
    "head": gettext_lazy("One head"),
    "layer": gettext_lazy("This layer"),
    "all": gettext_lazy("All layers"),
}
CELLS = {
    "strongest": (gettext_lazy("Largest earlier weight"), gettext_lazy("weight")),
    "reach": (gettext_lazy("Mean distance"), gettext_lazy("tokens")),
}


@dataclass(frozen=True)
class GenerateOptions(AnsweringOptions):
    """Options of the page Generate."""

    show: str = option(
        "next",
        label=gettext_lazy("View"),
        choices=SHOWS,
    )
    whole: bool = option(False, of_text=drop_place)  # read an example sentence with its last word
    written: str = ""  # ids of the generated tokens, separated by dots
    of: str = ""  # fingerprint of the model and the prompt of these tokens
    at: int | None = option(None, of_text=drop_place)  # token whose step is shown; None is the next token
    # The token that "Next token" appends.
    pick: str = option(
        "likeliest",
        label=gettext_lazy("Decoding"),
        help=gettext_lazy("“Sampled” draws by temperature, top-k and top-p."),
        choices=PICKS,
    )
    more: int = option(20, label=gettext_lazy("How many"))
    temperature: int = 100  # hundredths
    top_k: int = option(0, label="Top-k", help=gettext_lazy("Draw from the k likeliest tokens; 0: all."))
    top_p: int = 100  # hundredths
    seed: int = option(
        0,
        label=gettext_lazy("Seed"),
        help=gettext_lazy("The same seed writes the same text."),
    )
    top: int = option(10, label=gettext_lazy("Candidates"))
    over: str = option(
        "head",
        label=gettext_lazy("Text shade"),
        choices=OVERS,
    )
    # Measure in the map of heads.
    cell: str = option(
        "strongest",
        label=gettext_lazy("Cells"),
        choices={name: title for name, (title, _unit) in CELLS.items()},
    )
    # Seed of the random tokens in the test for induction heads.
    sample: int = option(
        0,
        label=gettext_lazy("Sample"),
        help=gettext_lazy("Seed of the random tokens"),
    )
    # Include the first token in figures of attention.
    first: bool = option(
        True,
        label=gettext_lazy("Include first token"),
        help=gettext_lazy("Off: the other weights are scaled to 1."),
    )
