"""What the page Agreement lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wording import sentence

EXPLAINED = {
    "vector": sentence("A word's vector"),
    "label": sentence("Label of the text"),
    "tag": sentence("Tag of a word"),
}


@dataclass(frozen=True)
class Agreement:
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"explain": tuple(EXPLAINED)}

    explain: str = "vector"
    label: int | None = None  # number of the label that is explained; None is the likeliest
    itself: bool = False  # the focus word counts among the words that matter
