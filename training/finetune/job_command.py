"""The command `python -m training job FOLDER`, which runs a visitor's fine-tuning job in resumable phases.

The phases are fine-tuning, training of shuffled-label controls, and a comparison of the model with these controls.
"""

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
from probing.labelled import ready_sets
from probing.labelled.squad import QuestionSet
from training.finetune.data import LabeledTask, task
from training.finetune.settings import FinetuneSettings
from training.jobs import job as jobs
from training.jobs.job import Phase, Training

NICE = 10  # the pages' process has priority
GRACE = 30.0  # seconds to save the weights after the app has ended


@dataclass(frozen=True)
class JobContext:
    """A visitor's fine-tuning job, with its data, its folder and the settings of the machine."""

    job: Training
    task: LabeledTask | QuestionSet
    folder: Path
    machine: Machine

    @property
    def labelled_task(self) -> LabeledTask:
        """Return the labelled texts, which only the phases after fine-tuning need; raise TypeError for questions."""
        if isinstance(self.task, QuestionSet):
            raise TypeError("questions have no labels")
        return self.task

    @property
    def settings(self) -> FinetuneSettings:
        """Return the fine-tuning settings, including the revision of the initial model."""
        return replace(self.job.settings, revision=self.job.revision)


def run(folder: Path) -> None:
    """Run the remaining phases of the job in a folder, and write its status there; may raise UserError."""
    folder = folder.absolute()
    job = jobs.read(folder)
    lower_priority()
    end_with_parent()
    phase = jobs.status(folder).phase
    phases = PHASES[:1] if job.kind == "answer" else PHASES  # no controls: an answer is no label to shuffle
    begin = [name for name, _ in PHASES].index(phase)
    try:
        jobs.update_status(folder, "running", phase=phase, pid=os.getpid())
        asked = JobContext(job, _task(job, folder), folder, Machine.from_env())
        for phase, take in phases[begin:]:
            jobs.update_status(folder, "running", phase=phase, pid=os.getpid())
            if not take(asked):
                jobs.update_status(folder, "stopped")
                return
        jobs.update_status(folder, "done")
    except KeyboardInterrupt:  # the training loop handles signals itself; this one came before or after it
        jobs.update_status(folder, "stopped")
    except UserError as refusal:
        jobs.update_status(folder, "failed", said=refusal.message)
        raise


def _teach(asked: JobContext) -> bool:
    """Fine-tune the model; return False if the training was stopped."""
    from training.finetune.answer_command import teach_answers
    from training.finetune.command import fine_tune

    job, folder = asked.job, asked.folder / sources.MODEL
    if (folder / sources.SCORES).is_file() and not (folder / "run" / "checkpoint.pt").exists():
        return True  # the training finished in an earlier process, which was interrupted in a later phase
    if isinstance(asked.task, QuestionSet):
        found = teach_answers(asked.task, job.model, asked.settings, folder, asked.machine)
    else:
        found = fine_tune(asked.task, job.model, asked.settings, folder, asked.machine)
    return bool(found["finished"])


def _train_control(asked: JobContext) -> bool:
    """Train the shuffled-label controls; return False if a training was stopped."""
    from training.finetune.control import teach_twins

    folder, taught_in = asked.folder / jobs.TWIN, asked.folder / sources.MODEL
    return teach_twins(asked.labelled_task, asked.job.model, asked.settings, folder, asked.machine, taught_in)


def _changes(asked: JobContext) -> bool:
    """Compare the heads before and after training, then delete the controls' weights, and return True."""
    from training.finetune.control import compare, places

    folder, twins = asked.folder, asked.folder / jobs.TWIN
    if not fine_tuning_changes.is_complete(folder / jobs.CHANGES):
        both = folder / sources.MODEL, twins
        compare(asked.labelled_task, asked.job.model, asked.settings, *both, folder / jobs.CHANGES, asked.machine)
    for place in places(twins):
        shutil.rmtree(place, ignore_errors=True)
    return True


# Each phase returns False if it was stopped, and resumes if it is called again.
PHASES: tuple[tuple[Phase, Callable[[JobContext], bool]], ...] = (
    ("teach", _teach),
    ("twin", _train_control),
    ("changes", _changes),
)


def _task(job: Training, folder: Path) -> LabeledTask | QuestionSet:
    """Load the labelled texts or questions of a job: a ready-made data set, or the visitor's own rows."""
    if job.kind == "answer" and job.data:
        return replace(ready_sets.load_questions(job.settings.seed), called=job.slug)
    if job.data:
        return replace(
            task("tag" if job.kind == "tag" else "classify", job.data, None, None, job.settings.seed), called=job.slug
        )
    rows, source = jobs.read_rows(folder / jobs.ROWS), job.source or "rows of one's own"
    if rows.kind != job.kind:
        raise UserError(jobs.UNREADABLE)
    if isinstance(rows, QuestionSet):
        return replace(rows, name=source, called=job.slug)
    return LabeledTask(rows, source, called=job.slug)


def lower_priority() -> None:
    """Lower the CPU priority of this process, and make SIGTERM raise KeyboardInterrupt."""
    if hasattr(os, "nice"):
        os.nice(NICE)

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


def end_with_parent() -> None:
    """Start a thread that stops this process if the app ends and its pipe to standard input closes."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os._exit(1)

    if stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=watch, name="parent", daemon=True).start()
