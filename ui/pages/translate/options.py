"""Options of the page Translate."""

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
    """Options of the page Translate."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "way": ("", *WAYS),
        "side": SIDES,
        "clicking": tuple(CLICKS),
        "scope": tuple(SCOPES),
    }
    OF_TEXT: ClassVar = {"step": drop_place, "edits": drop_token_edits}

    show: str = "words"
    way: str = ""  # "" selects the reader's own translation if there is a target text, else greedy decoding
    width: int = 4  # beam width
    step: int | None = None  # index of the token that the chosen step writes
    cross: str = ""  # the cross head, such as "2-7", or "mean"; "" selects the head with the largest coverage
    late: bool = False  # read the matrix at each word's own position
    side: str = "cross"  # the stack of the displayed or ablated heads
    top: int = 8
    dropped: bool = False  # include dropped branches in the tree of beams
    edits: str = ""  # "" ablates the chosen cross head, "-" nothing
    clicking: str = "head"
    scope: str = "head"
