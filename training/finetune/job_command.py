"""The command `python -m training job FOLDER`: what a visitor asked for, in phases that each can go on."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from inference.errors import UserError
from inference.files import sources
from inference.settings import Settings as Machine
from probing import fine_tuning_changes
from training.finetune.data import LabeledTask, task
from training.finetune.settings import FinetuneSettings
from training.jobs import job as jobs
from training.jobs import rows
from training.jobs.job import Phase, Training

NICE = 10  # pages answer first
GRACE = 30.0  # seconds to save in, once the app is gone


@dataclass(frozen=True)
class JobContext:
    """A job as its phases need it."""

    job: Training
    task: LabeledTask
    folder: Path
    machine: Machine

    @property
    def settings(self) -> FinetuneSettings:
        """How it is taught, with which state of the model it starts from."""
        return replace(self.job.settings, revision=self.job.revision)


def run(folder: Path) -> None:
    """Goes through the phases that are left, and writes into the folder how it stands; raises Refusal."""
    folder = folder.absolute()
    job = jobs.read(folder)
    _lower_priority()
    _end_with_parent()
    phase = jobs.status(folder).phase
    begin = [name for name, _ in PHASES].index(phase)
    try:
        jobs.update_status(folder, "running", phase=phase, pid=os.getpid())
        asked = JobContext(job, _task(job, folder), folder, Machine.from_env())
        for phase, take in PHASES[begin:]:
            jobs.update_status(folder, "running", phase=phase, pid=os.getpid())
            if not take(asked):
                jobs.update_status(folder, "stopped")
                return
        jobs.update_status(folder, "done")
    except KeyboardInterrupt:  # before or after the training itself, which knows what to do
        jobs.update_status(folder, "stopped")
    except UserError as refusal:
        jobs.update_status(folder, "failed", said=refusal.message)
        raise


def _teach(asked: JobContext) -> bool:
    """The training itself; whether it came to its end."""
    from training.finetune.command import fine_tune

    job, folder = asked.job, asked.folder / sources.MODEL
    if (folder / sources.SCORES).is_file() and not (folder / "run" / "checkpoint.pt").exists():
        return True  # it came to its end before, and the process to another one
    found = fine_tune(asked.task, job.model, asked.settings, folder, asked.machine)
    return bool(found["finished"])


def _train_control(asked: JobContext) -> bool:
    """The same training on shuffled labels, twice."""
    from training.finetune.control import teach_twins

    folder, taught_in = asked.folder / jobs.TWIN, asked.folder / sources.MODEL
    return teach_twins(asked.task, asked.job.model, asked.settings, folder, asked.machine, taught_in)


def _changes(asked: JobContext) -> bool:
    """What the trainings did to the heads; the twins' weights are needed for that alone."""
    from training.finetune.control import compare, places

    folder, twins = asked.folder, asked.folder / jobs.TWIN
    if not fine_tuning_changes.is_complete(folder / jobs.CHANGES):
        both = folder / sources.MODEL, twins
        compare(asked.task, asked.job.model, asked.settings, *both, folder / jobs.CHANGES, asked.machine)
    for place in places(twins):
        shutil.rmtree(place, ignore_errors=True)
    return True


# Each tells whether it came to its end; one that was stopped goes on when it is called again.
PHASES: tuple[tuple[Phase, Callable[[JobContext], bool]], ...] = (
    ("teach", _teach),
    ("twin", _train_control),
    ("changes", _changes),
)


def _task(job: Training, folder: Path) -> LabeledTask:
    """The labelled texts that were asked for: a ready set, or the visitor's own rows."""
    if job.data:
        return replace(task(job.kind, job.data, None, None, job.settings.seed), called=job.slug)
    return LabeledTask(rows.read(folder / jobs.ROWS), job.source or "rows of one's own", called=job.slug)


def _lower_priority() -> None:
    """Pages answer before this process does anything; asked to stop, it says so as a Ctrl-C does."""
    if hasattr(os, "nice"):
        os.nice(NICE)

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


def _end_with_parent() -> None:
    """Stops when the pipe that this process reads from is closed: the app that holds its other end is gone then."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os._exit(1)

    if stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=watch, name="parent", daemon=True).start()
