"""Address parameters of the page Masked words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy
from ui.state.params import AnsweringOptions

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

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"show": tuple(SHOWS)}

    show: str = "guesses"
    hidden: str = ""  # hidden places; "" before the first click, "-" for none
    of: str = ""  # fingerprint of the text of these places
    pieces: bool = False  # clicks hide tokens instead of words
    blank: int = 0
    top: int = 10
    ask: str = ""  # words to score, separated by commas
    piece: int | None = None  # token whose probability is explained; None is the likeliest
    seed: int = 1
    first: str = "The keys to the old cabinet [MASK] on the table."
    second: str = "The key to the old cabinets [MASK] on the table."
    one: str = "are"
    other: str = "is"
