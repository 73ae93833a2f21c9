"""Measures of heads on maps with known results."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from attention.measures import (
    MEASURES,
    OfHeads,
    Rows,
    as_shares,
    attention_received,
    by_offset,
    distance,
    entropy,
    measures_of,
    summarize_heads,
    to_punctuation,
    to_same_word,
)
from attention.record import MapRecord
from attention.tokens import TokenRow
from attention.view import View
from tests.support.seen import TOKENS, picture_trace
from tests.support.traces import sentence_trace


def test_entropy_is_between_one_key_and_uniform() -> None:
    assert entropy(np.eye(5, 7, dtype=np.float32)).tolist() == [0] * 5
    np.testing.assert_allclose(entropy(np.full((5, 8), 1 / 8, np.float32)), 3, atol=1e-6)


def test_entropy_of_half_precision_maps_is_a_number() -> None:
    weights = np.array([[1.0, 6e-8, 0.0]], np.float16).astype(np.float32)
    assert np.isfinite(entropy(weights)).all()


def test_distance_of_a_shifted_diagonal_is_the_shift() -> None:
    weights = np.eye(7, dtype=np.float32)[:, [2, 3, 4, 5, 6, 0, 1]][:, np.argsort([2, 3, 4, 5, 6, 0, 1])]
    assert distance(weights).tolist() == [0] * 7
    assert distance(np.eye(5, 7, k=2, dtype=np.float32)).tolist() == [2] * 5


def test_received_sums_to_one_over_the_keys() -> None:
    weights = sentence_trace().weights(0, 0)
    assert attention_received(weights).sum() == pytest.approx(1, abs=1e-6)


def test_shares_by_offset_name_the_direction() -> None:
    weights = np.eye(5, k=1, dtype=np.float32)
    assert by_offset(weights, 2).tolist() == [0, 0, 0, 1, 0]


def view_of(texts: Sequence[str], maps: npt.ArrayLike, *, part: str = "encoder", special: Sequence[int] = (0,)) -> View:
    """Return a view of a layer with a single head and the given map; ``special`` lists its special tokens."""
    numbers = [None if i in special else i for i in range(len(texts))]
    row = TokenRow(tuple(texts), tuple(range(len(texts))), tuple(numbers), (0,) * len(texts), (None,) * len(texts))
    record = MapRecord(np.array([maps], np.float32))
    trace = sentence_trace(text=" ".join(texts), source=row, target=row, parts={part: (record,)})
    return View(trace, part)


def of_head(measure: Callable[[View, Rows], OfHeads], view: View) -> float:
    """Return the measure's value for the only head of the view."""
    return float(measure(view, np.arange(len(view.queries)))(as_shares(view.weights(0, 0)[None]))[0])


def test_attention_to_punctuation_is_the_share_of_the_columns_that_are_punctuation() -> None:
    """[CLS] gives 0.5 to ","; "well" gives 0.25 to "," and 0.25 to "..."; other rows give nothing: 1.0 / 4 rows."""
    maps = [[0.5, 0.0, 0.5, 0.0], [0.5, 0.0, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    assert of_head(to_punctuation, view_of(["[CLS]", "well", ",", "..."], maps)) == pytest.approx(0.25)


def test_a_special_token_is_no_punctuation() -> None:
    maps = [[1.0, 0.0], [0.0, 1.0]]
    assert of_head(to_punctuation, view_of(["-", "a-b"], maps)) == 0
    assert of_head(to_punctuation, view_of(["-", "a-b"], maps, special=())) == 0.5


def test_attention_to_the_same_word_elsewhere_is_the_mean_over_words_said_twice() -> None:
    """The rows "The" and "the" give 0.25 and 0.75 to each other; [CLS] and "cat" do not count."""
    maps = np.zeros((5, 5))
    maps[0] = [0, 0, 0, 0, 1]
    maps[1] = [0.25, 0.5, 0, 0.25, 0]
    maps[2] = [0, 0, 1, 0, 0]
    maps[3] = [0, 0.75, 0, 0.25, 0]
    maps[4] = [1, 0, 0, 0, 0]
    view = view_of(["[CLS]", "The", "cat", "the", "[CLS]"], maps, special=(0, 4))
    assert of_head(to_same_word, view) == pytest.approx(0.5)


def test_in_a_decoder_elsewhere_is_before() -> None:
    """Only the second "a" has an earlier copy, to which it gives 0.75."""
    maps = [[1.0, 0.0], [0.75, 0.25]]
    assert of_head(to_same_word, view_of(["a", "a"], maps, part="decoder", special=())) == 0.75


def test_across_two_texts_the_same_place_is_elsewhere() -> None:
    maps = [[0.75, 0.25], [0.5, 0.5]]
    assert of_head(to_same_word, view_of(["Paris", "!"], maps, part="cross", special=())) == pytest.approx(0.625)


def test_where_no_word_is_said_twice_nothing_goes_to_it() -> None:
    assert of_head(to_same_word, view_of(["[CLS]", "one", "two"], np.full((3, 3), 1 / 3))) == 0


@pytest.mark.parametrize("name", ["punctuation", "same"])
def test_a_share_is_between_none_and_all_and_ignores_what_rows_sum_to(name: str) -> None:
    """Scaled rows have the same shares, and every share is between 0 and 1."""
    texts = ["[CLS]", "so", ",", "so", "."]
    weights = np.random.default_rng(3).random((5, 5)).astype(np.float32)
    one, other = (summarize_heads(view_of(texts, maps), 8).measures[name] for maps in (weights, weights / 7))
    np.testing.assert_allclose(one, other, atol=1e-6)
    assert 0 < one.item() < 1


def test_patches_are_apart_in_two_directions() -> None:
    """Distances are Euclidean on the grid: a patch two rows down has distance 2, its right neighbour 1."""
    trace = picture_trace()
    grid = trace.source.grid
    assert grid is not None
    maps = np.zeros((3, TOKENS, TOKENS), np.float32)
    maps[..., 0] = 1
    corner = grid.token(0, 0)
    maps[:, corner] = 0
    maps[0, corner, [grid.token(2, 0), grid.token(0, 1), 1]] = 0.25, 0.25, 0.5
    maps[1, corner, grid.token(2, 2)] = 1
    maps[2, corner, corner] = 1
    found = summarize_heads(View(picture_trace(parts={"encoder": (MapRecord(maps),)})), 8)
    np.testing.assert_allclose(found.distance, [[1.5, 8**0.5, 0.0]], rtol=1e-6)
    without = summarize_heads(View(picture_trace(parts={"encoder": (MapRecord(maps),)}), special=False), 8)
    np.testing.assert_allclose(without.distance, found.distance, rtol=1e-6)


def test_a_picture_is_measured_in_patches_and_not_by_its_words() -> None:
    units = {one.name: one.unit for one in measures_of(View(picture_trace()))}
    assert (units["entropy"], units["distance"]) == ("bits", "patches")
    left_out = {one.name for one in MEASURES} - set(units)
    assert {"punctuation", "same"} <= left_out == {one.name for one in MEASURES if one.needs_words}
    assert measures_of(View(sentence_trace())) == MEASURES
