"""What the page Masked words lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ui.state.options import Answered
from wording import sentence

SHOWS = {
    "guesses": sentence("Guesses"),
    "looks": sentence("Where it looks"),
    "layers": sentence("Layer by layer"),
    "words": sentence("Words that matter"),
    "surprise": sentence("Surprise"),
    "two": sentence("Two sentences"),
    "lesson": sentence("How it learned"),
}


@dataclass(frozen=True)
class Options(Answered):
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"show": tuple(SHOWS)}

    show: str = "guesses"
    hidden: str = ""  # places in the text; "" before the reader has hidden anything, "-" for none
    of: str = ""  # fingerprint of the text that these places are in
    pieces: bool = False  # clicks hide pieces, not words
    blank: int = 0
    top: int = 10
    ask: str = ""  # words that the reader asks about
    piece: int | None = None  # whose probability is explained; None for the likeliest
    seed: int = 1
    first: str = "The keys to the old cabinet [MASK] on the table."
    second: str = "The key to the old cabinets [MASK] on the table."
    one: str = "are"
    other: str = "is"
