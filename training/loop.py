"""The training loop that all recipes share, with its checkpoints and its precision."""

from __future__ import annotations

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from types import FrameType
from typing import Any, ClassVar
from zipfile import is_zipfile

import torch
from torch.nn import Module
from transformers import PreTrainedModel

from inference.errors import UserError
from training import curves, schedule
from training.config import Loop, OptimizerTable
from training.curves import Metrics
from training.schedule import Schedule, set_rate


@dataclass(frozen=True)
class Precision:
    """The device of a training run, and the number format of its matrix products: bfloat16 or float32.

    Weights and the state of the optimiser are always float32.
    """

    device: torch.device
    bf16: bool

    def autocast(self) -> AbstractContextManager[None]:
        """Return a context manager in which matrix products use bfloat16, if ``bf16`` is set."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16)


def precision(name: str) -> Precision:
    """Return the device to train on, and the number format that ``name`` selects.

    The device is a GPU if there is one. ``name`` is "bf16", "fp32" or "auto" (bfloat16 if the hardware supports it).
    Raise UserError for any other name.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("auto", "bf16", "fp32"):
        raise UserError(f'The precision is "{name}". It can be "auto", "bf16" or "fp32".')
    return Precision(device, name == "bf16" or (name == "auto" and _multiplies_bf16(device)))


def _multiplies_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.cpu._is_avx512_bf16_supported())  # every processor with AMX has it too  # noqa: SLF001  # torch has no public function for this


# Exceptions that incomplete or damaged checkpoints are known to raise.
BROKEN = (OSError, EOFError, RuntimeError, LookupError, TypeError, ValueError, AttributeError, UnpicklingError)


@dataclass
class RunProgress:
    """The progress of a run: step, tokens and seconds so far, and the learning-rate schedule."""

    schedule: Schedule
    step: int = 0
    pieces: int = 0  # tokens read so far, without padding
    seconds: float = 0.0  # training time over all calls of the run
    metrics_bytes: int = 0  # length of metrics.jsonl, to which a resumed run truncates the file


def save(file: Path, model: Module, optimiser: torch.optim.Optimizer, progress: RunProgress) -> None:
    """Save model, optimiser, random state and progress in a checkpoint that replaces ``file`` atomically."""
    state: dict[str, Any] = {
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "random": torch.get_rng_state(),
        **schedule.to_json(progress.schedule),
        "progress": [progress.step, progress.pieces, progress.seconds, progress.metrics_bytes],
    }
    partial = file.with_suffix(".partial")
    torch.save(state, partial)
    os.replace(partial, file)


def load(file: Path, model: Module, optimiser: torch.optim.Optimizer | None = None) -> RunProgress:
    """Load a checkpoint into the model and, if given, the optimiser; return the run's progress.

    The optimiser keeps its configured learning rates, weight decay and betas. With it, the random state is restored,
    too. Raise UserError if the file is damaged or contains a model of another size.
    """
    try:
        if not is_zipfile(file):  # torch.save writes zip files; torch.load would also accept older formats
            raise UnpicklingError("no archive")
        state = torch.load(file, map_location="cpu", weights_only=True)
        weights, gathered, random = state["model"], state["optimiser"]["state"], state["random"]
        progress = RunProgress(schedule.read(state), *state["progress"])
    except BROKEN as error:
        raise UserError(
            f"{file} is damaged. Put a copy in its place, or remove it: the run then starts anew."
        ) from error
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise UserError(
            f"{file} holds a model of another size than the configuration asks for. Set it back, or name another run."
        ) from error
    if optimiser is not None:
        optimiser.load_state_dict({"state": gathered, "param_groups": optimiser.state_dict()["param_groups"]})
        torch.set_rng_state(random)
    return progress


def finished_checkpoint(run: Path, command: str) -> Path:
    """Return the path of a run's checkpoint; if there is none, raise UserError, which names ``command``."""
    saved = run / "checkpoint.pt"
    if not saved.exists():
        raise UserError(f"{run} holds no checkpoint. Train first: python -m training {command} CONFIG")
    return saved


PACE_STEPS = 50  # steps whose time is measured before the number of steps is fitted to a time limit


@dataclass(frozen=True)
class RunBudget:
    """Limits of a call of ``train``, and changes of the learning-rate schedule; None means none."""

    stop_after: float | None = None  # minutes after which the run stops and can be resumed
    finish_in: float | None = None  # minutes until the learning rate reaches 0; replanned at checkpoints and half-way
    raise_to: float | None = None  # share of the peak learning rate from which a finished run continues
    at_most: int | None = None  # the largest last step under a time limit
    stop_at: int | None = None  # the step after which the run stops and can be resumed


TO_THE_END = RunBudget()


@dataclass(frozen=True)
class StepResult:
    """The result of a batch: the total loss, the losses to log, and the number of tokens."""

    loss: torch.Tensor  # () the total loss, for the backward pass
    parts: torch.Tensor  # (part,) the losses to log, in the order of the recipe's PARTS
    pieces: int  # tokens without padding


@dataclass(kw_only=True)
class Run(ABC):
    """A training run that is ready for its next step; subclasses define its loss and its evaluation."""

    PARTS: ClassVar[tuple[str, ...]]  # names of the logged losses

    folder: Path  # contains the checkpoint and the metrics
    loop: Loop
    learning: OptimizerTable
    model: PreTrainedModel
    optimiser: torch.optim.AdamW
    precision: Precision
    progress: RunProgress
    metrics: Metrics
    sums: torch.Tensor = field(init=False)  # (part,) losses summed since the last logged line
    summed: int = 0  # number of steps in ``sums``

    def __post_init__(self) -> None:
        self.sums = torch.zeros(len(self.PARTS))

    @abstractmethod
    def learn(self) -> StepResult:
        """Return the loss of the next batch, from which the caller computes gradients; the caller enables autocast."""

    @abstractmethod
    def assess(self) -> None:
        """Evaluate the model on held-out text and log the results."""

    def settings(self) -> dict[str, float]:
        """Return the settings that change during the run, to be logged with each step."""
        return {}


def train(run: Run, stint: RunBudget) -> None:
    """Train a run until its last step, or until the budget ``stint`` is used up.

    Raise UserError if the budget changes the schedule (by ``raise_to`` or ``finish_in``) in a way that is impossible at
    the current step.
    """
    if stint.raise_to is not None:
        _raise(run, stint.raise_to)
    elif stint.finish_in is not None and run.progress.step >= run.progress.schedule.last:
        raise UserError(
            f"The run ended at step {run.progress.step}, so --finish-in asks nothing: add --raise-to SHARE."
        )
    with _stop_signals() as stopped:
        _steps(run, stopped, stint)


def _steps(run: Run, stopped: list[bool], stint: RunBudget) -> None:
    """Train until the last step, the end of the budget or a stop signal."""
    settings, progress = run.loop, run.progress
    began = saved = time.monotonic()
    before, first = progress.seconds, progress.step
    half = min(first + PACE_STEPS, _half(first, progress.schedule.last))
    if progress.step == 0:
        run.assess()
    while progress.step < progress.schedule.last:
        step(run)
        now = time.monotonic()
        progress.seconds = before + now - began
        if progress.step % settings.log_steps == 0:
            _log(run)
        if progress.step % settings.evaluate_steps == 0:
            run.assess()
        due = now - saved > settings.checkpoint_minutes * 60
        # A plan is too short if the machine was briefly busy. Replan half-way, while the learning rate is above 0.
        if stint.finish_in is not None and (due or half <= progress.step) and progress.step < progress.schedule.last:
            left = stint.finish_in * 60 - (now - began)
            _plan(run, left, (now - began) / (progress.step - first), stint.at_most)
            half = _half(progress.step, progress.schedule.last)
        over = progress.step == stint.stop_at or (stint.stop_after is not None and now - began > stint.stop_after * 60)
        if due or over or stopped:
            _save(run)
            saved = now
        if over or stopped:
            run.metrics.note(f"stopped at step {progress.step} of {progress.schedule.last}")
            return
    _save(run)
    if not _is_evaluated(run):
        run.assess()
        _save(run)  # otherwise the next call would truncate metrics.jsonl before this evaluation
    run.metrics.note(f"finished at step {progress.step}")


def step(run: Run) -> None:
    """Compute the gradients of the next batch and update the weights."""
    progress = run.progress
    with run.precision.autocast():
        learned = run.learn()
    learned.loss.backward()
    torch.nn.utils.clip_grad_norm_(run.model.parameters(), run.learning.clip, foreach=True)
    set_rate(run.optimiser, progress.schedule.share(progress.step))
    run.optimiser.step()
    run.optimiser.zero_grad(set_to_none=True)
    run.sums += learned.parts.detach().cpu()
    run.summed += 1
    progress.step += 1
    progress.pieces += learned.pieces


def log_position(progress: RunProgress) -> dict[str, float]:
    """Return the step, tokens and seconds so far, for a line of metrics.jsonl."""
    return {"step": progress.step, "pieces": progress.pieces, "seconds": round(progress.seconds, 1)}


def _is_evaluated(run: Run) -> bool:
    """Return True if the log contains an evaluation of the current step."""
    return any(row["step"] == run.progress.step for row in curves.lines(run.metrics.file, "evaluation"))


def _log(run: Run) -> None:
    progress = run.progress
    losses = dict(zip(run.PARTS, (run.sums / run.summed).tolist(), strict=True))
    run.sums.zero_()
    run.summed = 0
    run.metrics.write(
        "step",
        **log_position(progress),
        **{name: round(loss, 6) for name, loss in losses.items()},
        share=round(progress.schedule.share(progress.step - 1), 4),
        **run.settings(),
    )


def _raise(run: Run, share: float) -> None:
    """Extend a finished run to the configuration's last step, from ``share`` of the peak learning rate.

    Raise UserError if the run is not finished, the configuration has no further steps, or ``share`` is not above 0
    and at most 1.
    """
    progress, last = run.progress, run.learning.steps
    if not 0 < share <= 1:
        raise UserError(f"The rate cannot be raised to {share:g} of its highest; say a share above 0, at most 1.")
    if progress.step < progress.schedule.last:
        raise UserError(
            f"The run is at step {progress.step} of {progress.schedule.last}; leave --raise-to out to go on."
        )
    if last <= progress.step:
        raise UserError(f"The run ended at step {progress.step}; give [optimiser] steps a number above it first.")
    progress.schedule = progress.schedule.replan(progress.step, last, share)
    run.metrics.write("plan", step=progress.step, last=last, share=share)
    run.metrics.note(f"raised at step {progress.step} to {share:g} of the highest rate: last step {last}")


def _plan(run: Run, seconds: float, pace: float, most: int | None) -> None:
    """Replan the last step for the remaining ``seconds`` at ``pace`` seconds per step.

    The last step is at most ``most``, but after the current step.
    """
    progress = run.progress
    fit = round(seconds / pace)
    last = progress.step + max(1, fit if most is None else min(fit, most - progress.step))
    if last == progress.schedule.last:
        return
    progress.schedule = progress.schedule.replan(progress.step, last)
    run.metrics.write("plan", step=progress.step, last=progress.schedule.last, seconds_a_step=round(pace, 3))
    run.metrics.note(f"planned at step {progress.step}: last step {progress.schedule.last}, {pace:.2f} s a step")


def _half(step: int, last: int) -> int:
    """Return the step half-way from ``step`` to ``last``, rounded up."""
    return (step + last + 1) // 2


def _save(run: Run) -> None:
    run.progress.metrics_bytes = run.metrics.size
    save(run.folder / "checkpoint.pt", run.model, run.optimiser, run.progress)


@contextmanager
def _stop_signals() -> Iterator[list[bool]]:
    """Yield a list that becomes non-empty after SIGINT or SIGTERM, so that the current step can finish."""
    asked: list[bool] = []

    def note(_number: int, _frame: FrameType | None) -> None:
        asked.append(True)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
