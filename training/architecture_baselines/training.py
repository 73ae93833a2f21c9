"""Four synthetic tasks, the training of a network on one of them, and measurements of the network."""

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
LETTERS, COPIED = 16, 8  # number of letters, and of letters to copy
BLANK, ASK = LETTERS, LETTERS + 1  # ids of the gap, and of the mark before the answer
KEYS = VALUES = 8
KNOWN = 5  # key-value pairs in a text
NEAR = 6  # largest distance between the two marked letters
OTHERS = 6  # letters that are fillers


@dataclass(frozen=True)
class SyntheticTask:
    """A synthetic sequence task with texts drawn at random.

    ``draw`` takes a generator, a number of texts and a distance, and returns ids and targets. The distance is the
    number of positions between the tokens that depend on each other; ``least`` is the shortest. ``tokens`` is the size
    of the vocabulary, and ``chance`` the accuracy of random guessing. If ``masked`` is set, targets depend on earlier
    positions only, so attention must be causal. If ``running`` is set, every position has a target, but only the last
    position is scored.
    """

    tokens: int
    chance: float
    least: int
    masked: bool
    draw: Callable[[np.random.Generator, int, int], tuple[Ids, Ids]]
    running: bool = False


def copying(dice: np.random.Generator, rows: int, distance: int) -> tuple[Ids, Ids]:
    """Draw texts of letters that the network must copy; return ids and targets, each (row, position).

    A text has several different letters, a gap, a mark and the same letters again. The target at a position is the
    letter at the next position, which was first seen ``distance`` positions earlier. Positions before the copy have no
    target.

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
    """Draw texts of key-value pairs that end with a key; return ids and targets, each (row, position).

    The only target is at the last position: the value of the final key. Its pair is ``distance`` positions before the
    end. All keys of a text differ. A pair is a single token with the id VALUES · key + value. The id VALUES · KEYS is a
    blank, and the ids after it are the final keys.

    >>> ids, targets = recall(np.random.default_rng(0), 1, 3)
    >>> ids[0].tolist(), int(targets[0, -1])
    ([17, 38, 29, 55, 44, 68], 5)
    """
    after = int(dice.integers(0, min(KNOWN - 1, distance - 1) + 1))  # pairs between the pair in question and the end
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
    """Draw texts with the two marked letters 0 and 1 among fillers; return ids and targets, each (row, position).

    The only target is at the last position: the marked letter that comes first. The second marked letter is
    ``distance`` positions before the end.

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
    """Draw texts of the bits 0 and 1; return ids and targets, each (row, position).

    The target at each position is the parity (0 or 1) of the bits up to it. ``distance`` is the length of the text.

    >>> ids, targets = parity(np.random.default_rng(1), 1, 6)
    >>> ids[0].tolist(), targets[0].tolist()
    ([0, 1, 1, 1, 0, 0], [0, 1, 0, 1, 1, 1])
    """
    ids = dice.integers(0, 2, (rows, distance))
    return ids, ids.cumsum(axis=1) % 2


def _last(ids: Ids, answers: Ids) -> Ids:
    """Return targets of a task that only the last position answers."""
    targets = np.full(ids.shape, UNASKED)
    targets[:, -1] = answers
    return targets


TASKS: Mapping[str, SyntheticTask] = {
    "copying": SyntheticTask(LETTERS + 2, 1 / LETTERS, COPIED, True, copying),
    "recall": SyntheticTask(VALUES * KEYS + 1 + KEYS, 1 / VALUES, 1, False, recall),
    "order": SyntheticTask(2 + OTHERS + 1, 1 / 2, 1, False, order),
    "parity": SyntheticTask(2, 1 / 2, 1, True, parity, running=True),
}


DRAWINGS, MEASUREMENT_ROWS = 4, 64  # batches and rows at each distance, with seeds other than those of the training
TEST_SEED = 1_000_000
TIMED_ROWS, TIMES = 16, 5  # texts in a timed step, and repetitions; the minimum counts


def accuracy(network: SequenceModel, task: SyntheticTask, distances: Sequence[int] = DISTANCES) -> Points:
    """Return the accuracy (0 to 1) of a network on new texts of each distance, as pairs (distance, accuracy).

    Distances below ``task.least`` are left out. If every position of a text has a target (``task.running``), only the
    last position is scored.
    """
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
    """Return the norms of the gradient of the last position's logit with respect to each token embedding.

    The differentiated value is the logit of the target minus the mean logit of all tokens. Norms are averaged over
    texts of the given distance. The first norm is that of the last token, the second that of the token before, and so
    on.
    """
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
    """Return (number of tokens, milliseconds of a training step) of each network for each text length.

    A step is a forward and a backward pass. ``lengths`` are the numbers of tokens.
    """
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


TRAIN_ROWS = 64  # texts in a batch
RATE, WARM_UP = 4e-3, 100  # peak learning rate, and steps of the warm-up
EVERY = 40  # steps between points of the loss curve
LONGEST_STRIDE = 1.0  # gradients are clipped to this norm

Told = Callable[[int, float], None]


def run(one: BaselineRequest, told: Told | None = None) -> BaselineRun:
    """Train a network on a task, measure it, and return the result.

    ``told`` is a function that is called with the step and the loss in nats, at every point of the loss curve.
    """
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
    """Build the network that a request names, with random weights drawn from the seed of the request."""
    torch.manual_seed(one.seed)
    task = TASKS[one.task]
    return build(one, task.tokens, masked=task.masked)


def train(network: SequenceModel, task: SyntheticTask, seed: int, steps: int) -> Iterator[tuple[int, float]]:
    """Train a network; yield each step, counted from 1, and its loss in nats."""
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
