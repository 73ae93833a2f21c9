"""The toy example: attention computed by hand, its laws, and the options that users may change."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from attention.record import Record
from attention.toy_example import Numbers, ToyExample, attend, compute_example
from tests.support.cases import loop_over
from ui.input.controls import LARGEST
from ui.pages.by_hand.descriptions import describe_largest, next_words, printed_against
from ui.pages.by_hand.example import (
    PRESETS,
    TOKENS,
    WIDTH,
    ByHandOptions,
    apply_table_edits,
    attention_example,
    example_of,
    fit_options,
    pair,
    preset_of,
    resize,
    rules_of,
)

HEADS, COUNT, COLUMNS, CHANNELS = 2, 5, 4, 3


def inputs(seed: int = 0) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return x, shape (5, 4), and W_Q, W_K and W_V, each of shape (4, 6), for two heads of three channels."""
    draw = np.random.default_rng(seed).normal
    x = draw(size=(COUNT, COLUMNS))
    w_q, w_k, w_v = (draw(size=(COLUMNS, HEADS * CHANNELS)) for _ in range(3))
    return x, w_q, w_k, w_v


# -- Cases by hand


def test_two_tokens_of_one_number() -> None:
    """With q = (ln 2, 2 ln 2) and k = (1, 2) each exponential is a power of two; v = (3, 6)."""
    worked = attend(np.array([[1.0], [2]]), np.array([[math.log(2)]]), np.array([[1.0]]), np.array([[3.0]]))
    np.testing.assert_allclose(np.exp(worked.products[0]), [[2, 4], [4, 16]])
    np.testing.assert_allclose(worked.weights[0], np.array([[1 / 3, 2 / 3], [1 / 5, 4 / 5]]))
    np.testing.assert_allclose(worked.result, np.array([[5], [5.4]]))


def test_under_a_causal_mask_the_first_token_keeps_its_own_value() -> None:
    matrices = np.array([[1.0], [2]]), np.array([[math.log(2)]]), np.array([[1.0]]), np.array([[3.0]])
    worked = attend(*matrices, causal=True)
    assert worked.masked[0].tolist() == [[math.log(2), -math.inf], [2 * math.log(2), 4 * math.log(2)]]
    np.testing.assert_allclose(worked.weights[0], np.array([[1, 0], [1 / 5, 4 / 5]]))
    np.testing.assert_allclose(worked.result, np.array([[3], [5.4]]))


def test_scores_are_over_the_root_of_the_channels_of_one_head() -> None:
    """With four columns of ones, one head has q · k = 4 and √4 = 2; two heads have 2 and √2 each."""
    ones = np.ones((1, 4))
    assert attend(np.ones((2, 1)), ones, ones, ones).scaled.tolist() == [[[2, 2], [2, 2]]]
    two = attend(np.ones((2, 1)), ones, ones, ones, heads=2)
    np.testing.assert_allclose(two.scaled, np.full((2, 2, 2), math.sqrt(2)))


def test_the_three_words_fetch_the_next_ones_values() -> None:
    small = example_of("lookup")
    worked = attend(small.x, small.w_q, small.w_k, small.w_v)
    np.testing.assert_allclose(worked.result, [[0, 2, 0], [0, 0, 3], [1, 0, 0]], atol=1e-4)


def test_the_tutorial_s_weights() -> None:
    """Row "je" by hand: q = (.3, -.2, .7, .1) and q · k = .25, -.01, .42, -.17; the softmax is of these halved."""
    small = example_of("tutorial")
    worked = attend(small.x, small.w_q, small.w_k, small.w_v)
    np.testing.assert_allclose(worked.products[0, 1], [0.25, -0.01, 0.42, -0.17])
    powers = [math.exp(score / 2) for score in (0.25, -0.01, 0.42, -0.17)]
    np.testing.assert_allclose(worked.weights[0, 1], np.array(powers) / sum(powers))
    np.testing.assert_allclose(worked.weights[0, 1], [0.26, 0.23, 0.29, 0.21], atol=0.005)


# -- Laws


@loop_over("causal", [False, True])
@loop_over("heads", [1, 2, 3, 6])
def test_rows_sum_to_one_and_hidden_pairs_are_exactly_zero(heads: int, causal: bool) -> None:
    worked = attend(*inputs(), heads, causal)
    assert worked.weights.shape == (heads, COUNT, COUNT)
    assert worked.mixed.shape == (heads, COUNT, HEADS * CHANNELS // heads)
    np.testing.assert_allclose(worked.weights.sum(axis=2), 1)
    above = np.triu(np.ones((COUNT, COUNT), dtype=bool), 1)
    assert (worked.weights[:, above] == 0).all() == causal
    assert (worked.weights[:, ~above] > 0).all()


def test_moving_the_tokens_moves_the_rows_and_changes_nothing_else() -> None:
    x, w_q, w_k, w_v = inputs()
    order = np.array([3, 1, 4, 0, 2])
    one, other = attend(x, w_q, w_k, w_v, HEADS), attend(x[order], w_q, w_k, w_v, HEADS)
    np.testing.assert_allclose(other.weights, one.weights[:, order][:, :, order])
    np.testing.assert_allclose(other.result, one.result[order])


def test_under_a_causal_mask_what_follows_changes_nothing_before() -> None:
    x, w_q, w_k, w_v = inputs()
    longer = attend(np.vstack([x, np.full((1, COLUMNS), 9.0)]), w_q, w_k, w_v, HEADS, True)
    np.testing.assert_allclose(longer.result[:COUNT], attend(x, w_q, w_k, w_v, HEADS, True).result)


def test_a_head_knows_its_own_columns_only() -> None:
    x, w_q, w_k, w_v = inputs()
    worked = attend(x, w_q, w_k, w_v, HEADS)
    for head in range(HEADS):
        own = slice(head * CHANNELS, (head + 1) * CHANNELS)
        alone = attend(x, w_q[:, own], w_k[:, own], w_v[:, own])
        np.testing.assert_allclose(worked.weights[head], alone.weights[0])
        np.testing.assert_allclose(worked.result[:, own], alone.result)


@pytest.mark.parametrize("causal", [False, True])
def test_it_is_what_a_record_of_the_same_numbers_says(causal: bool) -> None:
    worked = attend(*inputs(), HEADS, causal)

    def split(matrix: Any) -> Any:
        return matrix.reshape(COUNT, HEADS, CHANNELS).swapaxes(0, 1).astype(np.float32)

    rec = Record(
        query=split(worked.queries),
        key=split(worked.keys),
        value=split(worked.values),
        scale=CHANNELS**-0.5,
        mask=Mask(COUNT, COUNT, causal=causal),
    )
    for head in range(HEADS):
        np.testing.assert_allclose(worked.weights[head], rec.weights(head), atol=1e-6)
        np.testing.assert_allclose(worked.masked[head], rec.scores(head), atol=1e-5)


def test_huge_scores_stay_numbers() -> None:
    x = np.array([[LARGEST, 0], [0, LARGEST]])
    worked = attend(x, np.eye(2), np.eye(2), np.eye(2))
    assert worked.weights.tolist() == [[[1, 0], [0, 1]]]


@pytest.mark.parametrize(
    ("shapes", "heads", "said"),
    [
        (((3,), (2, 2), (2, 2), (2, 2)), 1, r"X has shape \(3,\)"),
        (((3, 2), (2, 2), (2, 3), (2, 2)), 1, r"W_K has shape \(2, 3\)"),
        (((3, 2), (3, 2), (2, 2), (2, 2)), 1, r"W_Q has shape \(3, 2\)"),
        (((3, 2), (2, 4), (2, 4), (2, 4)), 3, "3 heads cannot share 4 columns"),
        (((3, 2), (2, 4), (2, 4), (2, 4)), 0, "0 heads cannot share 4 columns"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(shapes: Any, heads: int, said: str) -> None:
    x, w_q, w_k, w_v = (np.ones(shape) for shape in shapes)
    with pytest.raises(ValueError, match=said):
        attend(x, w_q, w_k, w_v, heads)


# -- Presets


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset["name"])
def test_presets_fit_the_page(preset: Any) -> None:
    small = example_of(preset["name"])
    assert TOKENS[0] <= len(small.tokens) == len(small.x) <= TOKENS[1]
    assert TOKENS[0] <= len(small.words) == len(small.e) <= TOKENS[1]
    assert max(small.x.shape[1], small.width, small.w_1.shape[1]) <= WIDTH[1]
    assert all(len(row) == len(small.tokens) for row in preset["printed"])
    assert len(preset["said"]) in (0, len(small.tokens))
    assert np.isfinite(compute_example(small, rules_of(ByHandOptions(heads=preset["heads"]))).last).all()


def test_the_first_preset_is_no_identity_and_what_it_is_made_for_happens() -> None:
    """In head 1 the pronoun attends to the noun, in head 2 the verb does; the predicted next word is a verb."""
    small = example_of(ByHandOptions().preset_name)
    assert not np.array_equal(small.x, np.eye(*small.x.shape))
    found = compute_example(small, rules_of(fit_options(ByHandOptions(), small)[0]))
    assert found.worked.heads == 2
    assert found.worked.weights[0, 3].argmax() == found.worked.weights[1, 2].argmax() == small.tokens.index("cat")
    assert next_words(small, found, []) == "After “it” the model predicts “was” (0.65, of 5 words)."


def test_a_plain_example_hands_on_what_attention_gives() -> None:
    small = attention_example(("a", "b", "c"), *(np.arange(rows * 2.0).reshape(rows, 2) / 5 for rows in (3, 2, 2, 2)))
    found = compute_example(small, rules_of(ByHandOptions(onward=False)))
    np.testing.assert_allclose(found.last, found.worked.result)
    np.testing.assert_allclose(found.logits, found.worked.result @ small.x.T)
    assert small.words == small.tokens


def test_a_longer_example_keeps_its_numbers_and_a_shorter_one_its_first() -> None:
    small = example_of("lookup")
    grown = resize(small, 5, 4, 6)
    assert grown.x.shape == (5, 4)
    assert grown.w_v.shape == (4, 6)
    assert (grown.x[3:] == 0).all()
    assert grown.tokens == ("one", "two", "three", "token 4", "token 5")
    assert resize(grown, 3, 3, 3) == small
    assert resize(small, 2, 1, 2).w_q.tolist() == [[0, 20]]
    wide = resize(small, 3, 3, 3, 5, 4)
    assert [matrix.shape for matrix in (wide.w_1, wide.w_2, wide.e)] == [(3, 5), (5, 3), (4, 3)]
    assert wide.words == ("one", "two", "three", "word 4")


def test_what_is_typed_changes_that_cell_and_nothing_else() -> None:
    small = example_of("lookup")
    typed = {"x": {1: {"name": "deux", "3": "-2"}}, "w_q": {0: {"1": "1,5"}}, "e": {2: {"name": "trois"}}}
    changed, problems = apply_table_edits(small, typed)
    assert problems == []
    assert (changed.tokens, changed.words) == (("one", "deux", "three"), ("one", "two", "trois"))
    assert changed.x.tolist() == [[1, 0, 0], [0, 1, -2], [0, 0, 1]]
    assert changed.w_q.tolist() == [[1.5, 20, 0], [0, 0, 20], [20, 0, 0]]
    assert (changed.w_k == small.w_k).all()
    assert small == example_of("lookup"), "the first example stays as it was"


def test_what_cannot_be_read_is_said_and_changes_nothing() -> None:
    small = example_of("lookup")
    changed, problems = apply_table_edits(small, {"w_q": {0: {"2": "5000000"}, 1: {"1": "2"}}})
    assert problems == [
        "W_Q, row 1, column 2: “5000000” is out of range, from -1,000,000 to 1,000,000.",
    ]
    assert changed.w_q.tolist() == [[0, 20, 0], [2, 0, 20], [20, 0, 0]]


def test_what_cannot_be_read_keeps_the_last_number() -> None:
    small = example_of("lookup")
    last = apply_table_edits(small, {"x": {0: {"2": "-2"}}})[0]
    changed, problems = apply_table_edits(small, {"x": {0: {"2": "abc"}, 1: {"1": "3"}}}, last)
    assert len(problems) == 1
    assert changed.x.tolist() == [[1, -2, 0], [3, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("typed", [None, "", "  "])
def test_an_emptied_cell_is_zero_and_a_token_is_never_without_a_name(typed: str | None) -> None:
    assert apply_table_edits(example_of("lookup"), {"x": {0: {"1": typed}}})[0].x[0, 0] == 0
    assert apply_table_edits(example_of("lookup"), {"x": {1: {"name": typed}}})[0].tokens[1] == "token 2"


def test_options_that_do_not_fit_the_example_are_settled() -> None:
    small = example_of("lookup")  # The preset has three tokens of width three.
    settled, said = fit_options(ByHandOptions(heads=2, shown=1, row=3, column=0), small)
    assert (settled.heads, settled.shown, settled.row, settled.column) == (1, 0, None, None)
    assert said == ["2 heads cannot share 3 columns equally; one is shown."]
    fits = ByHandOptions(preset="lookup", heads=3, shown=2, row=2, column=0)
    assert fit_options(fits, small) == (fits, [])
    assert fit_options(ByHandOptions(heads=0), small)[0].heads == 1


# -- Sentences on screen


def of(name: str, heads: int = 1, causal: bool = False) -> Any:
    small = example_of(name)
    return small, attend(small.x, small.w_q, small.w_k, small.w_v, heads, causal)


def test_the_pair_is_the_chosen_one_or_the_largest_weight() -> None:
    _, worked = of("tutorial")
    assert pair(ByHandOptions(), worked) == (1, 2)
    assert pair(ByHandOptions(row=3, column=0), worked) == (3, 0)
    assert pair(ByHandOptions(causal=True), of("tutorial", causal=True)[1]) == (1, 0), (
        "not the first token, which has no choice"
    )


def test_the_largest_weight_is_said_as_it_is() -> None:
    small, worked = of("tutorial")
    said = describe_largest(small.tokens, worked, 0, False)
    assert re.findall(r"“\w+”|[\d.]+%|over \d", said) == ["“je”", "“ai”", "29%", "over 4", "25%"]


def test_under_a_causal_mask_the_token_without_a_choice_does_not_count() -> None:
    small, worked = of("lookup", causal=True)
    said = describe_largest(small.tokens, worked, 0, True)
    assert re.findall(r"“\w+”|[\d.]+%|over \d", said) == ["“three”", "“one”", "100%", "over 3", "33%"]


def test_of_several_heads_the_sentence_names_its_own() -> None:
    small, worked = of("lookup", heads=3)
    assert describe_largest(small.tokens, worked, 1, False).startswith("Head 1: “one” gives “two” ")


def test_the_tutorial_s_printed_weights_are_set_against_the_true_ones() -> None:
    small, worked = of("tutorial")
    said = printed_against(preset_of("tutorial")["printed"], small.tokens, worked)
    assert "“french” 0.10 0.20 0.30 0.40 and “je” 0.20 0.10 0.40 0.30" in said
    assert "“french” 0.25 0.25 0.24 0.26 and “je” 0.26 0.23 0.29 0.21, up to 0.15 apart." in said
    assert "A softmax keeps the order of scores" in said


def test_weights_in_the_order_of_the_scores_are_not_called_impossible() -> None:
    small, worked = of("tutorial")
    printed = worked.weights[0, :2] + [[0.01, 0, 0, 0]]
    assert "keeps the order" not in printed_against(printed.tolist(), small.tokens, worked)


def next_of(heads: int, onward: bool, scaled: bool) -> tuple[str, ToyExample]:
    small = example_of("tutorial")
    found = compute_example(small, rules_of(ByHandOptions(heads=heads, onward=onward, scaled=scaled)))
    return next_words(small, found, preset_of("tutorial")["said"]), found


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("heads", [1, 4])
def test_the_tutorial_s_words_come_from_the_residual_sum_alone(heads: int, scaled: bool) -> None:
    """The width is four; the scores are divided by √4 with one head, by √1 with four, or not at all."""
    said, found = next_of(heads, True, scaled)
    assert found.chances.argmax(axis=1).tolist() == [0, 1, 2, 3]
    assert "concludes “I am like French” from this example. The same holds here: “french” → “I” (0.7" in said
    assert "residual sum" in said
    said, found = next_of(heads, False, scaled)
    assert found.chances.argmax(axis=1).tolist() != [0, 1, 2, 3]
    assert "Here it is otherwise: “french” → “" in said
    assert "residual" not in said


def test_examples_are_equal_by_their_numbers_and_names() -> None:
    assert example_of("lookup") == example_of("lookup")
    small = example_of("lookup")
    assert replace(small, w_v=small.w_v + 1) != small
    assert replace(small, w_2=small.w_2 + 1) != small
    assert replace(small, tokens=("a", "b", "c")) != small
    assert replace(small, words=("a", "b", "c")) != small
