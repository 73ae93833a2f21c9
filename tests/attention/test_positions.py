"""Positional encodings: laws of the sinusoids, small cases by hand, and the models' code as reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.positions import (
    alibi_slopes,
    by_distance,
    closest_rows,
    frequencies,
    halves,
    neighbours,
    rotary_bound,
    rotary_score,
    shift_error,
    shift_matrix,
    sinusoidal,
    t5_buckets,
)
from tests.support.cases import loop_over

SIZES = [(7, 4, 10_000.0), (50, 6, 100.0), (512, 384, 10_000.0), (128, 64, 500_000.0)]


@pytest.mark.parametrize(("length", "dimensions", "base"), SIZES)
def test_each_number_is_the_paper_s(length: Any, dimensions: Any, base: Any) -> None:
    vectors = sinusoidal(length, dimensions, base)
    assert vectors.shape == (length, dimensions)
    for position, pair in [(0, 0), (length - 1, 0), (length // 2, dimensions // 2 - 1), (3, 1)]:
        angle = position / base ** (2 * pair / dimensions)
        assert vectors[position, 2 * pair] == pytest.approx(np.sin(angle), abs=1e-12)
        assert vectors[position, 2 * pair + 1] == pytest.approx(np.cos(angle), abs=1e-12)


@pytest.mark.parametrize(("length", "dimensions", "base"), SIZES)
def test_bounded_by_one_and_every_row_different(length: Any, dimensions: Any, base: Any) -> None:
    vectors = sinusoidal(length, dimensions, base)
    assert np.abs(vectors).max() <= 1
    assert closest_rows(vectors)[0] > 1e-3


@loop_over(("length", "dimensions", "base"), SIZES)
@loop_over("shift", [0, 1, 3, 6])
def test_one_matrix_moves_every_position(length: Any, dimensions: Any, base: Any, shift: int) -> None:
    vectors = sinusoidal(length, dimensions, base)
    matrix = shift_matrix(shift, dimensions, base)
    for position in range(length - shift):
        np.testing.assert_allclose(matrix @ vectors[position], vectors[position + shift], atol=1e-12)
    assert shift_error(vectors, shift, matrix) < 1e-12
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(dimensions), atol=1e-12)
    np.testing.assert_allclose(matrix @ matrix, shift_matrix(2 * shift, dimensions, base), atol=1e-12)


def test_another_matrix_does_not() -> None:
    assert shift_error(sinusoidal(20, 6), 3, shift_matrix(2, 6)) > 0.5


@pytest.mark.parametrize(("length", "dimensions", "base"), SIZES)
def test_dot_products_depend_on_the_distance_only(length: Any, dimensions: Any, base: Any) -> None:
    found = by_distance(sinusoidal(length, dimensions, base))
    np.testing.assert_allclose(found.lowest, found.highest, atol=1e-10)
    np.testing.assert_allclose(found.mean, (np.cos(np.outer(np.arange(length), frequencies(dimensions, base)))).sum(1))
    assert found.mean[0] == pytest.approx(dimensions / 2)


def test_distances_of_other_vectors_by_hand() -> None:
    found = by_distance(np.array([[1.0, 0], [2, 0], [1, 5]]))
    assert found.mean.tolist() == pytest.approx([31 / 3, 2, 1])
    assert found.lowest.tolist() == [1, 2, 1]
    assert found.highest.tolist() == [26, 2, 1]


def test_neighbours_by_hand() -> None:
    assert neighbours(np.array([[3.0, 4], [4, 3], [0, 0], [1, 1]])).tolist() == pytest.approx([0.96, 0, 0])


def test_the_closest_rows_are_found_even_where_squares_lose_digits() -> None:
    rows = np.array([[1e6, 0.0], [1e6 + 0.25, 0.0], [0.0, 0.0]])
    assert closest_rows(rows) == (0.25, 0, 1)
    with pytest.raises(ValueError, match=r"^1 positions"):
        closest_rows(rows[:1])


@pytest.mark.parametrize("wrong", [0, 3, -2])
def test_dimensions_come_in_pairs(wrong: int) -> None:
    with pytest.raises(ValueError, match=f"{wrong} dimensions came; .* an even number"):
        sinusoidal(5, wrong)


def test_halves_hold_the_same_columns() -> None:
    vectors = sinusoidal(5, 6)
    moved = halves(vectors)
    np.testing.assert_array_equal(moved[:, 1], vectors[:, 2])
    np.testing.assert_array_equal(moved[:, 4], vectors[:, 3])


def test_a_rotary_score_is_that_of_turned_vectors() -> None:
    """The score equals the product of a query and a key of ones after rotation of each channel pair."""
    omega = frequencies(8)
    distances = np.array([0, 1, 5, 100])
    for at, distance in enumerate(distances):
        query = np.exp(1j * 40 * omega)
        key = np.exp(1j * (40 - distance) * omega)
        assert rotary_score(distances, omega)[at] == pytest.approx((query * key.conj()).real.mean())


def test_the_rotary_bound_falls_as_the_paper_draws_it() -> None:
    bound = rotary_bound(np.arange(256), frequencies(128))
    assert bound[0] == pytest.approx(1)
    assert bound[1:].max() < 1
    smooth = np.convolve(bound, np.ones(50) / 50, "valid")
    assert (np.diff(smooth[::50]) < 0).all()


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (1, [2**-8]),
        (8, [2.0**-power for power in range(1, 9)]),  # This is the paper's example.
        (16, [2 ** (-power / 2) for power in range(1, 17)]),
        (12, [2.0**-power for power in range(1, 9)] + [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]),
    ],
)
def test_alibi_slopes(heads: int, slopes: Any) -> None:
    assert alibi_slopes(heads).tolist() == pytest.approx(slopes)


def test_alibi_needs_a_head() -> None:
    with pytest.raises(ValueError, match=r"^0 heads"):
        alibi_slopes(0)


def test_t5_buckets_by_hand() -> None:
    offsets = np.array([0, -1, -7, -8, -11, -12, -127, -128, 1, 7, 8, 500])
    assert t5_buckets(offsets).tolist() == [0, 1, 7, 8, 8, 9, 15, 15, 17, 23, 24, 31]
    assert t5_buckets(offsets, both_ways=False).tolist() == [0, 1, 7, 8, 11, 12, 31, 31, 0, 0, 0, 0]
