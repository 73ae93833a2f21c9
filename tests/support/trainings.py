"""A queue of trainings whose processes learn nothing: each says that it begins, then ends as its job's title says."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from inference.settings import Settings as Machine
from training.jobs.job import CHARACTERS, Job, Look, asked
from training.jobs.queue import Queue

# "waits" ends when it is asked to, or when the app is gone.
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
if said["title"] == "waits":
    os.read(0, 1)
elif said["title"] == "dies":
    print("Traceback of\\n  /somewhere/deep/file.py\\nOddError: no more")
    sys.exit(3)
elif said["title"] == "is killed":
    os.kill(os.getpid(), signal.SIGKILL)
else:
    stand("done")
"""


@dataclass(frozen=True)
class Trainings:
    """A queue in a folder, and a pipe through which its processes say that they begin."""

    queue: Queue
    pipe: Path

    def submit(self, title: str, owner: str = "ann") -> Job:
        """A job of that title in the queue."""
        job = of(title, owner)
        self.queue.submit(job)
        return job

    def begun(self) -> str:
        """The id of the job that begins next; waits for it."""
        return self.pipe.read_text(encoding="utf-8")

    def ended(self, job: Job) -> Look:
        """How a job stands once nothing runs or waits any more."""
        assert self.queue.wait(60)
        return self.queue.look(job.id)


def of(title: str, owner: str = "ann") -> Job:
    """A job that needs no model's file."""
    return asked(owner, title, "classify", model=CHARACTERS, data="sib-200-en")


@contextmanager
def trainings(folder: Path, budget: int = 10**9) -> Iterator[Trainings]:
    """A queue in that folder; what still runs or waits in the end is removed."""
    pipe, script = folder / "begun", folder / "child.py"
    if not pipe.exists():
        os.mkfifo(pipe)
        script.write_text(CHILD, encoding="utf-8")
    command = (sys.executable, "-S", "-E", str(script), str(pipe))
    queue = Queue(folder / "taught", budget, Machine(offline=True), command)
    try:
        yield Trainings(queue, pipe)
    finally:
        for place in queue.place.glob("*/job.json"):
            if not place.parent.is_symlink():
                queue.remove(place.parent.name)
        assert queue.wait(60)
