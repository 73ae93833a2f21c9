"""Comparison of a model's answers up to rounding."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

HISTORY = ("cached",)  # Fields that depend on earlier requests: whether the key-value cache was used
TIED = 0.001  # share of whole numbers, such as positions of largest weights, that rounding may change


def assert_close(one: Any, two: Any) -> None:
    """Assert that two answers are equal up to rounding."""
    assert type(one) is type(two)
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            if field.name not in HISTORY:
                assert_close(getattr(one, field.name), getattr(two, field.name))
    elif isinstance(one, tuple | list):
        assert len(one) == len(two)
        for left, right in zip(one, two, strict=True):
            assert_close(left, right)
    elif isinstance(one, dict):
        assert one.keys() == two.keys()
        assert_close(list(one.values()), list(two.values()))
    elif isinstance(one, np.ndarray) and one.dtype.kind in "iub":
        assert one.shape == two.shape
        assert np.mean(one != two) <= TIED
    elif isinstance(one, np.ndarray | float):
        np.testing.assert_allclose(one, two, rtol=1e-3, atol=2e-4)
    else:
        assert one == two
