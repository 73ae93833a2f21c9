"""What the page Teach lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ui.show.leaves import Leaf


@dataclass(frozen=True)
class Teach(Leaf):
    """What this page lets its reader choose beside the shared choice."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {**Leaf.CHOICES}

    outcome: str = "misses"  # of the test rows: the surest mistakes come first
    true: int | None = None  # the cell of the confusion matrix whose test rows are shown, as numbers of the labels
    said: int | None = None
    classes: int = 16  # of the confusion matrix; those with fewer mistakes are added up
