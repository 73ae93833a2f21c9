"""A queue that runs visitors' fine-tuning jobs one at a time, each in its own process."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from filelock import FileLock

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import sources
from inference.settings import Settings as Machine
from training.jobs import job as jobs
from training.jobs.job import LOG, TWIN, JobStatus, State, Status, Training

COMMAND = (sys.executable, "-m", "training", "job")
ROOT = Path(__file__).resolve().parents[2]
LAST = 300  # characters of a process's last line that are shown
OUT_OF_MEMORY = gettext_lazy(
    "This training ended, probably for lack of memory. Use a smaller model or batch, or shorter texts."
)
NO_MEMORY = (
    "MemoryError",
    "can't allocate memory",
    "Cannot allocate memory",
)  # messages of Python, torch and the system
UNEXPECTED = gettext_lazy("This training ended unexpectedly.")


# The signal that kills a training immediately; on SIGTERM it saves its best weights first.
AT_ONCE = getattr(signal, "SIGKILL", signal.SIGTERM)


class TrainingProcess:
    """A fine-tuning or an atlas build that runs as a child process."""

    def __init__(self, command: tuple[str, ...], folder: Path, root: Path | None = None) -> None:
        """Start the process; ``root`` is the folder of the fine-tuned models, or None for the folder above."""
        self.folder, self.asked_to_end = folder, False
        # The child may not download: a missing model is refused. It exits if the app closes the pipe to its stdin.
        env = {**os.environ, "HF_HUB_OFFLINE": "1", "HEADLIGHT_TAUGHT": str(root or folder.parent)}
        with (folder / LOG).open("ab") as log:
            self._child = subprocess.Popen(
                [*command, str(folder)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env=env,
                # A process group of its own keeps Ctrl-C in the app's terminal from stopping it. It stays in the app's
                # session, because Linux divides the CPU equally between sessions and ignores the priority of
                # processes in different sessions (autogroup in sched(7)).
                process_group=0,
            )

    def end(self, number: signal.Signals) -> None:
        """Send a signal to the process: after SIGTERM it saves the best weights and exits; ``AT_ONCE`` kills it."""
        self.asked_to_end = True
        self._child.send_signal(number)

    def wait(self) -> int:
        """Wait for the process to end and return its exit status."""
        with self._child:  # the context manager closes the pipe
            return self._child.wait()


def is_running(pid: int, folder: Path) -> bool:
    """Return True if process ``pid`` exists and its command line names ``folder``.

    Another program can have the same process id later.
    """
    import psutil

    try:
        return pid > 0 and str(folder) in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False


def send_signal(pid: int, folder: Path, number: signal.Signals) -> None:
    """Send a signal to the process that trains in the folder, if it is running."""
    if is_running(pid, folder):
        os.kill(pid, number)


def end_state(folder: Path, status: int, asked_to_end: bool) -> tuple[State, str]:
    """Return the state and the error message of a job whose process ended without storing them.

    ``status`` is the exit status of the process. ``asked_to_end`` is True if the app sent it a signal to stop.
    """
    if asked_to_end:
        return "stopped", ""
    begun = any((folder / part / "run" / "checkpoint.pt").is_file() for part in (sources.MODEL, TWIN))
    last = last_words(folder / LOG)
    if status == -9 or any(words in last for words in NO_MEMORY):
        said = OUT_OF_MEMORY
    else:
        said = (
            gettext_lazy("{unexpected} Its last output: {last}", unexpected=UNEXPECTED, last=last)
            if last
            else UNEXPECTED
        )
    return "stopped" if begun else "failed", said


def last_words(log: Path) -> str:
    """Return the last line of a process's log, with file paths replaced by "…"; "" if there is none."""
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - 4_000))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return re.sub(r"(?:[A-Za-z]:)?(?:[/\\][\w.@+-]+){2,}", "…", last)[:LAST]


MOST_WAITING, MOST_OF_ONE = 50, 3  # jobs that may wait or run: in total, and per visitor
NO_JOB = gettext_lazy("This training or atlas was removed, or its link is incomplete.")
CUT_OFF = gettext_lazy("The app ended during this training. It can go on.")
AGAIN = 1.0  # seconds between checks of the lock that another app may hold
OLD = 3_600.0  # seconds after which an unfinished temporary folder is deleted


class TrainingQueue:
    """The queue of the jobs in a folder, which runs one job at a time. Thread-safe.

    Apps that share the folder take turns.
    """

    def __init__(
        self,
        place: Path,
        budget: int,
        machine: Machine | None = None,
        command: tuple[str, ...] = COMMAND,
    ) -> None:
        self.place, self.budget, self.command = place.absolute(), budget, command
        self.machine = machine or Machine.from_env()
        self._read: dict[str, tuple[int, Training]] = {}  # requests by id, with the modification time of their files
        self._lock = threading.RLock()
        self._current = ""  # id of the job that this queue runs
        self._process: TrainingProcess | None = None
        self._called_off = False  # the current job was stopped before its process started
        self._thread: threading.Thread | None = None
        self._tidy()
        if any(look.state == "waiting" for look in self._looks()):
            self._wake()

    def submit(self, job: Training, labels: jobs.TaskRows | None = None) -> None:
        """Add a job to the queue; ``labels`` are the visitor's own rows, None for a ready-made data set.

        Raise UserError if the queue is full, the disk is too full, or nothing can be written.
        """
        self._turn(job.owner)  # raise before anything is written
        numbers = jobs.count_parameters(job.model, job.revision, self.machine)
        made = self.place / f".new-{secrets.token_hex(8)}"
        try:
            made.mkdir(parents=True)
            jobs.check_room(self.place, numbers)
            if labels is not None:
                jobs.write_rows(labels, made / jobs.ROWS)
            jobs.write(job, made)
            with self._lock:
                jobs.set_status(made, Status("waiting", turn=self._turn(job.owner), since=time.time()))
                os.replace(made, self.place / job.id)
                self._wake()
        except OSError as error:
            raise UserError(
                gettext_lazy(
                    "The folder of fine-tuned models cannot be written. The operator can set HEADLIGHT_TAUGHT."
                )
            ) from error
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def stop(self, job_id: str) -> None:
        """Stop a job: a running job saves its best weights, a waiting job does not start; may raise UserError."""
        with self._lock:
            look = self.look(job_id)
            if look.state == "waiting":
                jobs.update_status(look.folder, "stopped")
            elif look.state == "running":
                self._end(look.folder, signal.SIGTERM)

    def go_on(self, job_id: str) -> None:
        """Put a stopped or failed job back into the queue, to resume from its checkpoint; may raise UserError."""
        with self._lock:
            look = self.look(job_id)
            if look.state in ("stopped", "failed"):
                turn = self._turn(look.job.owner)
                jobs.update_status(look.folder, "waiting", said="", turn=turn, since=time.time())
                self._wake()

    def remove(self, job_id: str) -> None:
        """Delete a job with all its files and kill its process; raise UserError if the job does not exist."""
        with self._lock:
            folder = self._folder(job_id)
            if self._in_hand(folder, jobs.status(folder)):
                self._end(folder, AT_ONCE)
            gone = self.place / f".gone-{secrets.token_hex(8)}"
            os.replace(folder, gone)
        shutil.rmtree(gone, ignore_errors=True)

    def look(self, job_id: str) -> JobStatus:
        """Return the status of a job; raise UserError if it is missing or its files cannot be read."""
        folder = self._folder(job_id)
        found = self._look(folder, jobs.read(folder))
        return replace(found, ahead=_jobs_ahead(found, self._looks())) if found.state == "waiting" else found

    def jobs_of(self, owner: str) -> tuple[JobStatus, ...]:
        """Return the jobs of a visitor, newest first."""
        own = [self._look(folder, job) for folder, job in self._jobs(owner)]
        if any(look.state == "waiting" for look in own):
            every = self._looks()
            own = [replace(look, ahead=_jobs_ahead(look, every)) for look in own]
        return tuple(sorted(own, key=lambda look: look.job.begun, reverse=True))

    def pushed_out(self, model: str, revision: str | None = None) -> tuple[JobStatus, ...]:
        """Return the jobs of all visitors that must be deleted before a model can be fine-tuned.

        May raise UserError.
        """
        return jobs.pushed_out(self._looks(), self.budget, jobs.count_parameters(model, revision, self.machine))

    def size(self, job_id: str) -> int:
        """Return the disk use of a job in bytes; raise UserError if the job does not exist."""
        return jobs.folder_size(self._folder(job_id))

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until this queue has no running or waiting job; return False if that takes over ``seconds``."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def _looks(self) -> list[JobStatus]:
        """Return the status of every readable job, in the order of the queue."""
        return _in_order(self._look(folder, job) for folder, job in self._jobs())

    def _jobs(self, owner: str | None = None) -> Iterator[tuple[Path, Training]]:
        """Yield (folder, request) of every job, or of a visitor's.

        Requests are cached until their files change, because pages ask at every rerun.
        """
        try:
            names = {entry.name for entry in os.scandir(self.place)}
        except OSError:
            return
        read = self._read = {name: found for name, found in self._read.items() if name in names}
        for name in names:
            try:
                folder = self._folder(name)
                changed = (folder / sources.JOB).stat().st_mtime_ns
                if name not in read or read[name][0] != changed:
                    read[name] = changed, jobs.read(folder)
            except (UserError, OSError):
                continue
            job = read[name][1]
            if owner in (None, job.owner):
                yield folder, job

    def _folder(self, job_id: str) -> Path:
        try:
            return sources.folder(self.place, job_id)
        except UserError as refusal:
            raise UserError(NO_JOB) from refusal

    def _look(self, folder: Path, job: Training) -> JobStatus:
        found = jobs.status(folder)
        if found.state == "running" and not self._in_hand(folder, found):
            found = replace(found, state="stopped", said=CUT_OFF)
        return JobStatus(job, found.state, found.phase, found.said, 0, folder, found.turn, found.since)

    def _in_hand(self, folder: Path, found: Status) -> bool:
        """Return True if the process of a job is running, in this app or in another."""
        return folder.name == self._current or (found.state == "running" and is_running(found.pid, folder))

    def _end(self, folder: Path, number: signal.Signals) -> None:
        if folder.name != self._current:
            send_signal(jobs.status(folder).pid, folder, number)
        elif self._process is not None:
            self._process.end(number)
        else:
            self._called_off = True

    def _turn(self, owner: str) -> int:
        """Return the turn of a visitor's next job; raise UserError if too many jobs wait.

        A visitor without jobs joins the lowest turn in the queue; each further job of a visitor has the next turn.
        """
        busy = [look for look in self._looks() if look.state in ("waiting", "running")]
        own = [look.turn for look in busy if look.job.owner == owner]
        if len(own) >= MOST_OF_ONE:
            raise UserError(
                gettext_lazy(
                    "{most} of your trainings wait or run. Wait, or stop one.",
                    most=MOST_OF_ONE,
                )
            )
        if len(busy) >= MOST_WAITING:
            raise UserError(gettext_lazy("{many} trainings wait here already. Try again later.", many=len(busy)))
        return max(own) + 1 if own else min((look.turn for look in busy), default=0)

    def _wake(self) -> None:
        """Start the worker thread unless it is running; called under the lock."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="trainings", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        """Run the waiting jobs one after another."""
        with FileLock(self.place / ".lock").acquire(poll_interval=AGAIN):
            while (folder := self._next()) is not None:
                try:
                    ended = self._run(folder)
                except UserError as refusal:
                    ended = "failed", refusal.message
                except OSError as error:
                    ended = "failed", gettext_lazy("This could not be started: {reason}.", reason=error.strerror)
                self._set_ended(folder, *ended)

    def _next(self) -> Path | None:
        """Claim the next waiting job and return its folder; return None if none waits, to end the thread."""
        with self._lock:
            look = next((look for look in self._looks() if look.state == "waiting"), None)
            if look is None:
                self._thread = None
                return None
            self._current = look.job.id
            jobs.update_status(look.folder, "running", pid=0)
            return look.folder

    def _run(self, folder: Path) -> tuple[State, str]:
        """Make room on the disk, run the job's process, and return its final state and error message."""
        job = jobs.read(folder)
        numbers = jobs.count_parameters(job.model, job.revision, self.machine)
        for look in jobs.pushed_out(self._looks(), self.budget, numbers):
            self.remove(look.job.id)
        with self._lock:
            if self._called_off:
                return "stopped", ""
            self._process = TrainingProcess(self.command, folder)
        status = self._process.wait()
        return end_state(folder, status, self._process.asked_to_end)

    def _set_ended(self, folder: Path, state: State, said: str) -> None:
        """Record the final state of a job if its process has not recorded it and the job still exists."""
        with self._lock:
            self._process, self._current, self._called_off = None, "", False
            if folder.is_dir() and jobs.status(folder).state == "running":
                jobs.update_status(folder, state, said=said)

    def _tidy(self) -> None:
        """Delete temporary folders that an interrupted app left behind."""
        for folder in [*self.place.glob(".new-*"), *self.place.glob(".gone-*")]:
            if time.time() - folder.lstat().st_mtime > OLD:
                shutil.rmtree(folder, ignore_errors=True)


def _in_order(looks: Iterable[JobStatus]) -> list[JobStatus]:
    """Sort jobs: running, then waiting in the order of their turns, then the rest."""
    states = {"running": 0, "waiting": 1}
    return sorted(looks, key=lambda look: (states.get(look.state, 2), look.turn, look.since))


def _jobs_ahead(look: JobStatus, every: Iterable[JobStatus]) -> int:
    """Return the number of jobs ahead of a waiting job."""
    ids = [one.job.id for one in every if one.state in ("running", "waiting")]
    return ids.index(look.job.id) if look.state == "waiting" and look.job.id in ids else 0
