"""Tasks with a distance, the training of a network on one of them, and its measurements."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from training.architecture_baselines.models import SequenceModel, build, numbers
from training.jobs.baseline_runs import (
    DIGITS,
    DISTANCES,
    LENGTHS,
    LOOKED_BACK,
    MODELS,
    TRAINED,
    BaselineRequest,
    BaselineRun,
    Points,
)

Ids = NDArray[np.int64]
UNASKED = -1
LETTERS, COPIED = 16, 8  # letters that there are, and how many of them are to be copied
BLANK, ASK = LETTERS, LETTERS + 1  # the gap, and the mark after which is answered
KEYS = VALUES = 8
KNOWN = 5  # keys that a text gives a value to
NEAR = 6  # places at most between the two whose order is asked
OTHERS = 6  # letters that only fill the text


@dataclass(frozen=True)
class SyntheticTask:
    """``tokens`` different ids; ``chance`` is how often a guess is right; ``least`` is the shortest distance.

    ``masked``: several places answer, each from what stands before it alone, so that attention must not look ahead.
    ``running``: every place answers, each at a distance of its own; the last one's is the text's.
    """

    tokens: int
    chance: float
    least: int
    masked: bool
    draw: Callable[[np.random.Generator, int, int], tuple[Ids, Ids]]
    running: bool = False


def copying(dice: np.random.Generator, rows: int, distance: int) -> tuple[Ids, Ids]:
    """Letters, all different, a gap, a mark, and the letters once more; each is to be told one place ahead.

    >>> ids, targets = copying(np.random.default_rng(0), 1, 9)
    >>> ids[0].tolist()
    [2, 11, 3, 10, 0, 4, 7, 5, 16, 17, 2, 11, 3, 10, 0, 4, 7]
    >>> targets[0, 9:].tolist()
    [2, 11, 3, 10, 0, 4, 7, 5]
    """
    letters = dice.permuted(np.tile(np.arange(LETTERS), (rows, 1)), axis=1)[:, :COPIED]
    gap, mark = np.full((rows, distance - COPIED), BLANK), np.full((rows, 1), ASK)
    ids = np.concatenate([letters, gap, mark, letters[:, :-1]], axis=1)
    targets = np.concatenate([np.full((rows, distance), UNASKED), letters], axis=1)
    return ids, targets


def recall(dice: np.random.Generator, rows: int, distance: int) -> tuple[Ids, Ids]:
    """Keys with their values, each pair one token, the keys all different; then a key, and its value is asked.

    The id of a pair is VALUES · key + value; VALUES · KEYS is a blank, and a key that asks follows it.

    >>> ids, targets = recall(np.random.default_rng(0), 1, 3)
    >>> ids[0].tolist(), int(targets[0, -1])
    ([17, 38, 29, 55, 44, 68], 5)
    """
    after = int(dice.integers(0, min(KNOWN - 1, distance - 1) + 1))  # pairs between the one that is asked and the end
    before = KNOWN - 1 - after
    keys = dice.permuted(np.tile(np.arange(KEYS), (rows, 1)), axis=1)[:, :KNOWN]
    values = dice.integers(0, VALUES, (rows, KNOWN))
    places = before + 1 + np.sort(dice.permuted(np.tile(np.arange(distance - 1), (rows, 1)), axis=1)[:, :after], axis=1)
    ids = np.full((rows, before + distance + 1), VALUES * KEYS)
    pairs = VALUES * keys + values
    ids[:, : before + 1] = pairs[:, : before + 1]
    np.put_along_axis(ids, places, pairs[:, before + 1 :], axis=1)
    ids[:, -1] = VALUES * KEYS + 1 + keys[:, before]
    return ids, _last(ids, values[:, before])


def order(dice: np.random.Generator, rows: int, distance: int) -> tuple[Ids, Ids]:
    """Two marked letters, 0 and 1, somewhere among others; which of them came first? The later is ``distance`` back.

    >>> ids, targets = order(np.random.default_rng(0), 1, 2)
    >>> ids[0].tolist(), int(targets[0, -1])
    ([7, 5, 1, 3, 3, 2, 0, 2, 8], 1)
    """
    length = distance + NEAR + 1
    ids = dice.integers(2, 2 + OTHERS, (rows, length))
    later = length - 1 - distance
    first = dice.integers(0, 2, rows)
    ids[np.arange(rows), later - dice.integers(1, NEAR + 1, rows)] = first
    ids[:, later] = 1 - first
    ids[:, -1] = 2 + OTHERS
    return ids, _last(ids, first)


def parity(dice: np.random.Generator, rows: int, distance: int) -> tuple[Ids, Ids]:
    """Zeros and ones; at each place, is the number of ones up to here odd? ``distance`` is the text's length.

    >>> ids, targets = parity(np.random.default_rng(1), 1, 6)
    >>> ids[0].tolist(), targets[0].tolist()
    ([0, 1, 1, 1, 0, 0], [0, 1, 0, 1, 1, 1])
    """
    ids = dice.integers(0, 2, (rows, distance))
    return ids, ids.cumsum(axis=1) % 2


def _last(ids: Ids, answers: Ids) -> Ids:
    """Targets of a task that asks at the end alone."""
    targets = np.full(ids.shape, UNASKED)
    targets[:, -1] = answers
    return targets


TASKS: Mapping[str, SyntheticTask] = {
    "copying": SyntheticTask(LETTERS + 2, 1 / LETTERS, COPIED, True, copying),
    "recall": SyntheticTask(VALUES * KEYS + 1 + KEYS, 1 / VALUES, 1, False, recall),
    "order": SyntheticTask(2 + OTHERS + 1, 1 / 2, 1, False, order),
    "parity": SyntheticTask(2, 1 / 2, 1, True, parity, running=True),
}


DRAWINGS, MEASUREMENT_ROWS = 4, 64  # of texts at each distance, none of them of the training's seeds
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
    ids, targets = task.draw(dice, MEASUREMENT_ROWS, distance)
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


TRAIN_ROWS = 64  # texts of a step
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
        ids, targets = (torch.from_numpy(part) for part in task.draw(dice, TRAIN_ROWS, distance))
        loss = functional.cross_entropy(network(ids).flatten(0, 1), targets.flatten(), ignore_index=UNASKED)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), LONGEST_STRIDE)
        optimiser.step()
        yield step + 1, loss.item()
