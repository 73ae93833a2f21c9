"""What is measured of a network: answers by distance, the gradient by distance, the time of a step by length."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from training.architecture_baselines.models import SequenceModel, build
from training.architecture_baselines.tasks import TASKS, UNASKED, SyntheticTask
from training.jobs.baseline_runs import DIGITS, DISTANCES, LENGTHS, LOOKED_BACK, MODELS, BaselineRequest, Points

DRAWINGS, ROWS = 4, 64  # of texts at each distance, none of them of the training's seeds
TEST_SEED = 1_000_000
TIMED_ROWS, TIMES = 16, 5  # texts of a step that is timed, and how often; the shortest counts


def accuracy(network: SequenceModel, task: SyntheticTask, distances: Sequence[int] = DISTANCES) -> Points:
    """The share of answers that are right at each distance, chance at least; of a running count, the last one's."""
    return tuple(
        (distance, round(_share(network, task, distance), 4)) for distance in distances if distance >= task.least
    )


def _share(network: SequenceModel, task: SyntheticTask, distance: int) -> float:
    right: list[Tensor] = []
    for drawing in range(DRAWINGS):
        ids, targets = _texts(task, distance, drawing)
        asked = targets != UNASKED
        if task.running:
            asked[:, :-1] = False
        with torch.no_grad():
            right.append((network(ids).argmax(-1) == targets)[asked])
    return torch.cat(right).float().mean().item()


def gradient(network: SequenceModel, task: SyntheticTask, distance: int = LOOKED_BACK) -> tuple[float, ...]:
    """How much the last answer's score, above the mean of all scores, hangs on each token's vector: the norm of the
    gradient, the mean over texts, by places back from the last."""
    ids, targets = _texts(task, distance, 0)
    vectors = network.vectors(ids).detach().requires_grad_()
    scores = network.read(vectors)[:, -1]  # (row, token)
    answer = scores.gather(1, targets[:, -1:])[:, 0] - scores.mean(1)
    (found,) = torch.autograd.grad(answer.sum(), vectors)
    norms = found.norm(dim=-1).mean(0).flip(0)  # (places back,)
    return tuple(float(f"{norm:.{DIGITS}g}") for norm in norms.tolist())


def _texts(task: SyntheticTask, distance: int, drawing: int) -> tuple[Tensor, Tensor]:
    dice = np.random.default_rng((TEST_SEED, distance, drawing))
    ids, targets = task.draw(dice, ROWS, distance)
    return torch.from_numpy(ids), torch.from_numpy(targets)


def times(task: str = "copying", lengths: Sequence[int] = LENGTHS) -> dict[str, Points]:
    """Milliseconds of reading texts forward and backward, for each network and length, on this machine, now."""
    found: dict[str, Points] = {}
    for model in MODELS:
        asked = TASKS[task]
        network = build(BaselineRequest(task, model), asked.tokens, masked=asked.masked)
        found[model] = tuple((length, _milliseconds(network, asked.tokens, length)) for length in lengths)
    return found


def _milliseconds(network: SequenceModel, tokens: int, length: int) -> float:
    ids = torch.arange(TIMED_ROWS * length).view(TIMED_ROWS, length) % tokens
    taken = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        network(ids).sum().backward()
        taken.append(time.perf_counter() - begun)
    return float(f"{1000 * min(taken):.{DIGITS}g}")
