"""Recorded runs of the baselines: completeness, size, and round trips."""

from __future__ import annotations

from pathlib import Path

from tests.support.repository import ROOT
from training.jobs import baseline_runs
from training.jobs.baseline_runs import DEEP_STEPS, DISTANCES, LAYERS, LENGTHS, MODELS, SEEDS, STEPS, TASKS

FILE = ROOT / "assets" / "rivals" / baseline_runs.FILE


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    recorded = baseline_runs.read(FILE)
    baseline_runs.write(recorded.runs, recorded.times, tmp_path / "again.json")
    assert baseline_runs.read(tmp_path / "again.json") == recorded


def test_every_run_is_whole() -> None:
    recorded = baseline_runs.read(FILE)
    assert FILE.stat().st_size < 150_000
    for run in recorded.runs:
        assert run.steps == run.losses[-1][0] == (STEPS if run.layers == LAYERS else DEEP_STEPS)
        assert [distance for distance, _ in run.accuracy] == [one for one in DISTANCES if one >= run.accuracy[0][0]]
        assert all(0 <= share <= 1 for _, share in run.accuracy)
        assert all(number >= 0 for number in (*run.before, *run.after))
    assert {run.seed for run in recorded.runs_of(TASKS[0], MODELS[0])} == set(SEEDS)
    assert set(recorded.times) == set(MODELS)
    assert {tuple(n for n, _ in points) for points in recorded.times.values()} == {LENGTHS}
