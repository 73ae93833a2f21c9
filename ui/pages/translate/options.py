"""What the page Translate lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import anywhere
from ui.state.options import Answered, nothing
from wording import sentence

SHOWS = {
    "words": sentence("Which word from which"),
    "step": sentence("One step"),
    "beams": sentence("Beams"),
    "heads": sentence("All heads"),
    "without": sentence("Without a head"),
    "best": sentence("Which head aligns best?"),
}
WAYS = {"greedy": sentence("Greedy"), "beam": sentence("Beam search"), "own": sentence("Your own")}
SIDES = ("encoder", "decoder", "cross")
CLICKS = {"head": sentence("Remove heads"), "cut": sentence("Cut a look")}
SCOPES = {"head": sentence("In this head"), "layer": sentence("In its whole layer"), "all": sentence("In every layer")}


@dataclass(frozen=True)
class Translate(Answered):
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "way": ("", *WAYS),
        "side": SIDES,
        "clicking": tuple(CLICKS),
        "scope": tuple(SCOPES),
    }
    OF_TEXT: ClassVar = {"step": nothing, "edits": anywhere}

    show: str = "words"
    way: str = ""  # "" is the reader's own translation where one is typed, else greedy
    width: int = 4  # beams
    step: int | None = None  # of the translation: the step that writes token number so many
    cross: str = ""  # the cross head, such as "2-7", or "mean"; "" is the one that picks source words one by one
    late: bool = False  # the matrix is read at each word's own position
    side: str = "cross"  # whose heads are looked at or removed
    top: int = 8
    dropped: bool = False  # the tree of beams has what was dropped too
    edits: str = ""  # "" removes the chosen cross head, "-" nothing
    clicking: str = "head"
    scope: str = "head"
