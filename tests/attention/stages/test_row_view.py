"""The bijection between cells of a stage's matrix on screen and indices of the model's array."""

from __future__ import annotations

import numpy as np

from attention.stages.terms import array_index, flat, row_and_column
from tests.support.cases import loop_over


@loop_over("shape", [(3, 4), (1, 3, 4), (2, 5, 3, 4), (4,)])
def test_every_place_of_the_picture_is_a_place_of_the_array(shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape)).reshape(shape)
    drawn = flat(array)
    assert drawn.size == array.size
    for row, column in np.ndindex(drawn.shape):
        assert array[array_index(shape, row, column)] == drawn[row, column]
        assert row_and_column(shape, array_index(shape, row, column)) == (row, column)
