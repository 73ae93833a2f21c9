"""The gradient of the softmax: equal to torch's, and vanishing for large scores."""

from __future__ import annotations

import numpy as np
import torch

from attention.softmax import by_width, slopes, softmax_sensitivity
from attention.toy_example import softmax

SCORES = np.array([0.3, -1.2, 2.0, 0.0, 0.7])


def test_it_is_torchs_gradient() -> None:
    theirs = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, dim=0), torch.from_numpy(SCORES))
    weights = softmax(SCORES[None])[-1][0]
    np.testing.assert_allclose(slopes(weights), theirs.numpy(), atol=1e-12)
    np.testing.assert_allclose(softmax_sensitivity(weights), np.trace(slopes(weights)))


def test_what_one_weight_gains_the_others_lose() -> None:
    found = slopes(softmax(SCORES[None])[-1][0])
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found, found.T)


def test_even_weights_are_steepest_and_large_scores_leave_nothing() -> None:
    even = softmax(np.zeros((1, 5)))[-1]
    assert np.isclose(softmax_sensitivity(even)[0], 1 - 1 / 5)
    sizes = [float(softmax_sensitivity(softmax(SCORES[None] * factor)[-1])[0]) for factor in (0, 1, 4, 16, 64)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 1e-12


def test_the_root_keeps_the_gradient_where_it_is_whatever_the_width() -> None:
    over, plain = by_width([1, 16, 256], tokens=8)
    np.testing.assert_allclose(over, over.mean(), atol=0.1)
    assert plain[0] > plain[1] > plain[2]
    assert np.isclose(over[0], plain[0]), "at d_k = 1 both are the same"
    assert plain[2] < over[2] / 4
