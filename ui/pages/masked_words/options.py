"""Address parameters of the page Masked words."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.state.params import AnsweringOptions
from viz.options import option

SHOWS = {
    "guesses": gettext_lazy("Guesses"),
    "looks": gettext_lazy("Where it looks"),
    "layers": gettext_lazy("Layer by layer"),
    "words": gettext_lazy("Words that matter"),
    "surprise": gettext_lazy("Surprise"),
    "two": gettext_lazy("Two sentences"),
    "lesson": gettext_lazy("How it learned"),
}


@dataclass(frozen=True)
class MaskedWordsOptions(AnsweringOptions):
    """Options of the page Masked words."""

    show: str = option(
        "guesses",
        label=gettext_lazy("What to look at"),
        help=gettext_lazy("The guesses, three views of where they come from, the whole text, a test and a lesson"),
        choices=SHOWS,
    )
    hidden: str = ""  # hidden places; "" before the first click, "-" for none
    of: str = ""  # fingerprint of the text of these places
    # Clicks hide tokens instead of words.
    pieces: bool = option(
        False,
        label=gettext_lazy("Hide pieces, not words"),
        help=gettext_lazy(
            "A rare word is several pieces of the vocabulary. Off: a click hides all of a word's pieces."
        ),
    )
    blank: int = option(
        0,
        label=gettext_lazy("Blank"),
        help=gettext_lazy("Which of the blanks the figures below are about, counted from the left"),
    )
    top: int = option(
        10,
        label=gettext_lazy("Guesses shown"),
        help=gettext_lazy("How many of the likeliest pieces are listed, here and above"),
    )
    # Words to score, separated by commas.
    ask: str = option(
        "",
        label=gettext_lazy("How likely are these words?"),
        help=gettext_lazy(
            "Words to be tried in this place, with commas between them; at most 12. Each takes the place of all of "
            "the hidden word."
        ),
    )
    # Token whose probability is explained; None is the likeliest.
    piece: int | None = option(
        None,
        label=gettext_lazy("Explain the probability of"),
        help=gettext_lazy("One of the likeliest pieces of this blank, or what stood there"),
    )
    seed: int = 1
    first: str = option("The keys to the old cabinet [MASK] on the table.", label=gettext_lazy("One sentence"))
    second: str = option("The key to the old cabinets [MASK] on the table.", label=gettext_lazy("The other sentence"))
    one: str = option("are", label=gettext_lazy("One word"), help=gettext_lazy("A word for the blank"))
    other: str = option(
        "is", label=gettext_lazy("The other word"), help=gettext_lazy("Another word for the same blank")
    )
