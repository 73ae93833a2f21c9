"""Everything a run needs to go on as if nothing had happened, in one file that is replaced whole."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import is_zipfile

import torch
from torch.nn import Module

from inference.errors import UserError
from training import schedule
from training.schedule import Schedule

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
