"""Keys of frozen values, and their sizes in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from inference.request import TraceRequest, key_of, size_of


@dataclass(frozen=True)
class Cut:
    layer: int


@dataclass(frozen=True)
class Ablate:
    layer: int


def test_two_kinds_of_edit_with_the_same_fields_have_different_keys() -> None:
    edits: Any = [(), (Cut(1),), (Ablate(1),), (Cut(2),)]
    keys = {TraceRequest(text="a", edits=each).key for each in edits}
    assert len(keys) == 4


def test_half_characters_and_order_are_kept_apart() -> None:
    assert key_of(TraceRequest(text="\ud800")) != key_of(TraceRequest(text="\udfff"))
    assert key_of(TraceRequest(text="a", pair="b")) != key_of(TraceRequest(text="b", pair="a"))


def test_a_value_weighs_at_least_what_its_arrays_and_texts_hold() -> None:
    assert size_of({"a": (np.zeros(1000, np.float32), "x" * 500)}) >= 4000 + 1000
    assert size_of(TraceRequest(text="x" * 900)) >= 1800
