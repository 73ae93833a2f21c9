"""What the page Translate lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import drop_token_edits
from i18n import gettext_lazy
from ui.state.params import AnsweringOptions, drop_place

SHOWS = {
    "words": gettext_lazy("Which word from which"),
    "step": gettext_lazy("One step"),
    "beams": gettext_lazy("Beams"),
    "heads": gettext_lazy("All heads"),
    "without": gettext_lazy("Without a head"),
    "best": gettext_lazy("Which head aligns best?"),
}
WAYS = {"greedy": gettext_lazy("Greedy"), "beam": gettext_lazy("Beam search"), "own": gettext_lazy("Your own")}
SIDES = ("encoder", "decoder", "cross")
CLICKS = {"head": gettext_lazy("Remove heads"), "cut": gettext_lazy("Cut a look")}
SCOPES = {
    "head": gettext_lazy("In this head"),
    "layer": gettext_lazy("In its whole layer"),
    "all": gettext_lazy("In every layer"),
}


@dataclass(frozen=True)
class TranslateOptions(AnsweringOptions):
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "way": ("", *WAYS),
        "side": SIDES,
        "clicking": tuple(CLICKS),
        "scope": tuple(SCOPES),
    }
    OF_TEXT: ClassVar = {"step": drop_place, "edits": drop_token_edits}

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
