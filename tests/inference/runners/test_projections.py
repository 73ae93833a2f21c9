"""Fused projections of queries, keys and values, split for every layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from attention.mask import Mask
from attention.record import Record
from attention.walkthrough import Rotary, make, project, rotate
from inference.runners.layer_parts import ROLES, Event, find
from tests.support.present import present
from tests.support.traces import numbers

WIDTH, HEADS, KV, CHANNELS, TOKENS = 7, 4, 2, 3, 5


def called(module: Any, given: Any, path: str = "here") -> Any:
    with torch.inference_mode():
        return Event(path, module, given, module(torch.tensor(given)).numpy(), 0)


def split(gave: Any, layout: Any) -> list[Any]:
    """Return queries, keys and values, each (head, token, channel), from a fused output."""
    if layout == "side by side":
        parts = np.split(gave, [HEADS * CHANNELS, (HEADS + KV) * CHANNELS], axis=1)
        return [part.reshape(TOKENS, -1, CHANNELS).transpose(1, 0, 2) for part in parts]
    groups = gave.reshape(TOKENS, KV, HEADS // KV + 2, CHANNELS)
    query = groups[:, :, :-2].reshape(TOKENS, HEADS, CHANNELS)
    return [part.transpose(1, 0, 2) for part in (query, groups[:, :, -2], groups[:, :, -1])]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("layout", ["side by side", "group by group"])
def test_one_matrix_for_all_three(layout: str, turned: bool) -> None:
    fused = nn.Linear(WIDTH, (HEADS + 2 * KV) * CHANNELS)
    one = called(fused, numbers(TOKENS, WIDTH))
    query, key, value = split(one.gave, layout)
    rotary = Rotary(np.array([0.7], np.float32))
    if turned:
        query, key = rotate(query, rotary), rotate(key, rotary)
    record = Record(query, key, value, CHANNELS**-0.5, Mask(TOKENS, TOKENS))
    for role in ROLES:
        found = present(find(role, record, [one], [rotary], (1.0,)))
        np.testing.assert_allclose(make(one.given, found.branch).last, getattr(record, role), atol=1e-5)
        assert (found.branch.rotary is not None) == (turned and role != "value")


def test_the_latest_matrix_that_fits_is_taken() -> None:
    """A block with two attentions has two of each projection."""
    one, other = (called(nn.Linear(WIDTH, 6), numbers(TOKENS, WIDTH), name) for name in ("first", "second"))
    vectors = other.gave.reshape(TOKENS, 2, 3).transpose(1, 0, 2)
    record = Record(vectors, vectors, vectors, 1.0, Mask(TOKENS, TOKENS))
    assert present(find("query", record, [one, other, one], [], (1.0,))).event.path == "second"
    branch = present(find("value", record, [other], [], (1.0,))).branch
    np.testing.assert_allclose(project(other.given, branch), vectors, atol=1e-5)


def test_a_constant_factor_is_found() -> None:
    one = called(nn.Linear(WIDTH, 6), numbers(TOKENS, WIDTH))
    vectors = one.gave.reshape(TOKENS, 2, 3).transpose(1, 0, 2)
    record = Record(vectors / 2, vectors, vectors, 1.0, Mask(TOKENS, TOKENS))
    assert present(find("query", record, [one], [], (1.0, 0.5))).branch.factor == 0.5
    assert find("query", record, [one], [], (1.0,)) is None
