"""Runs of a Transformer and its baselines (LSTM, CNN) that pages start and whose progress they show."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from attention.mask import FloatArray
from i18n import gettext_lazy
from inference.errors import UserError
from training.jobs import queue
from training.jobs.job import LOG
from training.jobs.queue import TrainingProcess

NAME = "rivals"  # name of the subcommand
MODELS = ("lstm", "convolution", "transformer")
TASKS = ("copying", "recall", "order", "parity")
PARTS = ("heads", "positions", "residuals", "scaling", "norm")  # parts of the Transformer that can be ablated
KERNEL, APART = 3, (1, 2, 4)  # kernel size, and the dilation of each layer
REACH = 1 + (KERNEL - 1) * sum(APART)  # receptive field of the CNN in positions, including the current position
STEPS = 800
LAYERS, DEEP = 2, 6  # layers of the Transformer, and of the deeper Transformer that is also recorded
DEEP_TASK, DEEP_STEPS = "recall", 400  # task and steps of the deeper Transformer
SEEDS = (0, 1, 2)  # seeds of the recorded runs
TRAINED = 16  # the longest distance in the training texts
DISTANCES = (4, 8, 12, 16, 20, 24, 28, 32, 48, 64)  # distances in the test texts; each task has a minimum
LOOKED_BACK = 24  # distance of the texts for the gradient norms
LENGTHS = (16, 32, 64, 128, 256)  # tokens of the texts for the time measurements
FILE, PROGRESS = "rivals.json", "progress.jsonl"  # files in a run's folder: the result, and the losses during training
RECORDED = Path(__file__).resolve().parents[2] / "assets" / "rivals" / FILE  # shipped runs
DIGITS = 3  # significant digits of recorded gradient norms and times

Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class BaselineRequest:
    """A request to train a network on a task. ``off`` is the part to ablate in a Transformer, or ""."""

    task: str
    model: str
    off: str = ""
    seed: int = 0
    steps: int = STEPS
    layers: int = LAYERS  # layers of a Transformer

    @property
    def name(self) -> str:
        """Return a file name that identifies the run.

        >>> BaselineRequest("copying", "transformer", "norm", 2).name
        'copying-transformer-norm-2-800'
        """
        deep = f"{self.layers}layers" if self.layers != LAYERS else ""
        return "-".join(filter(None, (self.task, self.model, deep, self.off, str(self.seed), str(self.steps))))


@dataclass(frozen=True)
class BaselineRun(BaselineRequest):
    """The result of training a network on a task.

    ``before`` and ``after`` are the norms of the gradient of the last position's logit with respect to each token
    embedding, before and after training. The last token's norm comes first.
    """

    numbers: int = 0  # number of parameters
    seconds: float = 0.0  # CPU time of the training
    chance: float = 0.0  # accuracy of a random guess
    losses: Points = ()  # (step, loss in nats)
    accuracy: Points = ()  # (distance, accuracy between 0 and 1)
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()


@dataclass(frozen=True)
class RecordedRuns:
    """Finished runs; ``times`` has pairs (number of tokens, milliseconds per step) for each network."""

    runs: tuple[BaselineRun, ...]
    times: Mapping[str, Points]

    def runs_of(self, task: str, model: str, off: str = "", layers: int = LAYERS) -> tuple[BaselineRun, ...]:
        """Return the runs of a network on a task, sorted by seed."""
        asked = (task, model, off, layers)
        found = (run for run in self.runs if (run.task, run.model, run.off, run.layers) == asked)
        return tuple(sorted(found, key=lambda run: run.seed))


def shares(runs: Sequence[BaselineRun]) -> FloatArray:
    """Return the accuracies (0 to 1) of runs with different seeds, shape (seed, distance).

    A distance is the number of positions between the tokens that depend on each other.
    """
    return np.array([[share for _, share in run.accuracy] for run in runs])


def mean_shares(runs: Sequence[BaselineRun]) -> tuple[FloatArray, FloatArray]:
    """Return the mean accuracy of each run at the distances of the training and at longer distances.

    Both arrays have the shape (seed,).
    """
    trained = np.array([distance <= TRAINED for distance, _ in runs[0].accuracy])
    values = shares(runs)
    return values[:, trained].mean(axis=1), values[:, ~trained].mean(axis=1)


def gradient_norms(runs: Sequence[BaselineRun], when: str) -> FloatArray:
    """Return the gradient norms of runs with different seeds, shape (seed, tokens back from the last).

    ``when`` is "before" or "after", for the untrained or the trained network. The first norm is that of the last token,
    the second that of the token before it, and so on.
    """
    return np.array([run.before if when == "before" else run.after for run in runs])


def run_of(values: Mapping[str, Any]) -> BaselineRun:
    """Return a run from its values in a JSON file."""
    points = {name: tuple((int(at), float(number)) for at, number in values[name]) for name in ("losses", "accuracy")}
    rows = {name: tuple(float(number) for number in values[name]) for name in ("before", "after")}
    return BaselineRun(**{**values, **points, **rows})


def read(file: Path = RECORDED) -> RecordedRuns:
    """Read runs and times from a JSON file, by default the runs that are shipped with the app."""
    values = json.loads(file.read_text(encoding="utf-8"))
    times = {model: tuple((int(n), float(ms)) for n, ms in points) for model, points in values["times"].items()}
    return RecordedRuns(tuple(run_of(run) for run in values["runs"]), times)


def write(runs: Iterable[BaselineRun], times: Mapping[str, Points], file: Path) -> None:
    """Write runs and times to a JSON file, with a line for each run, sorted by name."""
    lines = [json.dumps(asdict(run), separators=(",", ":")) for run in sorted(runs, key=lambda run: run.name)]
    text = ",\n".join(lines)
    file.write_text(f'{{"times":{json.dumps(times)},\n"runs":[\n{text}\n]}}\n', encoding="utf-8")


COMMAND = (sys.executable, "-m", "training", NAME)
LONGEST = 300.0  # seconds after which a run is killed
MOST_STEPS, MOST_SEED = 2_000, 999  # limits of a visitor's request
MOST_KEPT = 100  # kept runs, of a few kilobytes each
BUSY = gettext_lazy("Another network is training. Try again in some minutes.")
FULL = gettext_lazy("No more networks can be trained until a restart.")
TOO_LONG = gettext_lazy(
    "Ended after {longest:.0f} seconds: this machine is busy. Try later, or use fewer steps.",
    longest=LONGEST,
)
State = Literal["unasked", "running", "stopped", "failed", "done"]


@dataclass(frozen=True)
class BaselineStatus:
    """The state of a requested run: its losses so far, its result if it is done, or its error message."""

    state: State
    losses: Points = ()
    found: RecordedRuns | None = None
    said: str = ""


class BaselineRunner:
    """The training processes of baseline runs that an app starts, one at a time. Thread-safe.

    Results are in a temporary folder, which is deleted with this object.
    """

    def __init__(self, command: tuple[str, ...] = COMMAND, longest: float = LONGEST) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="headlight-rivals-"))
        weakref.finalize(self, shutil.rmtree, self._home, ignore_errors=True)
        self._command, self._longest = command, longest
        self._lock = threading.Lock()
        self._current: tuple[BaselineRequest, TrainingProcess] | None = None
        self._thread: threading.Thread | None = None
        self._ends: dict[BaselineRequest, tuple[State, str]] = {}

    def start(self, ask: BaselineRequest) -> None:
        """Start a run unless it is running or done.

        Raise UserError if another run is in progress or the process cannot start.
        """
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
                (folder / PROGRESS).unlink(missing_ok=True)
                child = TrainingProcess((*self._command, *options(ask), "--out"), folder)
            except OSError as error:
                raise UserError(gettext_lazy("This could not be started: {reason}.", reason=error.strerror)) from error
            self._current = ask, child
            self._thread = threading.Thread(target=self._see_to_its_end, args=(ask, child), name="rivals", daemon=True)
            self._thread.start()

    def stop(self, ask: BaselineRequest) -> None:
        """Stop a run if it is in progress; its result is lost."""
        with self._lock:
            if self._current is not None and self._current[0] == ask:
                self._current[1].end(signal.SIGTERM)

    def look(self, ask: BaselineRequest) -> BaselineStatus:
        """Return the status of a requested run."""
        with self._lock:
            running = self._current is not None and self._current[0] == ask
            state, said = self._ends.get(ask, ("unasked", ""))
        if running:
            return BaselineStatus("running", losses(self._folder(ask) / PROGRESS))
        if state == "done":
            return BaselineStatus(state, found=read(self._folder(ask) / FILE))
        return BaselineStatus(state, said=said)

    def wait(self) -> None:
        """Block until no run is in progress."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _folder(self, ask: BaselineRequest) -> Path:
        return self._home / ask.name

    def _see_to_its_end(self, ask: BaselineRequest, child: TrainingProcess) -> None:
        """Wait for a run to end, kill it after the time limit, and record its final state."""
        begun = time.monotonic()  # started before the timer, so that a killed run has taken at least the limit
        late = threading.Timer(self._longest, child.end, (queue.AT_ONCE,))
        late.daemon = True
        late.start()
        status = child.wait()
        late.cancel()
        if status == 0 and (self._folder(ask) / FILE).is_file():
            ended: tuple[State, str] = "done", ""
        elif time.monotonic() - begun >= self._longest:
            ended = "failed", TOO_LONG
        elif child.asked_to_end:
            ended = "stopped", ""
        else:
            last = queue.last_words(self._folder(ask) / LOG)
            ended = (
                "failed",
                gettext_lazy("{unexpected} Its last output: {last}", unexpected=queue.UNEXPECTED, last=last)
                if last
                else queue.UNEXPECTED,
            )
        with self._lock:
            self._ends[ask], self._current = ended, None


def options(ask: BaselineRequest) -> tuple[str, ...]:
    """Return a request as options of the command `python -m training rivals`.

    >>> " ".join(options(BaselineRequest("copying", "lstm", seed=3)))
    '--task copying --model lstm --off nothing --seed 3 --steps 800'
    """
    given = {"task": ask.task, "model": ask.model, "off": ask.off or "nothing", "seed": ask.seed, "steps": ask.steps}
    return tuple(word for name, value in given.items() for word in (f"--{name}", str(value)))


def losses(file: Path) -> Points:
    """Return the (step, loss) pairs that a run has written so far, ignoring an incomplete last line.

    The result is empty if the file is missing.
    """
    try:
        lines = file.read_text(encoding="utf-8").split("\n")[:-1]
    except OSError:
        return ()
    return tuple((int(step), float(loss)) for step, loss in map(json.loads, lines))
