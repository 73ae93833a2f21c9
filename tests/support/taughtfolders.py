"""Trainings as folders that the queue reads, at any point of their way and without a training.

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
    """The place of this process's trainings, where none is begun; what is said to run there counts as running."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_TAUGHT", str(place))
        patch.setattr(queue, "is_running", lambda _pid, _folder: True)
        patch.setattr(TrainingQueue, "_wake", lambda _queue: None)
        services.get_backend.cache_clear()
        yield place
    services.get_backend.cache_clear()


def put(  # noqa: PLR0913  (all that a training may be)
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
    """A training that stands so, with these lines in its curves; ``asked`` is what its job says beside the usual."""
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
    """What a training says before its first step."""
    return {"kind": "plan", "step": 0, "last": last}


def step(at: int, loss: float) -> Line:
    """What it says of some steps; each takes a second."""
    return {"kind": "step", "step": at, "pieces": 10 * at, "seconds": float(at), "loss": loss, "share": 0.5}


def evaluation(at: int, only: str | None = None, **scores: float) -> Line:
    """What it says of the dev rows."""
    return {"kind": "evaluation", "step": at, "pieces": 10 * at, "seconds": float(at), "loss": 1.0, **scores,
            "best": True, "only": only}  # fmt: skip
