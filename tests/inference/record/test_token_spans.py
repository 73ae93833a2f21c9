"""Padding on either side, given by masks or by lengths: never shown, and refused if inconsistent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from inference.record import capture
from tests.support.architectures import build, inputs, named

capture.install()


@pytest.fixture(scope="module")
def bert() -> Any:
    model = build(named("BERT"), capture.NAME)
    capture.prepare(model)
    return model


def maps(samples: Any, part: str = "encoder") -> list[Any]:
    return [record.weights(head) for parts in samples for record in parts[part] for head in range(record.heads)]


@pytest.mark.parametrize("side", ["left", "right"])
def test_lengths_beside_a_mask_change_nothing(bert: Any, side: str) -> None:
    given = inputs(named("BERT"), (5, 9), side)
    for one, other in zip(
        maps(capture.record_parts(bert, given)), maps(capture.record_parts(bert, given, [5, 9])), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_lengths_alone_hide_the_padding_from_the_model_too(bert: Any) -> None:
    given = inputs(named("BERT"), (5, 9))
    expected = maps(capture.record_parts(bert, given))
    del given["attention_mask"]
    for one, other in zip(maps(capture.record_parts(bert, given, [5, 9])), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_target_s_length_is_enough() -> None:
    """Target tokens are causal, so padding after them has no effect."""
    row = named("BART")
    model, given = build(row, capture.NAME), inputs(row, (5, 9))
    capture.prepare(model)
    expected = capture.record_parts(model, given)
    del given["decoder_attention_mask"]
    found = capture.record_parts(model, given, [5, 9], [3, 7])
    for part in ("decoder", "cross"):
        for one, other in zip(maps(found, part), maps(expected, part), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize(
    ("lengths", "words"),
    [
        ([5], r"The lengths \[5\] came for input_ids of shape 2 x 9; 2 numbers from 1 to 9 were expected"),
        ([5, 10], "2 numbers from 1 to 9"),
        ([0, 9], "2 numbers from 1 to 9"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(bert: Any, lengths: Any, words: str) -> None:
    given = inputs(named("BERT"), (5, 9))
    del given["attention_mask"]
    with pytest.raises(ValueError, match=words):
        capture.record_parts(bert, given, lengths)


def test_lengths_that_contradict_the_mask_are_refused(bert: Any) -> None:
    with pytest.raises(ValueError, match=r"\[6, 9\] came.* \[5, 9\]"):
        capture.record_parts(bert, inputs(named("BERT"), (5, 9)), [6, 9])


def test_an_empty_text_is_refused(bert: Any) -> None:
    given = inputs(named("BERT"), (5, 9))
    given["attention_mask"][0] = 0
    with pytest.raises(ValueError, match=r"^Text 0 .*attention_mask is 0"):
        capture.record_parts(bert, given)


def test_a_mask_of_another_shape_is_refused(bert: Any) -> None:
    given = inputs(named("BERT"), (5,)) | {"attention_mask": torch.ones(1, 1, 5, 5)}
    with pytest.raises(ValueError, match=r"\(1, 1, 5, 5\) came"):
        capture.record_parts(bert, given)


def test_lengths_of_what_has_no_tokens_are_refused() -> None:
    row = named("ViT")
    model = build(row, capture.NAME)
    capture.prepare(model)
    with pytest.raises(ValueError, match=r"\[3\] came.* input_ids"):
        capture.record_parts(model, inputs(row), [3])
