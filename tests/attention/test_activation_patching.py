"""Activation patching between two texts: token alignment, edit sets of a map, and recovered shares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attention.comparison import align
from attention.edits import (
    PatchHead,
    PatchResidual,
    head_patches,
    paired_tokens,
    patching_effect,
    random_patches,
    residual_patches,
)
from attention.view import View
from tests.support.traces import sentence_trace


def test_a_text_stands_beside_itself_token_by_token() -> None:
    view = View(sentence_trace(), words=True)
    aligned, _ = align(view, view)
    pairs = [pair for word in paired_tokens(view, view, aligned) for pair in word]
    assert pairs == [(at, at) for at in range(len(view.trace.source))]
    swapped = paired_tokens(view, view, aligned.swap())
    assert [tuple((two, one) for one, two in word) for word in swapped] == list(paired_tokens(view, view, aligned))


def test_a_map_has_a_set_for_each_layer_and_word_and_one_for_a_word_throughout() -> None:
    words = (((0, 0),), ((1, 1), (2, 3)))
    found = residual_patches(3, words, "encoder")
    assert len(found) == 4 * 2
    assert found[2 * 2 + 1] == (PatchResidual(2, ((1, 1), (2, 3)), "encoder"),)
    assert found[-2] == tuple(PatchResidual(layer, ((0, 0),), "encoder") for layer in range(3))
    assert head_patches([(1, 2)], words) == [(PatchHead(1, 2, ((0, 0), (1, 1), (2, 3))),)]


def test_every_layer_of_a_random_change_has_its_own_seed() -> None:
    throughout = residual_patches(3, (((0, 0),), ((1, 1),)))[-1]
    drawn = random_patches(throughout, 7)
    assert [patch.seed for patch in drawn] == [7, 8, 9], "another direction in every layer"
    assert tuple(replace(patch, seed=None) for patch in drawn) == throughout


def test_the_way_is_measured_along_the_line_between_both_answers() -> None:
    before, other = np.array([1.0, 1.0], np.float32), np.array([3.0, 1.0], np.float32)
    values = np.array([[1, 1], [3, 1], [2, 9], [0, 1], [5, 1]], np.float32)
    np.testing.assert_allclose(patching_effect(values, before, other), [0, 1, 0.5, -0.5, 2])
    with pytest.raises(ValueError, match="same answer"):
        patching_effect(values, before, before)
