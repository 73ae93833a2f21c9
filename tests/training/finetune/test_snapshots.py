"""Training snapshots, which do not affect training and survive an interruption."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from attention.mask import FloatArray
from tests.support.labelledtexts import FAST, machine, tagged, task
from tests.support.pausing import stopping
from training.finetune import snapshots
from training.finetune.command import fine_tune

FILMED = replace(FAST, filmed=True)


def filmed(folder: Path, out: str, **changes: Any) -> dict[str, FloatArray]:
    name, where = machine(folder)
    fine_tune(task(tagged()), name, replace(FILMED, **changes), folder / out, where)
    found = snapshots.load_snapshots(folder / out / "run" / "film")
    assert found is not None
    return found


@pytest.mark.slow
def test_a_model_that_is_filmed_learns_the_same_bits(tmp_path: Path) -> None:
    filmed(tmp_path, "seen")
    name, where = machine(tmp_path)
    fine_tune(task(tagged()), name, FAST, tmp_path / "unseen", where)
    seen, unseen = (load_file(tmp_path / out / "model.safetensors") for out in ("seen", "unseen"))
    assert all(torch.equal(seen[name], unseen[name]) for name in unseen)
    assert snapshots.load_snapshots(tmp_path / "unseen" / "run" / "film") is None


@pytest.mark.slow
def test_it_begins_with_nothing_moved(tmp_path: Path) -> None:
    found = filmed(tmp_path, "out", steps=40)
    assert found["step"].tolist() == list(range(0, 41, 4))
    assert found["all"].shape == found["telling"].shape == (11, 8, 2, 3)
    assert not found["all"][0].any()
    assert found["all"][-1].mean() > found["all"][1].mean() > 0


@pytest.mark.slow
def test_one_that_was_cut_off_goes_on_with_the_same_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = filmed(tmp_path, "whole")
    pauses = stopping(monkeypatch, signal.SIGINT)
    pauses += [3]
    filmed(tmp_path, "parts")
    later = (
        tmp_path / "parts" / "run" / "film" / f"00000007{snapshots.SUFFIX}"
    )  # This snapshot belongs to a lost checkpoint.
    later.write_bytes(b"")
    pauses += [6]
    assert filmed(tmp_path, "parts")["step"].tolist() == list(range(8))
    parts = filmed(tmp_path, "parts")
    for name, array in whole.items():
        np.testing.assert_array_equal(array, parts[name])
