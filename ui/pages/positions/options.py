"""Options of the Positions page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.state.params import drop_place
from viz.options import option

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

    show: str = option(
        "test",
        label=gettext_lazy("View"),
        choices=SHOWS,
    )
    # The kind of permutation.
    mix: str = option(
        "shuffle",
        label=gettext_lazy("Word order"),
        help=gettext_lazy("Tokens of a word move together; special tokens stay"),
        choices={"shuffle": gettext_lazy("Shuffle the words"), "swap": gettext_lazy("Swap two words")},
    )
    seed: int = 1  # The seed of the shuffle.
    # The indices of the swapped words.
    first: int | None = option(
        None,
        label=gettext_lazy("This word"),
        of_text=drop_place,
    )
    second: int | None = option(None, label=gettext_lazy("and that one"), of_text=drop_place)
    length: int = 64  # The number of positions.
    # The dimension of the sinusoidal vectors.
    size: int | None = option(None, label=gettext_lazy("Dimensions d"), help=gettext_lazy("An even number"))
    # The shift k of the matrix M_k.
    shift: int = option(5, label=gettext_lazy("Shift k"))
    curves: str = ""  # The dimensions drawn as curves, such as "0-1-20".


def length_of(options: PositionsOptions) -> int:
    """Return the number of positions to draw, clamped to its limits."""
    return min(max(2, options.length), LONGEST)
