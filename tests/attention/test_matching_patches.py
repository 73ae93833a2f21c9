"""Corresponding patches of two pictures: by hand, after a crop, and as a round trip."""

from __future__ import annotations

import numpy as np

from attention.comparison import same_place
from attention.pictures import Grid, Picture
from attention.tokens import TokenRow
from tests.support.cases import loop_over

WIDE = Picture(np.zeros((20, 40, 3), np.uint8))
SMALL = Picture(np.zeros((10, 20, 3), np.uint8))


def row(grid: Grid | None, *alone: str) -> TokenRow:
    many = len(alone) + (0 if grid is None else len(grid))
    pieces = (*alone, *(f"p{at}" for at in range(many - len(alone))))
    return TokenRow(pieces, (0,) * many, (None,) * many, (0,) * many, (None,) * many, grid=grid)


WHOLE = row(Grid(2, 4, 1, (0, 0, 40, 20)), "[CLS]")
MIDDLE = row(Grid(4, 4, 2, (10, 0, 30, 20)), "[CLS]", "[register 1]")
HALF = row(Grid(2, 4, 0, (0, 0, 20, 10)))


@loop_over("token", range(1, 9))
def test_a_smaller_picture_of_the_same_grid_and_back(token: int) -> None:
    there = same_place(token, WHOLE, WIDE, HALF, SMALL)
    assert there == token - 1
    assert same_place(there, HALF, SMALL, WHOLE, WIDE) == token


def test_another_crop_of_the_same_picture() -> None:
    # The centre of the patch in row 1, column 2 is at (25, 15), which is row 3, column 3 of the crop.
    assert same_place(1 + 4 + 2, WHOLE, WIDE, MIDDLE, WIDE) == 2 + 3 * 4 + 3
    assert same_place(1, WHOLE, WIDE, MIDDLE, WIDE) == 2 + 4, "cut off: the nearest"


def test_tokens_without_a_patch_go_by_name() -> None:
    assert same_place(0, WHOLE, WIDE, MIDDLE, WIDE) == 0
    assert same_place(1, MIDDLE, WIDE, WHOLE, WIDE) == 0
    assert same_place(0, WHOLE, WIDE, HALF, SMALL) == 0
    assert same_place(3, WHOLE, WIDE, row(None, "a"), WIDE) == 0
