"""Tests of a token's weights in every head, and of the heads' shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from tests.attention.test_walkthrough import wiring
from tests.support.traces import numbers, record
from ui.pages.step_by_step.multi_head import as_one_head, shapes
from viz.matrix_specs.heads import multi_head


def test_a_row_is_a_head_and_a_column_a_key() -> None:
    weights = np.array([[0.1, 0.9, 0], [0.2, 0.3, 0.5]], np.float32)
    shown, single = np.array([0, 2]), np.array([0.6, 0.3, 0.1], np.float32)
    sheets = multi_head(weights, np.array([0.5, 1.5]), ("a", "c"), shown, head=1, marked=0, single=single)
    assert sheets[0].rows == ("head 0", "head 1")
    assert sheets[0].values.tolist() == weights[:, shown].tolist()
    assert (sheets[0].marked_rows, sheets[0].marked_columns) == ((1,), (0,))
    assert sheets[1].values.tolist() == [[0.5], [1.5]]
    assert sheets[2].rows == ("the mean of all heads", "as one head")
    np.testing.assert_allclose(sheets[2].values, [[0.15, 0.25], [0.6, 0.1]], atol=1e-6)
    assert sheets[0].limit == sheets[2].limit == pytest.approx(0.9), "one scale, so that rows can be compared"


@pytest.mark.parametrize("kv_heads", [4, 2])
def test_one_head_of_all_channels_is_one_softmax_of_one_product(kv_heads: int) -> None:
    rec = record(heads=4, kv_heads=kv_heads, mask=Mask(5, 5, causal=True))
    query = np.concatenate([rec.query[head][3] for head in range(4)]).astype(float)
    keys = np.concatenate([rec.key[rec.kv_head(head)] for head in range(4)], axis=1).astype(float)
    powers = np.exp(keys @ query / np.sqrt(16))
    powers[4] = 0
    found = as_one_head(rec, 3)
    assert found is not None
    np.testing.assert_allclose(found, powers / powers.sum(), atol=1e-6)


@pytest.mark.parametrize("extra", [{"bias": numbers(3, 5, 5)}, {"softcap": 2.0}, {"sinks": numbers(3)}])
def test_what_each_head_has_for_itself_cannot_be_one(extra: dict[str, Any]) -> None:
    assert as_one_head(record(**extra), 2) is None


def test_shapes_are_those_of_the_text_and_the_layer() -> None:
    text = shapes(record(5, 6, 3, kv_heads=1, channels=4), wiring())
    for size in ("5 × 7", "3 × 5 × 4", "1 × 6 × 4", "3 × 5 × 6", "5 × 12"):
        assert size in text
    assert "5 × d" in shapes(record(5, 6), None)
