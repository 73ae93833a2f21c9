"""Decomposition of a value into terms, by hand; the numpy-pass tests check all architectures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.stages.formulas import FORMULAS
from attention.stages.terms import origin, terms
from tests.support.cases import loop_over

NOISE = np.random.default_rng(1)


def numbers(*shape: int) -> Any:
    return NOISE.normal(size=shape).astype(np.float32)


CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "linear": ((numbers(2, 5), numbers(3, 5), numbers(3)), {}),
    "addmm": ((numbers(3), numbers(2, 5), numbers(5, 3)), {"beta": 0.5, "alpha": 2.0}),
    "matmul": ((numbers(2, 1, 4, 5), numbers(3, 5, 6)), {}),
    "baddbmm": ((numbers(2, 1, 6), numbers(2, 4, 5), numbers(2, 5, 6)), {}),
    "layer_norm": ((numbers(2, 3, 4), [4], numbers(4), numbers(4)), {}),
    "sum": ((numbers(2, 3, 4), [0, 2]), {"keepdim": True}),
    "mean": ((numbers(2, 3, 4), 1), {}),
    "add": ((numbers(2, 3), numbers(3)), {"alpha": 3}),
    "sub": ((numbers(2, 3), 0.5), {}),
    "mul": ((numbers(2, 1), numbers(3)), {}),
    "softmax": ((numbers(2, 5),), {"dim": 0}),
    "tanh": ((numbers(2, 5),), {}),
    "where": ((numbers(2, 3) > 0, numbers(2, 3), 0.0), {}),
    "masked_fill": ((numbers(2, 3), numbers(3) > 0, -9.0), {}),
    "_grouped_mm": ((numbers(5, 4), numbers(3, 4, 6)), {"offs": np.array([2, 2, 5])}),
    "scaled_dot_product_attention": (
        (numbers(1, 4, 5, 3), numbers(1, 2, 6, 3), numbers(1, 2, 6, 3)), {"enable_gqa": True, "scale": 0.3},
    ),
}  # fmt: skip


@loop_over("name", CASES)
def test_terms_add_up_and_are_made_of_what_they_say(name: Any) -> None:
    given, named = CASES[name]
    gave = FORMULAS[name](*given, **named)
    for flat in range(gave.size):
        place = tuple(int(axis) for axis in np.unravel_index(flat, gave.shape))
        found = terms(name, given, named, gave, place)
        assert found.values.sum() == pytest.approx(float(gave[place]), abs=1e-5)
        for term, value in enumerate(found.values):
            factors = found.factors(term)
            assert all(factor.of is None or factor.of[factor.at] == np.float32(factor.value) for factor in factors)
            if found.how == "products":
                assert np.prod([factor.value for factor in factors]) == pytest.approx(value, abs=1e-6)


def test_an_embedding_is_one_number_of_the_table() -> None:
    table = numbers(7, 3)
    found = terms("embedding", (np.array([[4, 6]]), table), {}, table[[[4, 6]]], (0, 1, 2))
    [factor] = found.factors(0)
    assert factor.of is table
    assert factor.at == (6, 2)


@loop_over(
    ("name", "given", "named"),
    [
        ("transpose", (numbers(2, 3, 4), 1, 2), {}),
        ("permute", (numbers(2, 3, 4), (2, 0, 1)), {}),
        ("view", (numbers(2, 6), 3, -1), {}),
        ("__getitem__", (numbers(2, 6), (slice(None), slice(1, 5, 2))), {}),
        ("__getitem__", (numbers(5, 2), np.array([3, 0, 3])), {}),
        ("expand", (numbers(2, 1, 3), -1, 4, -1), {}),
        ("stack", ([numbers(2, 3), numbers(2, 3)],), {"dim": -1}),
        ("split", (numbers(2, 6), 4), {"dim": 1}),
        ("pad", (numbers(2, 3), (1, 1)), {}),
        ("gather", (numbers(2, 3), 1, np.array([[2, 0], [1, 1]])), {}),
        ("to", (numbers(2, 3), np.dtype("float32")), {}),
    ],
)
def test_a_moved_number_is_found_where_it_stood(name: str, given: Any, named: Any) -> None:
    made = FORMULAS[name](*given, **named)
    for output, array in enumerate(made if isinstance(made, tuple) else (made,)):
        for place in np.ndindex(array.shape):
            found = origin(name, given, named, output, place)
            assert (0 if found is None else found[0][found[1]]) == array[place]
    put_in = (
        [place for place in np.ndindex(np.shape(made)) if origin(name, given, named, 0, place) is None]
        if not isinstance(made, tuple)
        else []
    )
    assert bool(put_in) == (name == "pad")
