"""Signed values such as attributions: requested by name, stored with the trace, and never treated as weights."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention.agreement import mean_maps
from attention.codec import decode_frame, frame
from attention.excess import positional_prior
from attention.external_maps import InvalidAttention, trace
from attention.measures import summarize_heads
from attention.record import Unavailable
from attention.roles import observe
from attention.storage import dump, parse
from attention.trace import SIGNED, Trace
from attention.vectors import compare
from attention.view import View, far_pool, max_pool
from tests.attention.test_external_maps import maps, row

TOKENS = 7


def numbers(seed: int = 0, tokens: int = TOKENS) -> Any:
    found = np.random.default_rng(seed).normal(size=(2, 3, tokens, tokens)).astype(np.float32)
    return found / np.abs(found).max()


def signed(tokens: int = TOKENS) -> Trace:
    return trace(numbers(tokens=tokens), row(tokens), signed=True)


def test_without_the_word_they_are_refused_and_the_sentence_names_it() -> None:
    with pytest.raises(InvalidAttention, match="signed=True"):
        trace(numbers(), row(TOKENS))


def test_they_are_from_minus_one_to_one() -> None:
    with pytest.raises(InvalidAttention, match=r"±3; .*Divide"):
        trace(3 * numbers() / np.abs(numbers()[0]).max(), row(TOKENS), signed=True)
    with pytest.raises(InvalidAttention, match="has NaN"):
        trace(np.nan * numbers(), row(TOKENS), signed=True)


def test_a_file_keeps_their_signs_and_that_they_have_some() -> None:
    opened = parse(dump(signed()))
    assert opened.is_signed()
    assert opened.model.architecture == "Maps with signed numbers"
    np.testing.assert_array_equal(opened.weights(1, 2), numbers()[1, 2])
    assert not parse(dump(trace(maps(), row(5)))).is_signed()


def test_weights_shown_as_numbers_with_signs_are_other_maps() -> None:
    """The same numbers have a different id if they are signed values."""
    assert trace(maps(), row(5)).id != trace(maps(), row(5), signed=True).id


@pytest.mark.parametrize(
    "ask",
    [
        mean_maps,
        observe,
        compare,
        lambda made: positional_prior([made]),
        lambda made: summarize_heads(View(made), 4).entropy,
    ],
)
def test_what_reads_rows_as_shares_says_that_it_needs_attention_weights(ask: Any) -> None:
    with pytest.raises(Unavailable, match=re.escape(SIGNED)):
        ask(signed())


def test_the_number_furthest_from_zero_stands_for_its_cell() -> None:
    values = np.array([[0.2, -0.9, 0.1, 0.0], [0.3, 0.4, 0.0, -0.1]], np.float32)
    np.testing.assert_allclose(far_pool(values, 2), [[-0.9, 0.1], [0.4, -0.1]])
    view = View(signed())
    np.testing.assert_array_equal(view.tile(0, 1, 0, TOKENS, 0, TOKENS, 3), far_pool(numbers()[0, 1], 3))


def test_turned_signs_turn_the_picture_and_nothing_else() -> None:
    turned = trace(-numbers(), row(TOKENS), signed=True)
    one, other = summarize_heads(View(signed()), 4), summarize_heads(View(turned), 4)
    np.testing.assert_array_equal(one.thumbnails, -other.thumbnails)
    np.testing.assert_array_equal(one.own.excess, other.own.excess)


def test_of_weights_the_furthest_from_zero_is_the_largest() -> None:
    np.testing.assert_array_equal(far_pool(maps()[0, 0], 3), max_pool(maps()[0, 0], 3))


def test_hidden_tokens_leave_the_others_as_they_are() -> None:
    """Weights may be renormalised without the hidden tokens; signed values are not."""
    words = (None, *range(1, TOKENS))
    made = trace(numbers(), replace(row(TOKENS), words=words), signed=True)
    view = View(made, special=False, renormalise=True)
    np.testing.assert_array_equal(view.weights(0, 0), numbers()[0, 0][1:, 1:])


def test_bytes_with_signs_are_off_by_less_than_a_hundredth() -> None:
    values = numbers()[0]
    _, arrays = decode_frame(frame({}, {"grid": (values, "signed8")}))
    assert np.abs(arrays["grid"] - values).max() < 0.008
    assert (np.sign(arrays["grid"]) * np.sign(values) >= 0).all()
