"""Stage formulas against results by hand; the numpy-pass tests compare all architectures with torch."""

from __future__ import annotations

import math

import numpy as np

from attention.stages.formulas import FORMULAS, attend, strip_inplace_mark, weigh
from attention.stages.functions import erf, gelu, layer_norm, silu, softmax
from tests.support.cases import loop_over


def test_erf_is_that_of_the_textbook() -> None:
    points = np.linspace(-6, 6, 1201)
    np.testing.assert_allclose(erf(points), [math.erf(x) for x in points], atol=2e-7)
    assert erf(points.astype(np.float32)).dtype == np.float32


def test_rows_of_a_softmax_sum_to_one_however_large() -> None:
    scores = np.array([[1e4, 1e4, 0], [-np.inf, 0, 1]], np.float32)
    found = softmax(scores)
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)
    assert found[1, 0] == 0


def test_functions_at_numbers_that_are_known() -> None:
    assert gelu(np.array([0.0, 1.0])).round(6).tolist() == [0.0, 0.841345]
    assert gelu(np.array([1.0]), approximate="tanh").round(6).tolist() == [0.841192]
    assert silu(np.array([0.0, 100.0, -1000.0])).tolist() == [0.0, 100.0, 0.0]
    found = layer_norm(np.array([[0.0, 2.0]]), [2], np.array([3.0, 3.0]), np.array([1.0, 1.0]), eps=0.0)
    assert found.tolist() == [[-2.0, 4.0]]


def test_a_query_that_sees_nothing_gives_zeros_and_one_that_looks_back_sees_no_later_key() -> None:
    query = key = value = np.eye(3, dtype=np.float32)[None]
    weights = weigh(query, key, is_causal=True)[0]
    assert np.triu(weights, 1).max() == 0
    assert weights[0].tolist() == [1, 0, 0]
    hidden = np.array([[[False] * 3, [True] * 3, [True] * 3]])
    assert attend(query, key, value, hidden)[0, 0].tolist() == [0, 0, 0]


def test_heads_that_share_keys_look_at_the_same() -> None:
    noise = np.random.default_rng(0).normal(size=(3, 5, 2)).astype(np.float32)
    query = np.concatenate([noise[:1], noise[:1]])[None]
    found = attend(query, noise[None, 1:2], noise[None, 2:3], enable_gqa=True)
    assert found.shape == (1, 2, 5, 2)
    np.testing.assert_array_equal(found[0, 0], found[0, 1])


@loop_over(
    ("name", "given", "wanted"),
    [
        ("split", ([0, 1, 2, 3, 4], [2, 3]), [[0, 1], [2, 3, 4]]),
        ("chunk", ([0, 1, 2, 3, 4], 2), [[0, 1, 2], [3, 4]]),
        ("pad", ([1, 2], (1, 2)), [0, 1, 2, 0, 0]),
        ("repeat_interleave", ([1, 2], 2), [1, 1, 2, 2]),
        ("as_strided", ([1, 2, 3, 4], (2, 3), (1, 1)), [[1, 2, 3], [2, 3, 4]]),
        ("topk", ([3, 9, 5], 2), [[9, 5], [1, 2]]),
        ("rsqrt", ([4.0],), [0.5]),
        ("sub", ([5], 2), [3]),
        ("__rsub__", ([5], 2), [-3]),
        ("tril", ([[1, 2], [3, 4]],), [[1, 0], [3, 4]]),
    ],
)
def test_what_moves_and_what_is_small(name: str, given: tuple[list[float], ...], wanted: list[float]) -> None:
    found = FORMULAS[name](np.array(given[0]), *given[1:])
    several = [one.tolist() for one in found] if isinstance(found, tuple) else found.tolist()
    assert several == wanted


def test_a_change_in_place_is_the_same_formula_and_leaves_what_it_is_given() -> None:
    assert strip_inplace_mark("masked_fill_") == "masked_fill"
    assert strip_inplace_mark("__iadd__") == "add"
    x = np.zeros(3, np.float32)
    assert FORMULAS["__setitem__"](x, 1, 5.0).tolist() == [0, 5, 0]
    assert x.tolist() == [0, 0, 0]
