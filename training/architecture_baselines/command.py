"""The command `python -m training rivals`, which trains the Transformer and its baselines and measures them."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from inference.errors import UserError
from training.config import Count
from training.jobs import baseline_runs
from training.jobs.baseline_runs import LAYERS, MODELS, NAME, PARTS, SEEDS, STEPS, TASKS, BaselineRequest

NUMBERS = {"steps": Count, "layers": Count}  # allowed ranges of numeric options
WHAT = "train attention and its rivals on small tasks, and record how they learn"


def add(commands: Any) -> None:
    """Add the command `rivals` to the argument parser."""
    command = commands.add_parser(NAME, help=WHAT, description=f"{WHAT}. What is left out of the choices means all.")
    command.add_argument("--task", choices=TASKS, action="append", help="may be given more than once")
    command.add_argument("--model", choices=MODELS, action="append", help="may be given more than once")
    command.add_argument("--off", choices=("nothing", *PARTS), action="append", help="of the Transformer, switched off")
    command.add_argument(
        "--seed", type=int, action="append", dest="seeds", metavar="SEED", help=f"may be given more than once {SEEDS}"
    )
    command.add_argument("--steps", type=int, default=STEPS, help="of each run (%(default)s)")
    command.add_argument("--layers", type=int, default=LAYERS, help="of a Transformer (%(default)s)")
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="runs that lie there are not rerun")


def run(asked: argparse.Namespace) -> None:
    """Train the requested networks that have no stored result, and write the results of all runs to a file.

    The file also contains the milliseconds per step of each network. Raise UserError if the output folder cannot be
    written.
    """
    import torch

    from training.architecture_baselines.training import times

    torch.set_num_threads(1)  # the matrices are too small for a second thread to help
    try:
        (asked.out / "runs").mkdir(parents=True, exist_ok=True)
        for one in requested_runs(asked):
            _run(one, asked.out)
        runs = [baseline_runs.run_of(json.loads(file.read_text())) for file in (asked.out / "runs").glob("*.json")]
        baseline_runs.write(runs, times(), asked.out / baseline_runs.FILE)
    except OSError as error:
        raise UserError(f"--out {asked.out}: {error.strerror}. Name a folder that can be written.") from error


def requested_runs(asked: argparse.Namespace) -> Iterator[BaselineRequest]:
    """Yield a run for each combination of the options, with all runs of the first seed first.

    Combinations that ablate a part or change the number of layers are left out for the LSTM and the CNN.
    """
    for seed, off, task, model in product(
        asked.seeds or SEEDS, asked.off or ("nothing", *PARTS), asked.task or TASKS, asked.model or MODELS
    ):
        if (off == "nothing" and asked.layers == LAYERS) or model == "transformer":
            yield BaselineRequest(task, model, "" if off == "nothing" else off, seed, asked.steps, asked.layers)


def _run(one: BaselineRequest, folder: Path) -> None:
    from training.architecture_baselines import training

    file = folder / "runs" / f"{one.name}.json"
    if file.exists():
        return
    with (folder / baseline_runs.PROGRESS).open("w", encoding="utf-8") as stream:

        def report_step(step: int, loss: float) -> None:
            stream.write(f"{json.dumps([step, loss])}\n")
            stream.flush()

        found = training.run(one, report_step)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(asdict(found)), encoding="utf-8")
    os.replace(part, file)
    right = ", ".join(f"{distance}: {share:.2f}" for distance, share in found.accuracy)
    print(f"{found.name}  {found.seconds} s  right at distance {right}", flush=True)
