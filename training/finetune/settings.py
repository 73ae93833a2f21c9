"""Fine-tuning settings and their defaults, which were measured on small encoders (docs/LOG.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from attention.answer_windows import STRIDE
from probing.labelled.labeled_texts import HeadKind
from training.schedule import Plan, Schedule

CHARACTERS = "characters"  # value of --model for a character model that is trained from scratch
WARM_UP = 0.06  # share of the steps with an increasing learning rate
LEAST_STEPS = 100  # minimum of steps, so that small data sets are read for more epochs
WIDE = 768  # hidden size from which BERT's smaller learning rate is used
FACTS = "task.json"  # file in a run's folder with its initial settings
EVALUATIONS = 10
LEAST_DEV_ROWS, DEV_ROWS = 100, 500  # minimum and maximum of dev rows in an evaluation during training
LOOKING = 0.25  # share of the time for evaluations, unless the minimum of dev rows takes longer


@dataclass(frozen=True)
class FinetuneSettings:
    """The settings of a fine-tuning run.

    If ``rate`` or ``batch`` is None, it is chosen for the model and the task.
    """

    seed: int = 0
    revision: str | None = None  # revision of a hub model
    minutes: float | None = 3.0  # training time including evaluations; None for no limit
    epochs: float = 3.0  # epochs, if ``minutes`` suffices
    steps: int | None = None  # overrides ``epochs``
    length: int = 64  # tokens of a text including special tokens; longer texts are truncated
    stride: int = STRIDE  # passage tokens that two neighbouring windows of a question share
    rate: float | None = None
    batch: int | None = None  # texts in a batch
    frozen: int = 0  # number of lower layers that are frozen together with the embeddings
    threads: int = 1
    filmed: bool = True  # record attention snapshots at each evaluation (snapshots.py)
    precision: str = "auto"  # "bf16", "fp32", or "auto": bf16 if the hardware multiplies it


def rate(config: Any, kind: HeadKind, fresh: bool) -> float:
    """Return the default peak learning rate of a model.

    ``kind`` is the kind of task; ``fresh`` is True for a randomly initialised model.
    """
    text = config.get_text_config()
    if fresh:
        return 5e-4
    if text.hidden_size >= WIDE:
        return 5e-5
    return 3e-4 if kind != "classify" and text.num_hidden_layers <= 6 else 2e-4


def batch(fresh: bool) -> int:
    """Return the default number of texts in a batch; ``fresh`` is True for a randomly initialised model."""
    return 32 if fresh else 16


def most_steps(settings: FinetuneSettings, steps_per_epoch: int) -> int:
    """Return the number of steps of a run without a time limit.

    It is ``settings.steps`` if given, or follows from ``settings.epochs``, but is then at least LEAST_STEPS.
    """
    if settings.steps is not None:
        return settings.steps
    return max(LEAST_STEPS, math.ceil(settings.epochs * steps_per_epoch))


def plan_steps(seconds: float, step: float, batch: int, dev: int) -> tuple[int, int]:
    """Return the number of training steps in ``seconds``, and the number of dev rows for each evaluation.

    ``step`` is the duration of a training step with ``batch`` rows, in seconds. In an evaluation, a row is assumed to
    take a third of its time in training. ``dev`` is the number of available dev rows.

    >>> plan_steps(60.0, step=0.12, batch=16, dev=700), plan_steps(18.0, step=0.4, batch=16, dev=1000)
    ((396, 500), (24, 100))
    """
    row = step / batch / 3
    most = round(LOOKING * seconds / EVALUATIONS / row)
    rows = min(dev, DEV_ROWS, max(LEAST_DEV_ROWS, most))
    return max(1, round((seconds - EVALUATIONS * rows * row) / step)), rows


def schedule(last: int) -> Schedule:
    """Return the learning-rate schedule: a linear warm-up, then a linear decay to 0 at step ``last``.

    A ``last`` of 0 means that the model is not trained.

    >>> [round(schedule(100).share(step), 2) for step in (0, 5, 6, 53, 100)]
    [0.17, 1.0, 1.0, 0.5, 0.0]
    """
    warm_up = round(WARM_UP * last)
    return Schedule(warm_up, (Plan(warm_up, 1.0, last),))
