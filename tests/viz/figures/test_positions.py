"""Tests of the figures and sentences of the Positions page."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention.positions import by_distance, sinusoidal, t5_buckets
from inference.tasks.positions import Bias, OrderPass, OrderTest, Positions, PositionTable, RotaryAngles
from inference.text.encoding import reordered_view
from tests.support.cases import loop_over
from tests.support.traces import numbers, record, sentence_trace
from ui.pages.positions.encodings import dimensions_of
from ui.pages.positions.order import differences_csv, what_came_of_it
from ui.pages.positions.position_scheme import draw_position_scheme
from viz.figures.positions import RotarySet, buckets, by_head, curves, products, rotary, similarity
from viz.figures.theme import DARK, LIGHT

VECTORS = sinusoidal(9, 6)


def test_a_curve_is_a_column() -> None:
    figure = curves(VECTORS, [4, 1], LIGHT, "<b>title</b>")
    assert [trace.name for trace in figure.data] == ["dimension 4", "dimension 1"]
    np.testing.assert_allclose(figure.data[0].y, VECTORS[:, 4], atol=1e-6)
    assert figure.data[0].y.dtype == np.float32
    assert figure.layout.title.text == "&lt;b&gt;title&lt;/b&gt;"
    assert figure.data[0].line.color != figure.data[1].line.color


def test_products_draw_the_mean_within_the_band() -> None:
    found = by_distance(np.array([[9.0, 0], [1, 1], [0, 2]]))
    low, high, mean = products(found, DARK, "t").data
    np.testing.assert_allclose(low.y, found.lowest)
    np.testing.assert_allclose(high.y, found.highest)
    np.testing.assert_allclose(mean.y, found.mean)
    assert high.fill == "tonexty"


def test_the_picture_of_products_is_made_for_pairs() -> None:
    found = by_distance(np.array([[90.0, 0], [1, 1], [0, 2]]))
    low, high = products(found, LIGHT, "t").layout.yaxis.range
    assert low < 0 < found.mean[0] < high < 8100


def test_similarity_shows_opposite_neighbours_too() -> None:
    low, high = similarity(np.array([0.5, -0.9]), LIGHT, "t").layout.yaxis.range
    assert low < -0.9
    assert high > 1


def test_each_set_of_angles_has_a_score_and_a_bound() -> None:
    one, two = (RotarySet(name, np.ones(4), np.zeros(4)) for name in ("full", "<i>"))
    figure = rotary([one, two], LIGHT, "t")
    assert [trace.name for trace in figure.data] == [
        "score of an equal key (full)",
        "bound's decay (full)",
        "score of an equal key (&lt;i&gt;)",
        "bound's decay (&lt;i&gt;)",
    ]
    assert figure.data[0].line.color == figure.data[1].line.color != figure.data[2].line.color


@pytest.mark.parametrize("head", [0, 1, 2])
def test_the_chosen_head_lies_on_top(head: int) -> None:
    values = np.arange(9, dtype=float).reshape(3, 3)
    figure = by_head(np.array([-1, 0, 1]), values, head, LIGHT, "t")
    np.testing.assert_allclose(figure.data[-1].y, values[head])
    assert figure.data[-1].name == f"head {head}"
    assert [trace.name for trace in figure.data if trace.showlegend] == ["Other heads", f"head {head}"]


def test_one_head_alone_is_drawn() -> None:
    figure = by_head(np.array([-1, 0]), np.ones((1, 2)), 0, LIGHT, "t")
    assert [trace.name for trace in figure.data] == ["head 0"]


def test_buckets_are_steps() -> None:
    offsets = np.arange(-5, 6)
    figure = buckets(offsets, t5_buckets(offsets), LIGHT, "t")
    assert figure.data[0].y.tolist() == t5_buckets(offsets).tolist()


@pytest.mark.parametrize(
    ("stated", "count", "found"),
    [("", 64, [0, 1, 16, 17]), ("", 2, [0, 1]), ("9-9-2", 10, [9, 2]), ("x-²-999999-70", 64, [0, 1, 16, 17])],
)
def test_dimensions_of_a_link(stated: str, count: int, found: list[int]) -> None:
    assert dimensions_of(stated, count) == found


def result(
    masks: tuple[str, ...] = (), lacking: float = 4e-7, having: float = 0.5, unmasked: float | None = 2e-6
) -> OrderTest:
    """Return an order test of two layers with three heads; the largest differences are at layer 1, head 2."""
    records = (record(), record())

    def read(largest: float) -> OrderPass:
        differences = np.full((2, 3), largest / 10, np.float32)
        differences[1, 2] = largest
        return OrderPass(records, records, differences)

    return OrderTest("encoder", (0, 2, 1, 3, 4), read(having), read(lacking), ("Something was done.",), masks, unmasked)


def test_what_came_of_a_model_that_only_positions_tell_about_order() -> None:
    said = what_came_of_it("tiny", result())
    assert "4 × 10⁻⁷ (rounding)" in said
    assert said.endswith("0.50 (head 1-2).")


@pytest.mark.parametrize(
    ("masks", "rule"),
    [
        (("causal",), "causal mask"),
        (("window",), "local mask"),
        (("causal", "window"), "causal and local mask"),
    ],
)
def test_equality_is_never_claimed_under_a_mask(masks: tuple[str, ...], rule: str) -> None:
    said = what_came_of_it("tiny", result(masks, lacking=0.4))
    assert rule in said
    assert "rounding" not in said
    assert "up to 0.40" in said
    assert "to within 2 × 10⁻⁶" in said
    assert "first layer" not in what_came_of_it("tiny", result(masks, unmasked=None))


def test_no_other_map_is_claimed_where_there_is_none() -> None:
    said = what_came_of_it("tiny", result(having=2e-7))
    assert said.endswith("With positions, weights differ by up to 2 × 10⁻⁷ (head 1-2).")


def test_words_and_hidden_special_tokens_are_looked_at_in_the_new_order() -> None:
    order = (0, 3, 1, 2, 4, 5)
    test = replace(result(), order=order)
    weights = numbers(6, 6)
    trace = sentence_trace()
    whole = reordered_view(trace, test.part, order, weights, words=False, special=True, renormalise=False)
    assert [cell.text for cell in whole.queries] == ["[CLS]", "chess", "play", "ing", ".", "[SEP]"]
    np.testing.assert_array_equal(whole.weights(0, 0), weights)
    words = reordered_view(trace, test.part, order, weights, words=True, special=False, renormalise=False)
    assert [cell.text for cell in words.queries] == ["chess", "playing", "."]
    assert words.weights(0, 0)[0, 1] == pytest.approx(weights[1, 2] + weights[1, 3])


def test_the_table_has_a_line_for_each_head() -> None:
    lines = differences_csv(result()).splitlines()
    assert lines[0] == "\ufefflayer,head,with positions,without positions"
    assert len(lines) == 7
    assert [float(cell) for cell in lines[-1].split(",")] == pytest.approx([1, 2, 0.5, 4e-7])


def holding(**fields: Any) -> Positions:
    empty = {"tables": (), "rotary": (), "biases": (), "slopes": None, "others": (), "trained": None, "refusal": ""}
    return Positions(**{"model": "tiny", "architecture": "Tiny", "kind": "encoder", **empty, **fields})


TURNED = RotaryAngles("rotary", "", np.ones(3, np.float32), 10_000.0, "default", 8)
SAID = {
    "learned": (
        {"tables": (PositionTable("wpe", VECTORS.astype(np.float32), "", None),)},
        "learned vectors for 9",
    ),
    "sines": (
        {"tables": (PositionTable("pos", VECTORS.astype(np.float32), "halves", 0.0),)},
        "sinusoidal vectors",
    ),
    "rotary": ({"rotary": (TURNED,)}, "(rotary, base 10,000, d_k = 8): 6 of 8"),
    "bias": (
        {"biases": (Bias("b", np.ones((32, 3), np.float32), 128, True),)},
        "adds 32 learned",
    ),
    "alibi": (
        {"slopes": np.ones(3, np.float32)},
        "(ALiBi)",
    ),
    "other": ({"others": ("encoder.rel_embeddings.weight",)}, "(encoder.rel_embeddings.weight)"),
    "nothing": ({}, "in its own way"),
    "decoder": ({"kind": "decoder", "rotary": (TURNED,)}, "rotates queries"),
}


@loop_over(("fields", "words"), SAID.values(), ids=SAID.keys())
def test_what_a_model_holds_is_said(fields: dict[str, Any], words: str) -> None:
    said = draw_position_scheme(holding(**fields))
    assert words in said
