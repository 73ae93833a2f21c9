"""The steps as matrices: each sheet holds the numbers of its formula, and the worked line says the same."""

import math
import re
from collections.abc import Sequence

import numpy as np
import pytest

from attention.by_hand import Worked, attend
from ui.pages.by_hand import sheets as sheets
from ui.pages.by_hand.example import example_of, resize
from viz.components.matrices.matrices import Sheet

SMALL = resize(example_of("tutorial"), 3, 4, 4)  # three tokens, four columns


def worked(heads: int = 2, causal: bool = False) -> Worked:
    return attend(SMALL.x, SMALL.w_q, SMALL.w_k, SMALL.w_v, heads, causal)


def names(found: Sequence[Sheet]) -> list[str]:
    return [sheet.name for sheet in found]


def test_projections_are_the_products_that_their_names_say() -> None:
    x, q, k, v = sheets.project(SMALL, worked(), 1)
    assert names([x, q, k, v]) == ["X", "Q = X·W_Q", "K = X·W_K", "V = X·W_V"]
    for sheet, matrix in ((q, SMALL.w_q), (k, SMALL.w_k), (v, SMALL.w_v)):
        np.testing.assert_allclose(sheet.values, x.values @ matrix)
        assert sheet.marked_columns == (2, 3), "the columns of the second of two heads"
        assert sheet.rows == SMALL.tokens
    assert sheets.project(SMALL, worked(1), 0)[1].marked_columns == ()


def test_each_step_follows_from_the_one_before() -> None:
    dots, scaled, masked, weights = sheets.compare(SMALL, worked(causal=True), 1, (2, 0))
    q, k = sheets.project(SMALL, worked(), 1)[1:3]
    np.testing.assert_allclose(dots.values, q.values[:, 2:] @ k.values[:, 2:].T)
    np.testing.assert_allclose(scaled.values, dots.values / math.sqrt(2))
    np.testing.assert_array_equal(np.isinf(masked.values), np.triu(np.ones((3, 3)), 1) == 1)
    powers = np.exp(masked.values)
    np.testing.assert_allclose(weights.values, powers / powers.sum(axis=1, keepdims=True))
    assert (weights.palette, weights.limit) == ("sequential", 1.0)
    for sheet in (dots, scaled, masked, weights):
        assert (sheet.marked_rows, sheet.marked_columns) == ((2,), (0,))


def test_without_a_mask_no_masked_matrix_is_shown() -> None:
    assert names(sheets.compare(SMALL, worked(1), 0, (0, 0))) == ["Q·Kᵀ", "Q·Kᵀ / √4", "A = softmax"]


def test_what_comes_out_is_the_values_mixed() -> None:
    full = worked()
    own, result = sheets.mix(SMALL, full, 1, 2)
    np.testing.assert_allclose(own.values, full.weights[1] @ (SMALL.x @ SMALL.w_v)[:, 2:])
    np.testing.assert_allclose(result.values[:, 2:], own.values)
    assert result.columns == ("1·1", "1·2", "2·1", "2·2")
    assert names(sheets.mix(SMALL, worked(1), 0, 0)) == ["A·V"]


def test_the_worked_line_is_true_in_every_figure() -> None:
    line = sheets.worked_line(SMALL, worked(1), 0, (1, 2))
    assert line == (
        "“je” looks at “ai”: q·k = 0.30 × 0.10 + (−0.20) × (−0.10) + 0.70 × 0.50 + 0.10 × 0.20 = 0.42, "
        "/ √4 = 0.21, softmax over the row → 0.37."
    )


@pytest.mark.parametrize("head", [0, 1])
def test_each_head_s_line_has_its_own_figures(head: int) -> None:
    line = sheets.worked_line(SMALL, worked(), head, (0, 1))
    found = re.search(r"q·k = (.*) = (\S+), /", line.replace("−", "-").replace("(", "").replace(")", ""))
    assert found
    terms, total = found.groups()
    products = [math.prod(map(float, term.split(" × "))) for term in terms.split(" + ")]
    assert len(products) == 2
    assert sum(products) == pytest.approx(float(total), abs=0.005)


def test_a_hidden_pair_is_said_to_be_hidden() -> None:
    line = sheets.worked_line(SMALL, worked(causal=True), 0, (0, 2))
    assert line.endswith("masked: −∞, softmax over the row → 0.")
