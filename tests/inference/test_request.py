"""Trace requests and their keys."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from attention.pictures import Picture
from inference.request import TraceRequest
from tests.support.cases import loop_over


def test_equal_requests_have_equal_keys() -> None:
    one, two = TraceRequest(text="a", pair="b"), TraceRequest(text="a", pair="b")
    assert one == two
    assert one.key == two.key
    assert len(one.key) == 64
    assert hash(one) == hash(two)


@loop_over(
    "other",
    [
        {"text": "b"},
        {"model": "x/y"},
        {"pair": ""},
        {"target": ""},
        {"revision": "main"},
        {"cut": 3},
        {"edits": ("ablate",)},
        {"written": ()},
        {"written": (3, 4)},
        {"picture": Picture(np.zeros((2, 3, 3), np.uint8))},
        {"side": 224},
    ],
)
def test_every_field_is_in_the_key(other: dict[str, Any]) -> None:
    assert dataclasses.replace(TraceRequest(text="a"), **other).key != TraceRequest(text="a").key


def test_fields_cannot_run_into_each_other() -> None:
    assert TraceRequest(text='a","pair":"b').key != TraceRequest(text="a", pair="b").key


def test_edits_count_by_their_kind_and_fields() -> None:
    cut = dataclasses.make_dataclass("Cut", [("layer", int)], frozen=True)
    drop = dataclasses.make_dataclass("Drop", [("layer", int)], frozen=True)
    keys = {TraceRequest(text="a", edits=(edit,)).key for edit in (cut(1), cut(2), drop(1))}
    assert len(keys) == 3


def test_broken_text_has_a_key_too() -> None:
    assert json.dumps(TraceRequest(text="\ud800").key)


def test_it_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        TraceRequest(text="a").text = "b"  # type: ignore[misc]


def test_written_tokens_count_in_order() -> None:
    keys = {TraceRequest(text="a", written=written).key for written in (None, (), (1, 2), (2, 1), (12,))}
    assert len(keys) == 5
    assert TraceRequest(text="a", written=(1,) * 100).weight > TraceRequest(text="a").weight + 1000
