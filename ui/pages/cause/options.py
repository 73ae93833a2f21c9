"""What the page Cause lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import anywhere
from ui.state.options import Answered, nothing
from wording import sentence

WATCHES = {
    "vector": sentence("Sentence vector"),
    "blank": sentence("Masked word"),
    "follows": sentence("Next sentence"),
    "next": sentence("Next token"),
    "label": sentence("Label of the text"),
    "tag": sentence("Tag of a word"),
}
CLICKS = {
    "ablate": sentence("Remove heads"),
    "uniform": sentence("Make heads even"),
    "cut": sentence("Cut a look"),
    "hide": sentence("Hide a word"),
}


@dataclass(frozen=True)
class Cause(Answered):
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "watch": tuple(WATCHES),
        "clicking": tuple(CLICKS),
        "greedy": ("least", "most"),
    }
    OF_TEXT: ClassVar = {"looks": nothing, "edits": anywhere, "word": nothing}

    watch: str = "vector"
    first: str = ""  # the two words, or labels, whose odds are watched; "" is the likeliest
    second: str = ""
    word: int | None = None  # the token of the word whose tag is watched; None is the surest name
    edits: str = ""  # "" removes the head that is selected, if any, "-" nothing
    clicking: str = "ablate"
    looks: int | None = None  # of a look that is to be cut: the word that looks, in tokens
    where: int | None = None  # the layer in which a word is hidden; None is all of them
    later: int | None = None  # the head whose rows are compared: layer times heads plus head
    greedy: str = "least"
    steps: int | None = None  # heads that the curve removes
    curve: bool = False
