"""One network trained on one task, the same bit for bit from the same seed on the same machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict

import numpy as np
import torch
from torch.nn import functional

from training.architecture_baselines.measurement import accuracy, gradient
from training.architecture_baselines.models import SequenceModel, build, numbers
from training.architecture_baselines.tasks import TASKS, UNASKED, SyntheticTask
from training.jobs.baseline_runs import TRAINED, BaselineRequest, BaselineRun

ROWS = 64  # texts of a step
RATE, WARM_UP = 4e-3, 100  # the highest rate, and the steps until it is reached
EVERY = 40  # steps between two numbers of the loss's curve
LONGEST_STRIDE = 1.0  # the norm that a step's gradient is cut to

Told = Callable[[int, float], None]


def run(one: BaselineRequest, told: Told | None = None) -> BaselineRun:
    """Trains a network and measures it; ``told`` hears the loss (nats) as it goes."""
    task, network = TASKS[one.task], build_network(one)
    before = gradient(network, task)
    losses: list[tuple[int, float]] = []
    begun = time.process_time()
    for step, loss in train(network, task, one.seed, one.steps):
        if step % EVERY == 0 or step == one.steps:
            losses.append((step, round(loss, 4)))
            if told is not None:
                told(*losses[-1])
    return BaselineRun(
        **asdict(one),
        numbers=numbers(network),
        seconds=round(time.process_time() - begun, 1),
        chance=task.chance,
        losses=tuple(losses),
        accuracy=accuracy(network, task),
        before=before,
        after=gradient(network, task),
    )


def build_network(one: BaselineRequest) -> SequenceModel:
    """A network before its first step."""
    torch.manual_seed(one.seed)
    task = TASKS[one.task]
    return build(one, task.tokens, masked=task.masked)


def train(network: SequenceModel, task: SyntheticTask, seed: int, steps: int) -> Iterator[tuple[int, float]]:
    """Takes the steps one by one: each one's number, from 1, and its loss in nats."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)
    dice = np.random.default_rng(seed)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min((step + 1) / WARM_UP, 2 * (steps - step) / steps, 1)
        distance = int(dice.integers(task.least, TRAINED + 1))
        ids, targets = (torch.from_numpy(part) for part in task.draw(dice, ROWS, distance))
        loss = functional.cross_entropy(network(ids).flatten(0, 1), targets.flatten(), ignore_index=UNASKED)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), LONGEST_STRIDE)
        optimiser.step()
        yield step + 1, loss.item()
