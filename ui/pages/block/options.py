"""What the page Block lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from wording import sentence

FOLDS = {
    "parameters": sentence("Where are the parameters?"),
    "kinds": sentence("Encoder, decoder, or both?"),
    "activation": sentence("Which activation?"),
    "cost": sentence("What does n² cost?"),
}


@dataclass(frozen=True)
class Options:
    """What this page lets its reader choose: the part that is explained, "" for the attention; what is unfolded.

    >>> Options(fold="kinds,cost").unfolded
    ('kinds', 'cost')
    """

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "fold": tuple(",".join(some) for many in range(len(FOLDS) + 1) for some in combinations(FOLDS, many))
    }

    piece: str = ""
    fold: str = ""  # names of FOLDS in their order, with commas between them

    @property
    def unfolded(self) -> tuple[str, ...]:
        """The sections that are open, in their order on the page."""
        return tuple(name for name in FOLDS if name in self.fold.split(","))
