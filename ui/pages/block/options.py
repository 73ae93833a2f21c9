"""What the page Block lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from i18n import gettext_lazy

FOLDS = {
    "parameters": gettext_lazy("Where are the parameters?"),
    "kinds": gettext_lazy("Encoder, decoder, or both?"),
    "activation": gettext_lazy("Which activation?"),
    "cost": gettext_lazy("What does n² cost?"),
}


@dataclass(frozen=True)
class BlockOptions:
    """What this page lets its reader choose: the part that is explained, "" for the attention; what is unfolded.

    >>> BlockOptions(fold="kinds,cost").open_sections
    ('kinds', 'cost')
    """

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "fold": tuple(",".join(some) for many in range(len(FOLDS) + 1) for some in combinations(FOLDS, many))
    }

    piece: str = ""
    fold: str = ""  # names of FOLDS in their order, with commas between them

    @property
    def open_sections(self) -> tuple[str, ...]:
        """The sections that are open, in their order on the page."""
        return tuple(name for name in FOLDS if name in self.fold.split(","))
