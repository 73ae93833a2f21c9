"""A queue of training jobs that train nothing: each reports its start, then ends as its job's title asks.

Further functions write the files of a finished training.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from safetensors.numpy import load_file, save_file

from inference.files import sources
from inference.files.checkpoint import WEIGHTS
from inference.settings import Settings as Machine
from tests.support import tinymodels
from training.jobs.job import CHARACTERS, PREDICTIONS, JobStatus, Status, Training, new_job, set_status, write
from training.jobs.queue import TrainingQueue

# A job with the title "waits" ends when the queue stops it or when the app's process has ended.
CHILD = """
import json, os, signal, sys
begun, folder = sys.argv[1:]
said = json.load(open(folder + "/job.json"))
def stand(state):
    found = json.load(open(folder + "/status.json")) | {"state": state, "pid": os.getpid()}
    with open(folder + "/status.new", "w") as file:
        json.dump(found, file)
    os.replace(folder + "/status.new", folder + "/status.json")
stand("running")
with open(begun, "w") as file:
    file.write(said["id"])
open(begun + ".heard").close()  # till then no other begins, which would be heard with this one
if said["title"] == "waits":
    os.read(0, 1)
elif said["title"] == "dies":
    print("Traceback of\\n  /somewhere/deep/file.py\\nOddError: no /somewhere/deep/file.py")
    sys.exit(3)
elif said["title"] == "takes too much":
    print("RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")
    sys.exit(1)
elif said["title"] == "is killed":
    os.kill(os.getpid(), signal.SIGKILL)
else:
    stand("done")
"""


@dataclass(frozen=True)
class Trainings:
    """A queue in a folder, and a named pipe through which its processes report their start."""

    queue: TrainingQueue
    pipe: Path

    def submit(self, title: str, owner: str = "ann") -> Training:
        """Add a job with this title to the queue."""
        job = of(title, owner)
        self.queue.submit(job)
        return job

    def begun(self) -> str:
        """Return the id of the next job that starts. Both sides of the pipe block until the other is ready."""
        found = self.pipe.read_text(encoding="utf-8")
        self.pipe.with_suffix(".heard").write_bytes(b"")
        return found

    def ended(self, job: Training) -> JobStatus:
        """Wait until no job runs or waits; return the status of ``job``."""
        assert self.queue.wait(60)
        return self.queue.look(job.id)


def of(title: str, owner: str = "ann") -> Training:
    """Return a job that needs no model file."""
    return new_job(owner, title, "classify", model=CHARACTERS, data="sib-200-en")


@contextmanager
def trainings(folder: Path, budget: int = 10**9) -> Iterator[Trainings]:
    """Yield a queue in ``folder``; remove all jobs at the end."""
    pipe, script = folder / "begun", folder / "child.py"
    if not pipe.exists():
        os.mkfifo(pipe)
        os.mkfifo(pipe.with_suffix(".heard"))
        script.write_text(CHILD, encoding="utf-8")
    command = (sys.executable, "-S", "-E", str(script), str(pipe))
    queue = TrainingQueue(folder / "taught", budget, Machine(offline=True), command)
    try:
        yield Trainings(queue, pipe)
    finally:
        for place in queue.place.glob("*/job.json"):
            if not place.parent.is_symlink():
                queue.remove(place.parent.name)
        assert queue.wait(60)


def kept(place: Path, owner: str = "ann", title: str = "Film reviews · <b>BERT</b>", **changes: object) -> Training:
    """Write the files of a finished job in ``place``; its model is a tiny BERT with ``changes``."""
    job = of(title, owner)
    folder = place / job.id
    tinymodels.save(folder / sources.MODEL, "bert", **changes)
    (folder / sources.MODEL / sources.SCORES).write_text("{}", encoding="utf-8")
    (folder / sources.MODEL / PREDICTIONS).write_text('{"text": "a fine film"}\n', encoding="utf-8")
    write(job, folder)
    set_status(folder, Status("done", "changes"))
    return job


def learn_on(folder: Path) -> None:
    """Change a job's weights and the time of its scores, as a job that continues does."""
    weights, scores = folder / sources.MODEL / WEIGHTS, folder / sources.MODEL / sources.SCORES
    save_file({name: value * 1.5 for name, value in load_file(weights).items()}, weights, {"format": "pt"})
    later = scores.stat().st_mtime_ns + 10**9
    os.utime(scores, ns=(later, later))
