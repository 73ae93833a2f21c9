"""What the page Find lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ui.state.params import drop_place

ROLES = ("source", "first", "second")


@dataclass(frozen=True)
class FindOptions:
    """What this page lets its reader choose beside the shared choice."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"clicking": ROLES}
    OF_TEXT: ClassVar = {"against": drop_place}

    against: int | None = None  # the second candidate, in tokens of the text
    inward: bool = False  # candidates look at the source
    clicking: str = "source"  # what a click on a word sets
    other: str = ""  # the text with one thing changed; "" is the probe's own
    neutral: str = ""  # changes that should not matter, a line each; "" is the probe's own
