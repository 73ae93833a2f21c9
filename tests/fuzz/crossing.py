"""Crossover of inputs: a new input is a mix of two from hypothesis, a hundred times as fast as generation.

A mixed input has the characters, the keys and the types of its parents, so that a target that accepts no lone
surrogates receives none.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

Row = TypeVar("Row", str, bytes)


def crossed(one: Any, other: Any, random: Random) -> Any:
    """Return a random mix of two inputs."""
    if type(one) is not type(other) or random.random() < 0.1:
        return random.choice((one, other))
    if isinstance(one, str | bytes):
        return one if one == other else _harmed(_spliced(one, other, random), random)
    if isinstance(one, dict):
        return _entries(one, other, random)
    if isinstance(one, tuple) and len(one) == len(other):
        return tuple(crossed(*both, random) for both in zip(one, other, strict=True))
    if isinstance(one, list) and one and other:
        return _items(one, other, random)
    return random.choice((one, other))


def _spliced(one: Row, other: Row, random: Random) -> Row:
    """Join the start of ``one`` to the rest of ``other``, or insert a part of ``other`` into ``one``."""
    start = random.randint(0, len(one))
    there = random.randint(0, len(other))
    if random.random() < 0.5:
        return one[:start] + other[min(start, there) :]
    return one[:start] + other[there : there + random.randint(0, 40)] + one[start + random.randint(0, 40) :]


def _harmed(row: Row, random: Random) -> Row:
    """Delete or repeat a random part of half of the inputs; return the rest unchanged."""
    start, length = random.randint(0, len(row)), random.randint(0, 20)
    how = random.random()
    if how < 0.25:
        return row[:start] + row[start + length :]
    return row[: start + length] + row[start:] if how < 0.5 else row


def _entries(one: dict[Any, Any], other: dict[Any, Any], random: Random) -> dict[Any, Any]:
    kept = {name: value for name, value in other.items() if name in one or random.random() < 0.5}
    mixed = {name: crossed(one[name], value, random) if name in one else value for name, value in kept.items()}
    return {**one, **mixed}


def _items(one: Sequence[Any], other: Sequence[Any], random: Random) -> list[Any]:
    mixed, at = list(one), random.randrange(len(one))
    mixed[at] = crossed(one[at], random.choice(other), random)
    how = random.random()
    if how < 0.2:
        mixed += other[: random.randint(0, 3)]
    elif how < 0.4:
        del mixed[at]
    return mixed
