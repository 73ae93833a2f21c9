"""Four tasks with a distance in them, drawn at random: copying, recall, word order and a running count.

A drawing is ids and targets, both (row, place), int64; a target is UNASKED where nothing is asked. Every text of a
drawing has the same length, and what is asked lies ``distance`` tokens before the place that must answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
