"""Tests of the matrices of the Step by step page, which hold the numbers of the recorded steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from attention.walkthrough import LayerParameters, LayerSteps, Norm, Rotary, trace_layer_steps, weigh
from tests.attention.test_walkthrough import TOKENS, WIDTH, wiring
from tests.support.traces import numbers, record, sentence_trace
from ui.pages.step_by_step.steps import sentence
from ui.pages.step_by_step.weight import WeightPlace
from ui.show.text import scientific
from viz.matrix_specs import step_by_step as sheets

NAMES = tuple("abcde")
ROWS = np.array([3])


def found(**extra: Any) -> tuple[LayerParameters, Any, LayerSteps]:
    layer, stream = wiring(**extra), numbers(TOKENS, WIDTH, seed=3)
    return layer, stream, trace_layer_steps(layer, record(channels=4), stream, rows=ROWS)


def test_stages_are_the_layer_s_own() -> None:
    plain = found()[2].query
    assert sheets.stages("q", plain, wiring().query, 1, 2).rows == ("x·W + b",)
    rotary = Rotary(np.array([0.5], np.float32))
    branch = wiring().query.__class__(wiring().query.weight, None, Norm("rms", 1e-6), rotary)
    turned = found(query=branch)[2].query
    sheet = sheets.stages("q", turned, branch, 1, 2)
    assert sheet.rows == ("x·W", "after its norm", "turned by its position")
    np.testing.assert_array_equal(sheet.values[2], turned.last[1, 2])


@pytest.mark.parametrize(
    ("extra", "names"),
    [
        ({}, ["q · k", "× 0.5"]),
        ({"mask": Mask(5, 5, causal=True)}, ["q · k", "× 0.5", "score, with mask"]),
        ({"bias": numbers(1, 5, 5)}, ["q · k", "× 0.5", "bias", "score, with bias"]),
        ({"bias": np.zeros((1, 5, 5), np.float32)}, ["q · k", "× 0.5"]),
        (
            {"bias": numbers(1, 5, 5), "mask": Mask(5, 5, causal=True), "softcap": 2.0},
            ["q · k", "× 0.5", "after the soft cap", "bias", "score, with bias and mask"],
        ),
    ],
)
def test_every_step_from_product_to_score_has_its_strip(extra: dict[str, Any], names: list[str]) -> None:
    rec = record(**extra)
    weighing = weigh(rec.query[1][ROWS], rec.key[1], rec, 1, ROWS)
    shown = np.array([0, 2, 4])
    strips = sheets.scores(weighing, shown, "d", ("a", "c", "e"), 1)
    assert [sheet.name for sheet in strips] == names
    np.testing.assert_array_equal(strips[0].values, weighing.dots[:, shown])
    if len(names) > 2:
        np.testing.assert_array_equal(strips[-1].values, weighing.scores[:, shown])
    assert all(sheet.marked_columns == (1,) for sheet in strips)


def test_what_is_not_shown_is_in_the_sum() -> None:
    weights, values = np.array([0.1, 0.2, 0.3, 0.4], np.float32), numbers(4, 3)
    parts, total = sheets.weighted_values(weights, values, np.array([1, 3]), ("b", "d"), 0)
    assert parts.rows == ("b", "d", "2 others")
    np.testing.assert_allclose(parts.values.sum(axis=0), weights @ values, atol=1e-6)
    np.testing.assert_allclose(total.values[0], weights @ values, atol=1e-6)


def test_the_way_out_names_what_this_layer_does() -> None:
    layer, stream, way = found(closing=Norm("layer", 1e-5), ends="norm")
    assert sheets.layer_output(way, stream, layer).rows == ("a", "x", "their sum", "LayerNorm(sum)")
    layer, stream, way = found(after=Norm("rms", 1e-5))
    sheet = sheets.layer_output(way, stream, layer)
    assert sheet.rows == ("RMSNorm(a)", "x", "their sum")
    np.testing.assert_allclose(sheet.values[0] + sheet.values[1], sheet.values[2], atol=1e-6)


def test_one_huge_channel_does_not_pale_the_others() -> None:
    stream = numbers(2, 300)
    huge = stream.copy()
    huge[1, 7] = -1000
    sheet = sheets.layer_input(huge, None, None, ("a", "b"))[0]
    assert sheet.limit is not None
    assert sheet.limit < 10
    assert "−1000.00, channel 7" in sheet.note


def test_every_head_s_sum_has_its_row() -> None:
    _, _, way = found()
    heads, output = sheets.concatenated_heads(way, head=2)
    assert heads.rows == ("head 0", "head 1", "head 2")
    assert heads.marked_rows == (2,)
    np.testing.assert_array_equal(heads.values.reshape(-1), way.joined[0])
    np.testing.assert_array_equal(output.values, way.output)


def test_the_difference_is_on_its_own_scale() -> None:
    both, rounding = sheets.result_difference(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
    assert both.values.tolist() == [[1.0, 2.0], [1.0, 2.5]]
    assert rounding.values.tolist() == [[0.0, -0.5]]
    assert rounding.limit is None


def test_the_sentence_says_the_weight_and_its_rank() -> None:
    trace = sentence_trace()
    row = trace.weights(1, 2)[3]
    best, worst = int(row.argmax()), int(row.argmin())
    said = sentence(WeightPlace(trace, "encoder", 1, 2, 3, best))
    assert f"{row[best]:.0%} of its attention (rank 1 of 6 keys)" in said
    assert f"Its score before softmax: {trace.scores(1, 2)[3, best]:.2f}" in said
    assert "(rank 6 of 6 keys)" in sentence(WeightPlace(trace, "encoder", 1, 2, 3, worst))


def test_a_hidden_key_is_called_hidden() -> None:
    rec = record(6, 6, mask=Mask(6, 6, causal=True))
    spot = WeightPlace(sentence_trace(parts={"decoder": (rec,)}), "decoder", 0, 0, 2, 4)
    assert "from “ing”" in sentence(spot)


def test_small_numbers_are_written_by_hand() -> None:
    assert [scientific(value) for value in (1.234e-5, 0.0, 2.5e-12)] == ["1.2 × 10⁻⁵", "0", "2.5 × 10⁻¹²"]
