"""Options of the Positions page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy
from ui.state.params import drop_place

SHOWS = {
    "test": gettext_lazy("Order test"),
    "vectors": gettext_lazy("Position vectors"),
    "shift": gettext_lazy("Shift matrix"),
    "distance": gettext_lazy("Scores by distance"),
}
LONGEST = 512  # The maximum number of positions, or the maximum distance in tokens.


@dataclass(frozen=True)
class PositionsOptions:
    """Options of the Positions page; None stands for a default that fits the model."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"show": tuple(SHOWS), "mix": ("shuffle", "swap")}
    OF_TEXT: ClassVar = dict.fromkeys(("first", "second"), drop_place)

    show: str = "test"
    mix: str = "shuffle"  # The kind of permutation.
    seed: int = 1  # The seed of the shuffle.
    first: int | None = None  # The indices of the swapped words.
    second: int | None = None
    length: int = 64  # The number of positions.
    size: int | None = None  # The dimension of the sinusoidal vectors.
    shift: int = 5  # The shift k of the matrix M_k.
    curves: str = ""  # The dimensions drawn as curves, such as "0-1-20".


def length_of(options: PositionsOptions) -> int:
    """Return the number of positions to draw, clamped to its limits."""
    return min(max(2, options.length), LONGEST)
