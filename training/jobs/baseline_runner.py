"""Rivals that are trained while a visitor watches: one at a time, each a process of its own that takes a minute.

The same ask gives the same network, so whoever asks for what was trained already is shown it at once.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from i18n import gettext_lazy
from inference.errors import UserError
from training.jobs import baseline_runs, process
from training.jobs.baseline_runs import BaselineRequest, Points, RecordedRuns
from training.jobs.job import LOG
from training.jobs.process import TrainingProcess

COMMAND = (sys.executable, "-m", "training", baseline_runs.NAME)
LONGEST = 300.0  # seconds after which a run is ended, however far it is
MOST_STEPS, MOST_SEED = 2_000, 999  # that a visitor may ask for
MOST_KEPT = 100  # runs, of a few kilobytes each
BUSY = gettext_lazy("Another network is being trained here; that takes a minute or two. Try again then.")
FULL = gettext_lazy(
    "As many networks were trained here as are kept until the app starts anew. The recorded runs are all here."
)
TOO_LONG = gettext_lazy(
    "It was ended after {longest:.0f} seconds: this machine is too busy now. Try again later, or fewer steps.",
    longest=LONGEST,
)
State = Literal["unasked", "running", "stopped", "failed", "done"]


@dataclass(frozen=True)
class BaselineStatus:
    """How an ask stands: the losses so far, what was found once it is done, and the sentence of a failure."""

    state: State
    losses: Points = ()
    found: RecordedRuns | None = None
    said: str = ""


class BaselineRunner:
    """The runs of one app, in a folder that goes with it. Safe to use from many threads."""

    def __init__(self, command: tuple[str, ...] = COMMAND, longest: float = LONGEST) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="headlight-rivals-"))
        weakref.finalize(self, shutil.rmtree, self._home, ignore_errors=True)
        self._command, self._longest = command, longest
        self._lock = threading.Lock()
        self._current: tuple[BaselineRequest, TrainingProcess] | None = None
        self._thread: threading.Thread | None = None
        self._ends: dict[BaselineRequest, tuple[State, str]] = {}

    def start(self, ask: BaselineRequest) -> None:
        """Begins a run that is not there yet; raises Refusal while another goes on."""
        folder = self._folder(ask)
        with self._lock:
            if self._current is not None:
                if self._current[0] == ask:
                    return
                raise UserError(BUSY)
            if self._ends.get(ask, ("unasked", ""))[0] == "done":
                return
            if ask not in self._ends and len(self._ends) >= MOST_KEPT:
                raise UserError(FULL)
            try:
                folder.mkdir(exist_ok=True)
                (folder / baseline_runs.PROGRESS).unlink(missing_ok=True)
                child = TrainingProcess((*self._command, *options(ask), "--out"), folder)
            except OSError as error:
                raise UserError(gettext_lazy("This run could not begin: {reason}.", reason=error.strerror)) from error
            self._current = ask, child
            self._thread = threading.Thread(target=self._see_to_its_end, args=(ask, child), name="rivals", daemon=True)
            self._thread.start()

    def stop(self, ask: BaselineRequest) -> None:
        """Ends a run; nothing of it is kept."""
        with self._lock:
            if self._current is not None and self._current[0] == ask:
                self._current[1].end(signal.SIGTERM)

    def look(self, ask: BaselineRequest) -> BaselineStatus:
        """How an ask stands now."""
        with self._lock:
            running = self._current is not None and self._current[0] == ask
            state, said = self._ends.get(ask, ("unasked", ""))
        if running:
            return BaselineStatus("running", losses(self._folder(ask) / baseline_runs.PROGRESS))
        if state == "done":
            return BaselineStatus(state, found=baseline_runs.read(self._folder(ask) / baseline_runs.FILE))
        return BaselineStatus(state, said=said)

    def wait(self) -> None:
        """Waits until nothing runs here."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _folder(self, ask: BaselineRequest) -> Path:
        return self._home / ask.name

    def _see_to_its_end(self, ask: BaselineRequest, child: TrainingProcess) -> None:
        """Waits until a run has ended, and ends it where it takes too long."""
        begun = time.monotonic()  # before the timer: whom that ends has taken at least so long
        late = threading.Timer(self._longest, child.end, (process.AT_ONCE,))
        late.daemon = True
        late.start()
        status = child.wait()
        late.cancel()
        if status == 0 and (self._folder(ask) / baseline_runs.FILE).is_file():
            ended: tuple[State, str] = "done", ""
        elif time.monotonic() - begun >= self._longest:
            ended = "failed", TOO_LONG
        elif child.asked_to_end:
            ended = "stopped", ""
        else:
            last = process.last_words(self._folder(ask) / LOG)
            ended = (
                "failed",
                gettext_lazy("{unexpected} The last that it said: {last}", unexpected=process.UNEXPECTED, last=last)
                if last
                else process.UNEXPECTED,
            )
        with self._lock:
            self._ends[ask], self._current = ended, None


def options(ask: BaselineRequest) -> tuple[str, ...]:
    """An ask as the command line has it.

    >>> " ".join(options(BaselineRequest("copying", "lstm", seed=3)))
    '--task copying --model lstm --off nothing --seed 3 --steps 800'
    """
    given = {"task": ask.task, "model": ask.model, "off": ask.off or "nothing", "seed": ask.seed, "steps": ask.steps}
    return tuple(word for name, value in given.items() for word in (f"--{name}", str(value)))


def losses(file: Path) -> Points:
    """Steps and losses so far, without a line that is half written."""
    try:
        lines = file.read_text(encoding="utf-8").split("\n")[:-1]
    except OSError:
        return ()
    return tuple((int(step), float(loss)) for step, loss in map(json.loads, lines))
