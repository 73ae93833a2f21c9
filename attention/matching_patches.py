"""The same place in another picture, or in the same one as another model cut it: a patch's middle decides."""

from __future__ import annotations

from attention.picture import Picture
from attention.tokens import TokenRow


def same_place(token: int, one: TokenRow, first: Picture, other: TokenRow, second: Picture) -> int:
    """The token of ``other`` that stands where ``token`` stands in ``one``; the nearest where that was cut off.

    A token without a patch goes with the one of its name; where there is none, and for patches where there is no grid,
    the first token is meant.
    """
    here, there = one.grid, other.grid
    box = None if here is None else here.pixels(token)
    if box is None or there is None:
        name = one.pieces[token] if token < len(one) else ""
        return other.pieces.index(name) if name in other.pieces else 0
    across = (box[0] + box[2]) / 2 / first.width * second.width
    down = (box[1] + box[3]) / 2 / first.height * second.height
    left, top, right, bottom = there.box
    column = int((across - left) / (right - left) * there.columns)
    row = int((down - top) / (bottom - top) * there.rows)
    return there.token(min(max(row, 0), there.rows - 1), min(max(column, 0), there.columns - 1))
