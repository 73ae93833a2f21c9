"""Address parameters of the page Cause."""

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
    """Options of the page Cause."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "watch": tuple(WATCHES),
        "clicking": tuple(CLICKS),
        "greedy": ("least", "most"),
    }
    OF_TEXT: ClassVar = {"looks": drop_place, "edits": drop_token_edits, "word": drop_place}

    watch: str = "vector"
    first: str = ""  # first and second are the compared words or labels; "" is the likeliest
    second: str = ""
    word: int | None = None  # token of the tagged word; None is the word with the surest label
    edits: str = ""  # packed edits; "" ablates the selected head, if any, and "-" is no edit
    clicking: str = "ablate"
    looks: int | None = None  # query token of the edge to mask, until the key is clicked
    where: int | None = None  # layer in which clicks hide a word; None is every layer
    later: int | None = None  # head whose rows are compared: layer · heads + head
    greedy: str = "least"
    steps: int | None = None  # number of heads that the curve removes
    curve: bool = False
