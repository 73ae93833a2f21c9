"""The training loop that every recipe shares, with its checkpoints and its precision."""

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
    """A device, and whether its matrix products are in bfloat16; weights and optimiser stay float32."""

    device: torch.device
    bf16: bool

    def autocast(self) -> AbstractContextManager[None]:
        """Products in bfloat16 where that was chosen."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16)


def precision(name: str) -> Precision:
    """A GPU if there is one; "bf16", "fp32", or "auto": bfloat16 where the device multiplies it in hardware."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("auto", "bf16", "fp32"):
        raise UserError(f'The precision is "{name}". It can be "auto", "bf16" or "fp32".')
    return Precision(device, name == "bf16" or (name == "auto" and _multiplies_bf16(device)))


def _multiplies_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.cpu._is_avx512_bf16_supported())  # so does every processor with AMX  # noqa: SLF001  # torch asks the processor nowhere else


# What a file that is no whole checkpoint is known to raise while it is read.
BROKEN = (OSError, EOFError, RuntimeError, LookupError, TypeError, ValueError, AttributeError, UnpicklingError)


@dataclass
class RunProgress:
    """How far a run has come."""

    schedule: Schedule
    step: int = 0
    pieces: int = 0  # read so far, padding left out
    seconds: float = 0.0  # of training, over all parts of the run
    metrics_bytes: int = 0  # length of metrics.jsonl, so that a resumed run writes no line twice


def save(file: Path, model: Module, optimiser: torch.optim.Optimizer, progress: RunProgress) -> None:
    """Writes model, optimiser, random state and progress; a crash leaves the old file."""
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
    """Puts a checkpoint's state back and says how far it had come; weights alone where no optimiser is given.

    What the optimiser has gathered is the checkpoint's; its rates, decay and betas stay as the configuration says.
    Raises Refusal where the file is damaged or holds a model of another size.
    """
    try:
        if not is_zipfile(file):  # what torch.save writes; torch would guess at other forms
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
    """The checkpoint of a run's folder; raises Refusal where there is none, naming the command that makes one."""
    saved = run / "checkpoint.pt"
    if not saved.exists():
        raise UserError(f"{run} holds no checkpoint. Train first: python -m training {command} CONFIG")
    return saved


PACE_STEPS = 50  # steps measured before the first plan by the clock, where the plan before has so many


@dataclass(frozen=True)
class RunBudget:
    """What one call asks of a run beside its configuration; None asks nothing."""

    stop_after: float | None = None  # minutes; then it stops, to be resumed
    finish_in: float | None = None  # minutes; the rate comes to 0 then, planned anew at checkpoints and half-way
    raise_to: float | None = None  # a finished run goes on, from this share of its highest rate
    at_most: int | None = None  # the last step that a plan by the clock may name, however much time is left
    stop_at: int | None = None  # the step after which it stops, to be resumed


TO_THE_END = RunBudget()


@dataclass(frozen=True)
class StepResult:
    """What one batch taught."""

    loss: torch.Tensor  # () what the gradients are of
    parts: torch.Tensor  # (part,) what is logged, in the order of the recipe's PARTS
    pieces: int  # read, padding left out


@dataclass(kw_only=True)
class Run(ABC):
    """A run that is ready to take its next step. A recipe says what a batch teaches and how the model is assessed."""

    PARTS: ClassVar[tuple[str, ...]]  # names of the losses that are logged

    folder: Path  # where checkpoint and metrics are
    loop: Loop
    learning: OptimizerTable
    model: PreTrainedModel
    optimiser: torch.optim.AdamW
    precision: Precision
    progress: RunProgress
    metrics: Metrics
    sums: torch.Tensor = field(init=False)  # of the losses since the last line
    summed: int = 0  # steps that they are of

    def __post_init__(self) -> None:
        self.sums = torch.zeros(len(self.PARTS))

    @abstractmethod
    def learn(self) -> StepResult:
        """Reads the batch of the next step; called under autocast."""

    @abstractmethod
    def assess(self) -> None:
        """Evaluates on held-out text and writes down what was found."""

    def settings(self) -> dict[str, float]:
        """What else a step's line says, such as a setting that changes on the way."""
        return {}


def train(run: Run, stint: RunBudget) -> None:
    """Takes steps until the last, or as the stint says; raises Refusal where there is nothing to finish or raise."""
    if stint.raise_to is not None:
        _raise(run, stint.raise_to)
    elif stint.finish_in is not None and run.progress.step >= run.progress.schedule.last:
        raise UserError(
            f"The run ended at step {run.progress.step}, so --finish-in asks nothing: add --raise-to SHARE."
        )
    with _stop_signals() as stopped:
        _steps(run, stopped, stint)


def _steps(run: Run, stopped: list[bool], stint: RunBudget) -> None:
    """Takes steps until the last, or until the run is stopped."""
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
        # A machine that was busy for a moment makes a short plan: half-way there is still a rate to go on with.
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
        _save(run)  # the next call cuts metrics.jsonl back to what the checkpoint knows of
    run.metrics.note(f"finished at step {progress.step}")


def step(run: Run) -> None:
    """Reads one batch and learns from it."""
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
    """Where a line of metrics.jsonl was written."""
    return {"step": progress.step, "pieces": progress.pieces, "seconds": round(progress.seconds, 1)}


def _is_evaluated(run: Run) -> bool:
    """Whether the model was evaluated as it is now."""
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
    """Plans steps after the last one, up to the configuration's, from that share of the highest rate."""
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
    """Plans the last step for the seconds that are left, at the pace measured, in seconds a step; ``most`` at most."""
    progress = run.progress
    fit = round(seconds / pace)
    last = progress.step + max(1, fit if most is None else min(fit, most - progress.step))
    if last == progress.schedule.last:
        return
    progress.schedule = progress.schedule.replan(progress.step, last)
    run.metrics.write("plan", step=progress.step, last=progress.schedule.last, seconds_a_step=round(pace, 3))
    run.metrics.note(f"planned at step {progress.step}: last step {progress.schedule.last}, {pace:.2f} s a step")


def _half(step: int, last: int) -> int:
    """The step half-way to the last, which is the last one itself where that is the next."""
    return (step + last + 1) // 2


def _save(run: Run) -> None:
    run.progress.metrics_bytes = run.metrics.size
    save(run.folder / "checkpoint.pt", run.model, run.optimiser, run.progress)


@contextmanager
def _stop_signals() -> Iterator[list[bool]]:
    """A list that is no longer empty once the process was asked to stop; the step under way is finished first."""
    asked: list[bool] = []

    def note(_number: int, _frame: FrameType | None) -> None:
        asked.append(True)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
