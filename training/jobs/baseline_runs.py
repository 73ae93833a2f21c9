"""Runs of attention and its rivals as pages know them: what can be asked, what a run found, the file of those recorded.

The runs themselves are `training/rivals/`, a process of its own: this needs no torch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

NAME = "rivals"  # of the command
MODELS = ("lstm", "convolution", "transformer")
TASKS = ("copying", "recall", "order", "parity")
PARTS = ("heads", "positions", "residuals", "scaling", "norm")  # of the Transformer, that can be switched off
KERNEL, APART = 3, (1, 2, 4)  # what each convolution sees of the past: KERNEL places, so many apart
REACH = 1 + (KERNEL - 1) * sum(APART)  # places that the convolutional network sees: its own and those before it
STEPS = 800
LAYERS, DEEP = 2, 6  # of a Transformer; and of the deep one that is recorded too
DEEP_TASK, DEEP_STEPS = "recall", 400  # what that is trained on
SEEDS = (0, 1, 2)  # of the recorded runs
TRAINED = 16  # the longest distance that is trained on
DISTANCES = (4, 8, 12, 16, 20, 24, 28, 32, 48, 64)  # those tested, where a task has them
LOOKED_BACK = 24  # the distance of the texts whose gradient is taken
LENGTHS = (16, 32, 64, 128, 256)  # of texts whose time is taken, in tokens
FILE, PROGRESS = "rivals.json", "progress.jsonl"  # in a run's folder: what was found; the losses as it goes
DIGITS = 3  # of a recorded number that is no share

Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class BaselineRequest:
    """One network, to be trained once. ``off`` names the part of it that is switched off, or is ""."""

    task: str
    model: str
    off: str = ""
    seed: int = 0
    steps: int = STEPS
    layers: int = LAYERS  # of a Transformer

    @property
    def name(self) -> str:
        """What tells it from other runs, as a file's name.

        >>> BaselineRequest("copying", "transformer", "norm", 2).name
        'copying-transformer-norm-2-800'
        """
        deep = f"{self.layers}layers" if self.layers != LAYERS else ""
        return "-".join(filter(None, (self.task, self.model, deep, self.off, str(self.seed), str(self.steps))))


@dataclass(frozen=True)
class BaselineRun(BaselineRequest):
    """What came of it.

    ``before`` and ``after`` training: the norm of the gradient of the last answer's score with respect to the token's
    vector so many places back, beginning with the last token's own.
    """

    numbers: int = 0  # that it learns
    seconds: float = 0.0  # of the processor, for the training alone
    chance: float = 0.0  # how often a guess is right
    losses: Points = ()  # step and the loss of its texts, in nats
    accuracy: Points = ()  # distance and the share answered rightly
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()


@dataclass(frozen=True)
class RecordedRuns:
    """Runs, and for each network the milliseconds that a step takes with texts of so many tokens."""

    runs: tuple[BaselineRun, ...]
    times: Mapping[str, Points]

    def runs_of(self, task: str, model: str, off: str = "", layers: int = LAYERS) -> tuple[BaselineRun, ...]:
        """The runs of one network on one task, by seed."""
        asked = (task, model, off, layers)
        found = (run for run in self.runs if (run.task, run.model, run.off, run.layers) == asked)
        return tuple(sorted(found, key=lambda run: run.seed))


def run_of(values: Mapping[str, Any]) -> BaselineRun:
    """A run as JSON has it."""
    points = {name: tuple((int(at), float(number)) for at, number in values[name]) for name in ("losses", "accuracy")}
    rows = {name: tuple(float(number) for number in values[name]) for name in ("before", "after")}
    return BaselineRun(**{**values, **points, **rows})


def read(file: Path) -> RecordedRuns:
    """The runs of a file, and the times."""
    values = json.loads(file.read_text(encoding="utf-8"))
    times = {model: tuple((int(n), float(ms)) for n, ms in points) for model, points in values["times"].items()}
    return RecordedRuns(tuple(run_of(run) for run in values["runs"]), times)


def write(runs: Iterable[BaselineRun], times: Mapping[str, Points], file: Path) -> None:
    """Runs in the order of their names, one a line, and the times."""
    lines = [json.dumps(asdict(run), separators=(",", ":")) for run in sorted(runs, key=lambda run: run.name)]
    text = ",\n".join(lines)
    file.write_text(f'{{"times":{json.dumps(times)},\n"runs":[\n{text}\n]}}\n', encoding="utf-8")
