"""How a model is taught, and what is found where nothing is said: measured on small encoders (docs/LOG.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from probing.labelled.labeled_texts import Kind
from training.schedule import Plan, Schedule

CHARACTERS = "characters"  # the model from nothing (characters.py), as --model names it
WARM_UP = 0.06  # share of the steps
LEAST_STEPS = 100  # a small file is read more often, so that something is learned at all
WIDE = 768  # from there on BERT's own rate, which is smaller
EVALUATIONS = 10
LEAST_DEV_ROWS, DEV_ROWS = 100, 500  # that an evaluation on the way reads, from the whole of the dev rows
LOOKING = 0.25  # share of the time that evaluations may take, where the least dev rows leave it at that


@dataclass(frozen=True)
class FinetuneSettings:
    """How a model is taught. None is found from the model and the task."""

    seed: int = 0
    revision: str | None = None  # of a model of the hub
    minutes: float | None = 3.0  # of training and of the evaluations on the way; None: as long as it takes
    epochs: float = 3.0  # passes over the training rows, where the minutes are enough for them
    steps: int | None = None  # in place of the epochs
    length: int = 64  # pieces of a text, special ones included; what is longer is cut
    rate: float | None = None
    batch: int | None = None  # texts in a step
    frozen: int = 0  # layers from below that stay as they are, with the embeddings
    threads: int = 1
    filmed: bool = True  # whether every head is looked at at each evaluation (film.py)
    precision: str = "auto"  # "bf16", "fp32", or "auto": bf16 where the processor multiplies it


def rate(config: Any, kind: Kind, fresh: bool) -> float:
    """The highest rate for a model of that configuration; ``fresh``: drawn at random as a whole."""
    text = config.get_text_config()
    if fresh:
        return 5e-4
    if text.hidden_size >= WIDE:
        return 5e-5
    return 3e-4 if kind == "tag" and text.num_hidden_layers <= 6 else 2e-4


def batch(fresh: bool) -> int:
    """Texts in a step."""
    return 32 if fresh else 16


def most_steps(settings: FinetuneSettings, steps_per_epoch: int) -> int:
    """Steps that a run takes if it has the time."""
    if settings.steps is not None:
        return settings.steps
    return max(LEAST_STEPS, math.ceil(settings.epochs * steps_per_epoch))


def plan_steps(seconds: float, step: float, batch: int, dev: int) -> tuple[int, int]:
    """Steps that fit into these seconds, and how many of the ``dev`` rows each evaluation on the way then reads.

    ``step`` is the seconds that a step of ``batch`` rows takes; to read a row without learning takes about a third.

    >>> plan_steps(60.0, step=0.12, batch=16, dev=700), plan_steps(18.0, step=0.4, batch=16, dev=1000)
    ((396, 500), (24, 100))
    """
    row = step / batch / 3
    most = round(LOOKING * seconds / EVALUATIONS / row)
    rows = min(dev, DEV_ROWS, max(LEAST_DEV_ROWS, most))
    return max(1, round((seconds - EVALUATIONS * rows * row) / step)), rows


def schedule(last: int) -> Schedule:
    """Warm-up, then a straight line to 0 at the last step, which may be step 0: nothing is learned then.

    >>> [round(schedule(100).share(step), 2) for step in (0, 5, 6, 53, 100)]
    [0.17, 1.0, 1.0, 0.5, 0.0]
    """
    warm_up = round(WARM_UP * last)
    return Schedule(warm_up, (Plan(warm_up, 1.0, last),))
