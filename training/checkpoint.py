"""Everything a run needs to go on as if nothing had happened, in one file that is replaced whole."""

from __future__ import annotations

import os
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn import Module

from inference.errors import Refusal
from training.schedule import Plan, Schedule


@dataclass
class Progress:
    """How far a run has come."""

    schedule: Schedule
    step: int = 0
    pieces: int = 0  # read so far, padding left out
    seconds: float = 0.0  # of training, over all parts of the run
    metrics_bytes: int = 0  # length of metrics.jsonl, so that a resumed run writes no line twice


def save(file: Path, model: Module, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
    """Writes model, optimiser, random state and progress; a crash leaves the old file."""
    schedule = progress.schedule
    state: dict[str, Any] = {
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "random": torch.get_rng_state(),
        "warm_up": schedule.warm_up,
        "plans": [list(astuple(plan)) for plan in schedule.plans],
        "progress": [progress.step, progress.pieces, progress.seconds, progress.metrics_bytes],
    }
    partial = file.with_suffix(".partial")
    torch.save(state, partial)
    os.replace(partial, file)


def load(file: Path, model: Module, optimiser: torch.optim.Optimizer | None = None) -> Progress:
    """Puts a checkpoint's state back and says how far it had come; weights alone where no optimiser is given."""
    state = torch.load(file, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    if optimiser is not None:
        optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
    schedule = Schedule(state["warm_up"], tuple(Plan(*plan) for plan in state["plans"]))
    return Progress(schedule, *state["progress"])


def finished(run: Path, command: str) -> Path:
    """The checkpoint of a run's folder; raises Refusal where there is none, naming the command that makes one."""
    saved = run / "checkpoint.pt"
    if not saved.exists():
        raise Refusal(f"{run} holds no checkpoint. Train first: python -m training {command} CONFIG")
    return saved
