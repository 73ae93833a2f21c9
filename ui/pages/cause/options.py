"""What the page Cause lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import drop_token_edits
from i18n import gettext_lazy
from ui.state.params import AnsweringOptions, drop_place

WATCHES = {
    "vector": gettext_lazy("Sentence vector"),
    "blank": gettext_lazy("Masked word"),
    "follows": gettext_lazy("Next sentence"),
    "next": gettext_lazy("Next token"),
    "label": gettext_lazy("Label of the text"),
    "tag": gettext_lazy("Tag of a word"),
}
CLICKS = {
    "ablate": gettext_lazy("Remove heads"),
    "uniform": gettext_lazy("Make heads even"),
    "cut": gettext_lazy("Cut a look"),
    "hide": gettext_lazy("Hide a word"),
}


@dataclass(frozen=True)
class CauseOptions(AnsweringOptions):
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "watch": tuple(WATCHES),
        "clicking": tuple(CLICKS),
        "greedy": ("least", "most"),
    }
    OF_TEXT: ClassVar = {"looks": drop_place, "edits": drop_token_edits, "word": drop_place}

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
