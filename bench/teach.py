"""Fine-tuning by the real command within a time limit on two idle cores, with scores on test rows.

Run `python -m bench teach [ROW ...] [--seeds 0 1 2]`; rows are keys of TASKS, by default all. Each run is a separate
process with the command's defaults except for model, minutes and seed; its output is printed to the terminal. The CPU
time is that of the complete command, including start, baseline, training, evaluations, test and saving.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import ReportRow
from inference.files import extras, sources
from inference.files.extras import E5
from inference.request import EMBEDDED
from inference.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
LATE = 1.05  # factor on the time limit, because the current step is completed


@dataclass(frozen=True)
class BenchTask:
    """A task to measure: data set, command, initial model, time limit in minutes, and goal.

    The goal is a value of at least ``bar`` in the measure ``measure``.
    """

    set: str
    command: str
    measure: str
    bar: float
    minutes: float
    model: str = EMBEDDED


TASKS = {
    "snips": BenchTask("snips-intents", "classify", "accuracy", 0.97, 1),
    "polarity": BenchTask("sentence-polarity", "classify", "accuracy", 0.81, 3),
    "sib-en": BenchTask("sib-200-en", "classify", "accuracy", 0.87, 2),
    "sib-zh": BenchTask("sib-200-zh", "classify", "accuracy", 0.85, 4, E5.name),
    "wnut": BenchTask("wnut-17", "tag", "f1", 0.45, 4),
    "uner-zh": BenchTask("uner-zh", "tag", "f1", 0.60, 10, E5.name),
}
NAMED = {"accuracy": "accuracy", "f1": "F1 of names"}


def measure(*names: str, seeds: Sequence[int] = (0,)) -> Iterator[ReportRow]:
    """Fine-tune a model for each task and seed, and yield a row with its score on the test rows.

    ``names`` are keys of TASKS; raise ValueError if a task is unknown.
    """
    unknown = [name for name in names if name not in TASKS]
    if unknown:
        raise ValueError(f"There is no row {unknown[0]!r}; there are {', '.join(TASKS)}.")
    for name in names or TASKS:
        task = TASKS[name]
        if not sources.is_local(task.model, None, Settings.from_env()):
            yield ReportRow(
                _describe_task(task), _bar(task), "skipped", None, f"{task.model} is not installed here: make extra"
            )
            continue
        if (extra := extras.find_extra(task.model)) is not None:
            extra.folder(Settings.from_env())  # unpack the model before the measured time
        for seed in seeds:
            try:
                yield _row(task, seed, *_run_training(task, seed))
            except subprocess.CalledProcessError:  # the other tasks still run
                yield ReportRow(
                    _describe_task(task),
                    _bar(task),
                    f"broke off with seed {seed}",
                    False,
                    "it said why on the terminal",
                )


def _run_training(task: BenchTask, seed: int) -> tuple[dict[str, Any], float, float]:
    """Run the command; return its scores, CPU seconds and wall seconds."""
    with tempfile.TemporaryDirectory() as name:
        scores = Path(name) / "scores.json"
        command = [sys.executable, "-m", "training", task.command, task.set, "--model", task.model]
        command += ["--minutes", str(task.minutes), "--seed", str(seed)]
        command += ["--out", str(Path(name) / "model"), "--json", str(scores)]
        before, began = os.times(), time.perf_counter()
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        subprocess.run(command, cwd=ROOT, env=environment, stdout=sys.stderr, check=True)
        after, wall = os.times(), time.perf_counter() - began
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        return json.loads(scores.read_text(encoding="utf-8")), spent, wall


def _row(task: BenchTask, seed: int, found: dict[str, Any], spent: float, wall: float) -> ReportRow:
    """Return the row of a run.

    >>> found = {"test": {"accuracy": 0.9749, "baseline_accuracy": 0.983}, "seconds": 59.8, "steps": 240}
    >>> _row(TASKS["snips"], 0, found, 61.2, 75.0).cells()[1:4]
    ['≥ 97 % in 1 min', '97.5 % in 60 s', 'pass']
    """
    score, seconds = found["test"][task.measure], found["seconds"]
    baseline = found["test"].get(f"baseline_{task.measure}")
    counted = "no baseline" if baseline is None else f"counting words {_format_score(task, baseline)}"
    note = f"{counted}; {found['steps']} steps; the whole command {wall:.0f} s, processor {spent:.0f} s"
    reached = score >= task.bar and seconds <= 60 * task.minutes * LATE
    return ReportRow(
        f"{_describe_task(task)}, seed {seed}",
        _bar(task),
        f"{_format_score(task, score)} in {seconds:.0f} s",
        reached,
        note,
    )


def _describe_task(task: BenchTask) -> str:
    return f"{task.set}, {task.model}: {NAMED[task.measure]} on test"


def _bar(task: BenchTask) -> str:
    wanted = f"{task.bar:.0%}".replace("%", " %") if task.measure == "accuracy" else f"{task.bar:.2f}"
    return f"≥ {wanted} in {task.minutes:g} min"


def _format_score(task: BenchTask, score: float) -> str:
    return f"{100 * score:.1f} %" if task.measure == "accuracy" else f"{score:.3f}"
