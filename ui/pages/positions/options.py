"""What the page Positions lets its reader choose."""

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
LONGEST = 512  # positions or tokens of distance that are drawn


@dataclass(frozen=True)
class PositionsOptions:
    """What this page lets its reader choose; None means "what fits the model"."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"show": tuple(SHOWS), "mix": ("shuffle", "swap")}
    OF_TEXT: ClassVar = dict.fromkeys(("first", "second"), drop_place)

    show: str = "test"
    mix: str = "shuffle"  # how the words change places
    seed: int = 1  # of the shuffle
    first: int | None = None  # words to swap
    second: int | None = None
    length: int = 64  # positions
    size: int | None = None  # dimensions of the sinusoidal vectors
    shift: int = 5  # the k of M_k
    curves: str = ""  # dimensions drawn as curves, "0-1-20"


def length_of(options: PositionsOptions) -> int:
    """Positions to draw."""
    return min(max(2, options.length), LONGEST)
