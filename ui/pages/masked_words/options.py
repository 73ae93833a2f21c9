"""Address parameters of the page Masked words."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.state.params import AnsweringOptions
from viz.options import option

SHOWS = {
    "guesses": gettext_lazy("Predictions"),
    "looks": gettext_lazy("Attention"),
    "layers": gettext_lazy("Layer by layer"),
    "words": gettext_lazy("Attribution"),
    "surprise": gettext_lazy("Surprisal"),
    "two": gettext_lazy("Two sentences"),
    "lesson": gettext_lazy("Training objective"),
}


@dataclass(frozen=True)
class MaskedWordsOptions(AnsweringOptions):
    """Options of the page Masked words."""

    show: str = option(
        "guesses",
        label=gettext_lazy("View"),
        help=gettext_lazy("Predictions, their origin, the whole text, a test and the training objective"),
        choices=SHOWS,
    )
    hidden: str = ""  # hidden places; "" before the first click, "-" for none
    of: str = ""  # fingerprint of the text of these places
    # Clicks hide tokens instead of words.
    pieces: bool = option(
        False,
        label=gettext_lazy("Hide single tokens"),
        help=gettext_lazy("Hide one token at a click, not all tokens of a word"),
    )
    blank: int = option(
        0,
        label=gettext_lazy("Blank"),
    )
    top: int = option(
        10,
        label=gettext_lazy("Predictions shown"),
    )
    # Words to score, separated by commas.
    ask: str = option(
        "",
        label=gettext_lazy("Score words"),
        help=gettext_lazy("At most 12, separated by commas; each replaces the whole hidden word"),
    )
    # Token whose probability is explained; None is the likeliest.
    piece: int | None = option(
        None,
        label=gettext_lazy("Explained token"),
    )
    seed: int = 1
    first: str = option("The keys to the old cabinet [MASK] on the table.", label=gettext_lazy("One sentence"))
    second: str = option("The key to the old cabinets [MASK] on the table.", label=gettext_lazy("The other sentence"))
    one: str = option("are", label=gettext_lazy("One word"))
    other: str = option("is", label=gettext_lazy("The other word"))
