"""The bijection between cells of a stage's matrix on screen and indices of the model's array."""

from __future__ import annotations

import numpy as np
import pytest

from attention.stages.terms import flat, place_of, spot_of


@pytest.mark.parametrize("shape", [(3, 4), (1, 3, 4), (2, 5, 3, 4), (4,)])
def test_every_place_of_the_picture_is_a_place_of_the_array(shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape)).reshape(shape)
    drawn = flat(array)
    assert drawn.size == array.size
    for row, column in np.ndindex(drawn.shape):
        assert array[place_of(shape, row, column)] == drawn[row, column]
        assert spot_of(shape, place_of(shape, row, column)) == (row, column)
