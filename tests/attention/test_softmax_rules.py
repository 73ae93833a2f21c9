"""Changed softmax rules on the same queries and keys, against the formula in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from attention.softmax import change_softmax_rules, spreads
from tests.attention.test_walkthrough import CASES
from tests.support.cases import loop_over
from tests.support.traces import by_hand, numbers, record
from viz.figures.layers import what_if
from viz.figures.theme import DARK, LIGHT


def softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


@loop_over("case", [case for case in CASES if "sink" not in case and case != "everything"])
def test_a_temperature_divides_the_scores(case: Any) -> None:
    rec = record(**CASES[case])
    for head in range(3):
        expected = softmax(rec.scores(head).astype(float) / 2.5)
        np.testing.assert_allclose(change_softmax_rules(rec, temperature=2.5).weights(head), expected, atol=1e-6)


def test_a_temperature_divides_a_sink_too() -> None:
    rec = record(sinks=numbers(3, seed=4))
    assert rec.sinks is not None
    scores = np.append(rec.scores(1)[2].astype(float), rec.sinks[1]) / 0.5
    np.testing.assert_allclose(
        change_softmax_rules(rec, temperature=0.5).weights(1)[2], softmax(scores[None])[0, :-1], atol=1e-6
    )


def test_another_scale_leaves_bias_and_mask() -> None:
    rec = record(bias=numbers(3, 5, 5), mask=Mask(5, 5, causal=True))
    assert rec.bias is not None
    dots = rec.query[1].astype(float) @ rec.key[1].astype(float).T
    scores = np.where(np.tri(5, dtype=bool), dots + rec.bias[1], -np.inf)
    np.testing.assert_allclose(change_softmax_rules(rec, scale=1.0).weights(1), softmax(scores), atol=1e-6)


def test_without_its_mask_every_key_is_seen() -> None:
    rec = record(mask=Mask(5, 5, causal=True, left=1), lse=numbers(3, 5))  # sums of the original rules
    free = change_softmax_rules(rec, masked=False)
    np.testing.assert_allclose(free.weights(2), by_hand(record(), 2), atol=1e-6)
    np.testing.assert_allclose(free.weights(2).sum(axis=1), 1, atol=1e-5)


def test_nothing_changed_changes_nothing() -> None:
    rec = record(mask=Mask(5, 5, causal=True), bias=numbers(1, 5, 5), softcap=2.0)
    np.testing.assert_array_equal(change_softmax_rules(rec).weights(0), rec.weights(0))


def test_spread_grows_with_the_temperature_up_to_even() -> None:
    rec, rows = record(keys=8, queries=4), np.arange(4)
    found = np.stack([spreads(change_softmax_rules(rec, temperature=t), rows) for t in (0.1, 1, 10, 1e5)])
    assert found.shape == (4, 3)
    assert (np.diff(found, axis=0) > 0).all()
    np.testing.assert_allclose(found[-1], 3, atol=1e-3)  # The limit is log2(8), the entropy of a uniform row of 8 keys.


@loop_over("temperature", [0, -1, float("nan")])
def test_a_temperature_that_divides_by_nothing_is_refused(temperature: Any) -> None:
    with pytest.raises(ValueError, match="one above 0"):
        change_softmax_rules(record(), temperature=temperature)


@loop_over("theme", [LIGHT, DARK])
def test_the_figure_has_two_marks_a_head(theme: Any) -> None:
    before, after = np.array([1.0, 2.0, 0.5]), np.array([0.4, 2.5, 0.5])
    figure = what_if(before, after, theme, head=1)
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [list(trace.y) for trace in marks] == [before.tolist(), after.tolist()]
    assert all(list(trace.x) == [0, 1, 2] for trace in marks)
    assert all(trace.marker.size[1] == max(trace.marker.size) for trace in marks)
    assert figure.layout.yaxis.range[1] > 2.5
