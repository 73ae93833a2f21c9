"""Searches over all heads: links, preferences, flips, and word-by-word matches of two texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.head_search import counterparts, favorite_counts, flips, follows, links, preference
from attention.view import View
from tests.support.cases import loop_over
from tests.support.traces import HEADS, LAYERS, sentence_trace


@pytest.fixture
def view() -> View:
    return View(sentence_trace(), words=True)  # The cells are [CLS] playing chess . [SEP].


def test_links_are_the_weights_of_whole_words(view: View) -> None:
    found = links(view, 2, (1, 3))
    assert found.shape == (2, LAYERS, HEADS)
    for layer in range(LAYERS):
        for head in range(HEADS):
            weights = view.trace.weights(layer, head)  # The subwords are [CLS] play ing chess . [SEP].
            assert found[0, layer, head] == pytest.approx(weights[3, 1] + weights[3, 2], abs=1e-6)
            assert found[1, layer, head] == pytest.approx(weights[3, 4], abs=1e-6)


def test_inward_is_the_other_way_round(view: View) -> None:
    inward, outward = links(view, 1, (2, 3), inward=True), links(view, 2, (1,))
    weights = view.trace.weights(1, 2)
    assert inward[0, 1, 2] == pytest.approx(weights[3, 1] + weights[3, 2], abs=1e-6)
    np.testing.assert_allclose(inward[0], outward[0], atol=1e-6)
    assert inward[1, 0, 1] == pytest.approx(view.trace.weights(0, 1)[4, 1:3].sum(), abs=1e-6)


def test_a_favourite_is_what_most_words_look_at_anyway() -> None:
    view = View(sentence_trace())  # The tokens are [CLS] play ing chess . [SEP].
    weights = np.full((6, 6), 0.1, np.float32)
    weights[:, 0] = 0.9  # Special tokens do not count as favourites.
    weights[2, 4] = weights[3, 4] = 0.5
    weights[4, 4] = 0.8  # A word does not count as its own favourite.
    assert favorite_counts(view, weights, key=4, source=1) == (2, 2)
    assert favorite_counts(view, weights, key=1, source=2) == (1, 2), "chess looks at the full stop"
    assert favorite_counts(view, np.zeros((6, 6), np.float32), key=1, source=2) == (0, 0), (
        "who looks at no word has none"
    )


def test_swapping_the_candidates_turns_every_preference_round(view: View) -> None:
    one, other = preference(links(view, 2, (1, 3))), preference(links(view, 2, (3, 1)))
    np.testing.assert_array_equal(one, -other)
    assert flips(one, other).all()
    assert not flips(one, one).any()
    np.testing.assert_array_equal(follows(one, other), one > 0)


@loop_over(
    ("before", "after", "expected"),
    [
        ("a b c", "a x c", {0: 0, 1: 1, 2: 2}),
        ("the nurse called the doctor", "the doctor called the nurse", {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}),
        ("a b c", "a b very c", {0: 0, 1: 1, 2: 3}),
        ("a b c", "a c", {0: 0, 2: 1}),
        ("A b", "x a b", {0: 1, 1: 2}),
        ("a b", "c d e", {}),
    ],
)
def test_words_are_matched_by_place_or_by_order(before: str, after: str, expected: Any) -> None:
    words, others = before.split(), after.split()
    assert counterparts(tuple(expected), words, others) == tuple(expected.values())
    for word in range(len(words)):
        assert counterparts((word,), words, others) == ((expected[word],) if word in expected else None)


def test_a_word_that_moved_with_the_text_is_no_longer_matched_by_its_place() -> None:
    before, after = ["it", "was", "so", "tired"], ["today", "it", "was", "tired"]
    assert counterparts((0, 1, 3), before, after) == (1, 2, 3)


def test_names_that_changed_places_stand_where_the_other_stood() -> None:
    before, after = "妈妈给女儿打电话，因为她", "女儿给妈妈打电话，因为她"
    assert counterparts((11, 0, 3), before, after) == (11, 0, 3)
    assert counterparts((11, 0, 3), before, f"{after}们") is None, "not as many words: nothing says who stands where"


def test_a_flip_is_a_change_of_preference_beyond_the_threshold() -> None:
    before, after = np.array([[0.5, 0.02, 0.004, 0.5]]), np.array([[-0.011, -0.3, -0.5, -0.004]])
    assert flips(before, after).tolist() == follows(before, after).tolist() == [[True, True, False, False]]
    assert flips(after, before).tolist() == [[True, True, False, False]]
    assert not follows(after, before).any()
