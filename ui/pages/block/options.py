"""Address parameters of the page Block."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from i18n import gettext_lazy
from viz.options import option

FOLDS = {
    "parameters": gettext_lazy("Parameters by part"),
    "kinds": gettext_lazy("Encoder or decoder"),
    "activation": gettext_lazy("Activation function"),
    "cost": gettext_lazy("Cost of n²"),
}


@dataclass(frozen=True)
class BlockOptions:
    """Options of the page Block.

    ``piece`` is the id of the explained part; "" is the first self-attention.

    >>> BlockOptions(fold="kinds,cost").open_sections
    ('kinds', 'cost')
    """

    piece: str = ""
    # Open sections: names of FOLDS in their order, separated by commas.
    fold: str = option(
        "", choices=tuple(",".join(some) for many in range(len(FOLDS) + 1) for some in combinations(FOLDS, many))
    )

    @property
    def open_sections(self) -> tuple[str, ...]:
        """Return the names of the open sections, in their order on the page."""
        return tuple(name for name in FOLDS if name in self.fold.split(","))
