"""Effects of ablations, random control sets, and edits that are selected, listed and stored in links."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention.edits import (
    Ablate,
    MaskEdge,
    MaskKey,
    Uniform,
    ZeroValue,
    heads_moved,
    log_odds,
    random_sets,
    similarity,
)
from attention.view import View
from tests.support.traces import record, sentence_trace
from ui.ablation.edits import describe_edit, describe_edits, edits_of, keep_only, swap_heads, toggle_edits
from viz.figures.evaluation import random_sets as random_figure
from viz.figures.evaluation import removal_curve
from viz.figures.head_maps import mark_heads
from viz.figures.theme import DARK, empty

PLACES = [(layer, head) for layer in range(2) for head in range(3)]


def test_a_vector_is_compared_by_direction_only() -> None:
    vectors = np.array([[1.0, 2.0, 2.0], [2.0, 4.0, 4.0], [-1.0, -2.0, -2.0], [2.0, -1.0, 0.0]])
    np.testing.assert_allclose(similarity(vectors), [1, 1, -1, 0], atol=1e-12)


def test_log_odds_count_from_even() -> None:
    np.testing.assert_allclose(log_odds(np.log([[0.2, 0.2], [0.6, 0.2], [0.1, 0.3]])), [0, np.log(3), -np.log(3)])


def test_random_sets_are_different_of_the_same_size_and_the_same_again() -> None:
    chosen = (Ablate(0, 1), Ablate(1, 2))
    sets = random_sets(chosen, PLACES, [1, 2, 3], 100)
    assert len(sets) == 14, "all pairs of six heads but the chosen one"
    assert len({frozenset(one) for one in sets} | {frozenset(chosen)}) == 15
    assert all(len(set(one)) == 2 for one in sets)
    assert sets == random_sets(chosen, PLACES, [1, 2, 3], 100)
    assert sets != random_sets(chosen, PLACES, [1, 2, 3], 100, seed=1)
    assert len(random_sets(chosen, PLACES, [], 4)) == 4


def test_random_sets_keep_what_belongs_together() -> None:
    chosen = (MaskKey(0, 1), MaskKey(1, 1), MaskEdge(0, 2, 1, 3), Uniform(1, 0), ZeroValue(1, 2))
    for one in random_sets(chosen, PLACES, [1, 2, 3], 20):
        hidden = [edit for edit in one if isinstance(edit, MaskKey)]
        assert sorted(edit.layer for edit in hidden) == [0, 1]
        assert len({edit.key for edit in hidden}) == 1, "one word, in both layers"
        [muted] = [edit for edit in one if isinstance(edit, ZeroValue)]
        assert {muted.key, hidden[0].key} <= {1, 2, 3}
        assert muted.key != hidden[0].key
        [cut] = [edit for edit in one if isinstance(edit, MaskEdge)]
        assert (cut.query, cut.key) == (1, 3)
        assert sum(isinstance(edit, Uniform) for edit in one) == 1


def test_special_tokens_are_never_hidden_instead() -> None:
    assert random_sets((MaskKey(0, 0),), PLACES, [1, 2], 9) == (), "nothing but the chosen set is left"


def test_a_head_that_looks_elsewhere_altogether_has_moved_wholly() -> None:
    before = sentence_trace()
    np.testing.assert_array_equal(heads_moved(before, before), np.zeros((2, 3)))
    first = before.records()[0]
    query, key = np.zeros((2, 3, 6, 4), np.float32)
    query[..., 0], key[:, 0, 0], other = 100, 100, key.copy()
    other[:, 1, 0] = 200
    one = replace(before, parts={"encoder": (first, replace(record(6, 6), query=query, key=key))})
    two = replace(before, parts={"encoder": (first, replace(record(6, 6), query=query, key=other))})
    np.testing.assert_allclose(heads_moved(one, two), [[0, 0, 0], [1, 1, 1]], atol=1e-6)


@pytest.mark.parametrize(
    ("packed", "edits", "problems"),
    [
        ("", (Ablate(1, 2),), 0),
        ("-", (), 0),
        ("a0-1 h1-4, layer 2 head 0 ,", (Ablate(0, 1), MaskKey(1, 4), Ablate(2, 0)), 0),
        ("a0-1,nonsense,a0-1", (Ablate(0, 1),), 1),
    ],
)
def test_edits_come_from_the_link_word_by_word(packed: str, edits: Any, problems: int) -> None:
    found, notes = edits_of(packed, (1, 2))
    assert found == edits
    assert len(notes) == problems
    assert all("an edit" in note for note in notes)


def test_whole_layers_and_the_reverse() -> None:
    assert keep_only(0, PLACES) == tuple(Ablate(1, head) for head in range(3))
    assert set(swap_heads(keep_only(0, PLACES), PLACES)) == {Ablate(0, head) for head in range(3)}
    both = (Ablate(0, 0), MaskKey(0, 1))
    assert set(swap_heads(swap_heads(both, PLACES), PLACES)) == set(both)


def test_a_click_adds_what_is_missing_and_takes_away_what_is_whole() -> None:
    some = [MaskKey(0, 1), MaskKey(1, 1)]
    assert toggle_edits((MaskKey(0, 1),), some) == (MaskKey(0, 1), MaskKey(1, 1))
    assert toggle_edits((MaskKey(0, 1), MaskKey(1, 1), Ablate(0, 0)), some) == (Ablate(0, 0),)


def test_edits_are_told_in_words() -> None:
    view = View(sentence_trace(), words=True)
    edits = (Ablate(0, 1), Uniform(1, 0), MaskKey(0, 1), MaskKey(1, 2), MaskEdge(0, 2, 3, 4), ZeroValue(0, 3))
    assert describe_edits(edits, view) == (
        "head 0-1 ablated, uniform weights in 1-0, “playing” masked, head 0-2: “chess” → “.” masked, values zeroed: 1"
    )
    assert describe_edits(tuple(Ablate(*place) for place in PLACES), view) == "6 heads ablated"
    assert [describe_edit(edit) for edit in edits[2:]] == [
        "layer 0: token 1 masked",
        "layer 1: token 2 masked",
        "head 0-2: 3 → 4 masked",
        "layer 0: value of token 3 zeroed",
    ]


def test_the_curve_has_its_values_its_names_and_the_span_of_random_orders() -> None:
    values, random = np.array([1.0, 0.9, 0.2]), np.array([[1.0, 0.8, 0.1], [1.0, 0.6, 0.3]])
    figure = removal_curve(values, ["3-1", "<b>"], random, DARK, "title", "cosine")
    band, mean, line = figure.data
    assert list(band.y) == [1.0, 0.8, 0.3, 0.1, 0.6, 1.0]
    assert list(mean.y) == pytest.approx([1.0, 0.7, 0.2])
    assert list(line.customdata) == ["Nothing", "3-1", "&lt;b&gt;"]
    assert len(removal_curve(values, ["a", "b"], random[:0], DARK, "title", "cosine").data) == 1


def test_the_chosen_set_is_a_line_among_random_ones() -> None:
    figure = random_figure(np.array([0.1, 0.2, 0.3]), 0.25, DARK, "1 − cosine")
    assert list(figure.data[0].x) == [0.1, 0.2, 0.3]
    assert figure.layout.shapes[0].x0 == 0.25
    assert figure.layout.title.text == "Compared with other edits"


def test_marks_lie_on_their_heads() -> None:
    figure = empty(DARK, "", "", "")
    mark_heads(figure, [(0, 2), (1, 0)], "x", DARK, "ablated")
    assert (list(figure.data[0].x), list(figure.data[0].y)) == ([2, 0], [0, 1])
    mark_heads(figure, [], "x", DARK, "ablated")
    assert len(figure.data) == 1
