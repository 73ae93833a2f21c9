"""Eviction of saved trainings: the oldest first, no more than necessary, and none in use."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from inference.errors import UserError
from inference.settings import Settings as Machine
from tests.support.labelledtexts import machine
from tests.support.trainings import of
from training.jobs import job
from training.jobs.job import CHARACTERS, JobStatus, State

COMING = 500_000
NEEDED = job.SAVED * COMING + job.BESIDE


def look_at(place: Path, day: int, size: int, state: State = "done", model: str = CHARACTERS) -> JobStatus:
    """Return a training of ``size`` bytes that began on day ``day`` of January."""
    job = replace(of("x"), begun=f"2026-01-{day:02}", model=model)
    folder = place / job.id
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "weights").write_bytes(b"0" * size)
    return JobStatus(job, state, "teach", "", 0, folder)


def test_the_oldest_go_and_no_more_than_needed(tmp_path: Path) -> None:
    drawn = random.Random(0)
    looks = [look_at(tmp_path, day, drawn.randrange(1, 2_000)) for day in range(1, 21)]
    sizes = [job.folder_size(look.folder) for look in looks]
    shuffled = drawn.sample(looks, len(looks))
    for room in (0, 1, 3_000, 9_000, sum(sizes) - 1, sum(sizes)):
        gone = job.pushed_out(shuffled, NEEDED + room, COMING)
        assert list(gone) == looks[: len(gone)]
        left = sum(sizes[len(gone) :])
        assert left <= room
        assert not gone or left + sizes[len(gone) - 1] > room


def test_what_waits_or_runs_stays_and_what_is_learned_on_from(tmp_path: Path) -> None:
    start = look_at(tmp_path, 1, 100)
    waits, runs = look_at(tmp_path, 2, 100, "waiting"), look_at(tmp_path, 3, 100, "running", start.job.name)
    old = [look_at(tmp_path, 4, 100, "stopped"), look_at(tmp_path, 5, 100, "failed"), look_at(tmp_path, 6, 100)]
    assert job.pushed_out([start, waits, runs, *old], 0, COMING) == tuple(old)


def test_small_ones_are_not_kept_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "MOST_KEPT", 3)
    looks = [look_at(tmp_path, day, 1) for day in range(1, 6)]
    assert job.pushed_out(looks, 10**12, COMING) == tuple(looks[:2])


def test_a_full_disk_is_told_before(tmp_path: Path) -> None:
    job.check_room(tmp_path, 1)
    with pytest.raises(UserError, match=r"180,000,005 MB .*; [0-9,]+ MB"):
        job.check_room(tmp_path, 10**13)


def test_a_models_numbers_are_counted_without_opening_it(tmp_path: Path) -> None:
    name, where = machine(tmp_path)
    from transformers import AutoModel

    assert job.count_parameters(name, None, where) == AutoModel.from_pretrained(name).num_parameters()
    assert job.count_parameters(CHARACTERS, None, Machine()) == job.FROM_NOTHING
    with pytest.raises(UserError):
        job.count_parameters("some/model", None, Machine(offline=True, cache=tmp_path))
