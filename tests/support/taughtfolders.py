"""Folders of training jobs in any state, written for the queue without a training.

with taught_in(tmp_path) as place:
    job = put(place, state="stopped", lines=[step(40, 0.7), evaluation(40, accuracy=0.9)])
    page = asked("teach", job=job.id)
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from inference.files import sources
from inference.files.checkpoint import WEIGHTS
from training.jobs import job as jobs
from training.jobs import queue
from training.jobs.job import PREDICTIONS, TWIN, Phase, State, Status, Training
from training.jobs.queue import TrainingQueue
from ui.run import services

Line = Mapping[str, Any]


@contextmanager
def taught_in(place: Path) -> Iterator[Path]:
    """Use ``place`` for this process's training jobs.

    No job starts, and every job whose status is "running" counts as running.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_TAUGHT", str(place))
        patch.setattr(queue, "is_running", lambda _pid, _folder: True)
        patch.setattr(TrainingQueue, "_wake", lambda _queue: None)
        services.get_backend.cache_clear()
        yield place
    services.get_backend.cache_clear()


def put(  # noqa: PLR0913  (a training has many properties)
    place: Path,
    state: State = "running",
    phase: Phase = "teach",
    said: str = "",
    lines: Sequence[Line] = (),
    twin: Sequence[Line] = (),
    *,
    saved: bool = False,
    **asked: Any,
) -> Training:
    """Write a job in this state, with these lines in its learning curves.

    ``asked`` overrides fields of the job.
    """
    usual = {"owner": "", "title": "Toys · <b>tiny</b>", "kind": "classify", "model": jobs.CHARACTERS}
    job = jobs.new_job(**{**usual, "data": "sib-200-en", **asked})
    folder = place / job.id
    for part, its in ((sources.MODEL, lines), (TWIN, twin)):
        (folder / part / "run").mkdir(parents=True)
        (folder / part / "run" / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in its))
    jobs.write(job, folder)
    jobs.set_status(folder, Status(state, phase, said, since=time.time(), pid=1))
    for name in (WEIGHTS, sources.SCORES, PREDICTIONS) if saved else ():
        (folder / sources.MODEL / name).write_bytes(b"")
    return job


def plan(last: int) -> Line:
    """Return the line that a training logs before its first step."""
    return {"kind": "plan", "step": 0, "last": last}


def step(at: int, loss: float) -> Line:
    """Return the line that a training logs after some steps, a second for each."""
    return {"kind": "step", "step": at, "pieces": 10 * at, "seconds": float(at), "loss": loss, "share": 0.5}


def evaluation(at: int, only: str | None = None, **scores: float) -> Line:
    """Return the line that a training logs after an evaluation of the dev rows."""
    return {"kind": "evaluation", "step": at, "pieces": 10 * at, "seconds": float(at), "loss": 1.0, **scores,
            "best": True, "only": only}  # fmt: skip
