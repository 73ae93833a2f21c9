"""Roles of heads over patches: maps drawn by hand on a grid, and the shares of uniform attention."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attention.mask import FloatArray
from attention.patch_roles import PATCH_ROLES, SHIFTS, observe_patches, places, sampled_patches
from attention.pictures import Grid
from attention.record import MapRecord
from tests.support.seen import COLUMNS, ROWS, START, TOKENS, picture_trace
from tests.support.traces import sentence_trace


def shifted(down: int, along: int) -> FloatArray:
    """Return a map in which each patch attends to the patch at that offset; without such a patch, to itself."""
    weights = np.eye(TOKENS, dtype=np.float32)
    for row in range(ROWS):
        for column in range(COLUMNS):
            if 0 <= row + down < ROWS and 0 <= column + along < COLUMNS:
                at = START + row * COLUMNS + column
                weights[at] = 0
                weights[at, at + down * COLUMNS + along] = 1
    return weights


@pytest.mark.parametrize("name", SHIFTS)
def test_a_head_that_looks_one_on_is_named_after_that(name: str) -> None:
    found = observe_patches(picture_trace(parts={"encoder": (MapRecord(shifted(*SHIFTS[name])[None]),)}), "encoder")
    assert found.shares[name][0, 0] == 1
    assert found.role(0, 0) == name
    others = set(SHIFTS) - {name}
    assert all(found.shares[other][0, 0] == 0 for other in others)
    assert found.shares["row" if name in ("left", "right") else "column"][0, 0] > 0.5


def test_itself_the_tokens_without_a_patch_and_everything() -> None:
    alone = np.zeros((TOKENS, TOKENS), np.float32)
    alone[:, 1] = 1
    even = np.full((TOKENS, TOKENS), 1 / TOKENS, np.float32)
    trace = picture_trace(parts={"encoder": (MapRecord(np.stack([np.eye(TOKENS, dtype=np.float32), alone, even])),)})
    found = observe_patches(trace, "encoder")
    assert [found.role(0, head) for head in range(3)] == ["itself", "alone", "broad"]
    for name in PATCH_ROLES:
        assert found.shares[name][0, 2] == pytest.approx(found.chance[name], abs=1e-6)


def test_shares_do_not_pass_one_and_hold_one_another() -> None:
    found = observe_patches(picture_trace(), "encoder").shares
    for name in PATCH_ROLES:
        assert (found[name] >= 0).all()
        assert (found[name] <= 1 + 1e-6).all()


def test_one_row_of_patches_has_nothing_above() -> None:
    grid = Grid(1, TOKENS - START, START, (0, 0, 1, 1))
    trace = picture_trace()
    trace = replace(trace, source=replace(trace.source, grid=grid))
    found = observe_patches(trace, "encoder")
    assert np.isnan(found.shares["up"]).all()
    assert np.isnan(found.chance["down"])
    assert found.role(0, 0) in ("", *PATCH_ROLES)


def test_of_many_patches_some_stand_for_all() -> None:
    grid = Grid(40, 40, 1, (0, 0, 1, 1))
    rows = sampled_patches(grid)
    assert (len(rows), rows[0], rows[-1]) == (256, 1, 1600)
    assert places(grid, rows, 1601)["neighbours"].sum(axis=1).max() == 8


def test_a_text_has_no_patches() -> None:
    with pytest.raises(ValueError, match="picture"):
        observe_patches(sentence_trace(), "encoder")
