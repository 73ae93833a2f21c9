"""Views with merged words and hidden tokens: sums, means and renormalised rows against the plain definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.trace import Trace
from attention.view import View
from tests.support.cases import loop_over
from tests.support.traces import record, sentence_trace, translation_trace

CHOICES: list[dict[str, Any]] = [
    {},
    {"words": True},
    {"special": False},
    {"special": False, "renormalise": True},
    {"words": True, "special": False},
    {"words": True, "special": False, "renormalise": True},
]


def plain(view: Any, layer: int, head: int) -> Any:
    """Return the view's map as a product of matrices that sum over key tokens and average over query tokens."""
    whole = view.trace.weights(layer, head, view.part).astype(float)
    merge = np.zeros((len(view.queries), whole.shape[0]))
    for row, cell in enumerate(view.queries):
        merge[row, slice(*cell.pieces)] = 1 / (cell.pieces[1] - cell.pieces[0])
    gather = np.zeros((whole.shape[1], len(view.keys)))
    for col, cell in enumerate(view.keys):
        gather[slice(*cell.pieces), col] = 1
    result = merge @ whole @ gather
    return result / result.sum(axis=1, keepdims=True) if view.renormalise and not view.special else result


@pytest.fixture(params=["sentence", "cross", "decoder"])
def traced(request: pytest.FixtureRequest) -> tuple[Trace, str | None]:
    return (sentence_trace(), None) if request.param == "sentence" else (translation_trace(), request.param)


@loop_over("choice", CHOICES, ids=str)
def test_a_view_equals_the_plain_definition(traced: tuple[Trace, str | None], choice: Any) -> None:
    trace, part = traced
    view = View(trace, part, **choice)
    for layer in range(view.layers):
        for head in range(view.heads):
            np.testing.assert_allclose(view.weights(layer, head), plain(view, layer, head), atol=1e-6)


@loop_over("choice", CHOICES, ids=str)
def test_rows_columns_tiles_and_thumbnails_are_parts_of_the_map(traced: tuple[Trace, str | None], choice: Any) -> None:
    trace, part = traced
    view = View(trace, part, **choice)
    maps = np.array([[view.weights(layer, head) for head in range(view.heads)] for layer in range(view.layers)])
    queries, keys = maps.shape[2:]
    for query in range(queries):
        np.testing.assert_allclose(view.rows(query), maps[:, :, query], atol=1e-6)
    for key in range(keys):
        np.testing.assert_allclose(view.columns(key), maps[:, :, :, key], atol=1e-6)
    some = np.arange(queries)[::-2]
    for layer, head in np.ndindex(maps.shape[:2]):
        np.testing.assert_allclose(view.rows_of(layer, head, some), maps[layer, head, some], atol=1e-6)
    np.testing.assert_allclose(view.tile(1, 2, 0, queries, 0, keys, 64), maps[1, 2], atol=1e-6)
    np.testing.assert_allclose(view.thumbnails(64), maps, atol=1e-6)
    assert view.tile(0, 0, 0, queries, 0, keys, 2).max() == pytest.approx(maps[0, 0].max(), abs=1e-6)


def test_words_read_as_in_the_text_and_special_tokens_can_go() -> None:
    view = View(sentence_trace(), words=True, special=False)
    assert [cell.text for cell in view.queries] == ["playing", "chess", "."]
    assert [cell.text for cell in View(sentence_trace()).queries][:3] == ["[CLS]", "play", "ing"]


def test_visible_rows_sum_to_one_when_renormalised() -> None:
    view = View(sentence_trace(), special=False, renormalise=True)
    np.testing.assert_allclose(view.weights(0, 0).sum(axis=1), 1, atol=1e-6)
    assert View(sentence_trace(), special=False).weights(0, 0).sum() < len(view.queries)


def test_a_tile_is_the_largest_weight_of_each_cell() -> None:
    trace = sentence_trace(parts={"encoder": (record(6, 6),)})
    whole = trace.weights(0, 1)
    expected = [[whole[0:3, 0:3].max(), whole[0:3, 3:6].max()], [whole[3:6, 0:3].max(), whole[3:6, 3:6].max()]]
    np.testing.assert_allclose(View(trace).tile(0, 1, 0, 6, 0, 6, 2), expected, atol=1e-7)


def test_long_maps_are_pooled_in_strips_and_grids_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attention.view.BLOCK", 12)
    view = View(sentence_trace())
    expected = View(sentence_trace()).weights(1, 0)
    np.testing.assert_allclose(view.tile(1, 0, 0, 6, 0, 6, 6), expected, atol=1e-7)
    monkeypatch.setattr("attention.view.SAMPLED_ABOVE", 3)
    monkeypatch.setattr("attention.view.SAMPLES_PER_CELL", 1)
    for choice in CHOICES:
        view = View(sentence_trace(), **choice)
        thumbnails = view.thumbnails(2)
        assert thumbnails.shape == (2, 3, 2, 2)
        assert (
            thumbnails
            <= np.array([[view.weights(a, b).max() for b in range(3)] for a in range(2)])[..., None, None] + 1e-6
        ).all()


def test_columns_of_long_texts_take_the_sums_that_the_forward_pass_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact row sums of a long text need every whole map; the recorded sums are doubled to be recognisable."""
    doubled = record(6, 6, lse=np.stack([record(6, 6).log_sum_exp(head) for head in range(3)]) + np.log(2))
    view = View(sentence_trace(parts={"encoder": (doubled,)}))
    expected = view.weights(0, 1)
    np.testing.assert_allclose(view.columns(2)[0, 1], expected[:, 2], rtol=1e-6)
    monkeypatch.setattr("attention.view.SAMPLED_ABOVE", 3)
    np.testing.assert_allclose(view.columns(2)[0, 1], expected[:, 2] / 2, rtol=1e-6)
    np.testing.assert_allclose(view.block(0, 1, (1, 3), (2, 3))[:, 0], expected[1:3, 2], rtol=1e-6)


@pytest.mark.parametrize("sinks", [None, np.array([3.0, 0.0, -1.0], np.float32)])
def test_long_rows_are_renormalised_as_short_ones_are(monkeypatch: pytest.MonkeyPatch, sinks: Any) -> None:
    """In long texts the visible share of a row is 1 minus its hidden weights; small shares are computed exactly."""
    key = record(6, 6).key.copy()
    key[:, 0] *= 8  # Some rows give nearly all of their attention to the hidden first token.
    trace = sentence_trace(parts={"encoder": (record(6, 6, sinks=sinks, key=key),)})
    view = View(trace, special=False, renormalise=True)
    expected = view.weights(0, 1)
    monkeypatch.setattr("attention.view.SAMPLED_ABOVE", 3)
    again = View(trace, special=False, renormalise=True)
    np.testing.assert_allclose(again.weights(0, 1), expected, atol=1e-5)
    np.testing.assert_allclose(again.weights(0, 1).sum(axis=1), 1, atol=1e-5)


def test_the_trace_answers_like_its_parts() -> None:
    trace = translation_trace()
    assert (trace.layers, trace.heads, trace.tokens[1]) == (2, 3, "play")
    assert trace.weights(0, 1, part="cross").shape == (3, 6)
    assert trace.rows(2, part="cross").shape == (2, 3, 6)
    assert View(trace).thumbnails(4).shape == (2, 3, 4, 4)
    assert trace.query(0, 1).shape == trace.key(0, 1).shape == trace.value(0, 1).shape == (6, 4)
    assert trace.has_qkv()
    assert not trace.has_qkv("cross")
    with pytest.raises(ValueError, match="part “other”"):
        trace.weights(0, 0, part="other")
    with pytest.raises(ValueError, match=r"^TinyModel "):
        trace.query(1, 0, part="cross")
    with pytest.raises(IndexError, match="heads 0 to 2"):
        trace.weights(2, 0)
    with pytest.raises(IndexError, match=r"token 6\b.* 0 to 5"):
        trace.rows(6)
