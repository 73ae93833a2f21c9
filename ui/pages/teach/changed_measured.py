"""What changed in a taught model's heads, as the page needs it; kept, since it is asked for with every click."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from attention.mask import Array
from inference.memory import ByteLru
from probing import changed
from probing.across import Across, Mean, Numbers, mean_of
from probing.changed import TWINS, Facts

KEPT = 2**24  # bytes of what is told of trainings
ROUNDING = 1e-4  # bits: less comes of a model's numbers being saved in half precision


@dataclass(frozen=True, eq=False)
class Measured:
    """What the sentences say of every head, for one kind of rows."""

    folder: Path
    facts: Facts
    rows: str
    shape: tuple[int, int]  # layers and heads
    across: Across  # heads numbered layer by layer; the task is its change and the mean of its twins the control
    ahead: Array  # by how much further than the twins each head has come, (layer, head), and
    luck: float  # how far ahead a head must be, corrected for all heads; Jensen–Shannon distances both
    layers: Mapping[str, Mean]  # of the task and each twin: the mean over each layer's heads
    whole: Mapping[str, Mean]  # the mean over all heads

    @property
    def still(self) -> bool:
        """Whether no head has moved by more than rounding."""
        return bool(self.across.change.mean.max() < ROUNDING)

    @property
    def beyond(self) -> list[tuple[int, int]]:
        """The heads that have come further than the twins on these sentences, and by more than luck; furthest first."""
        found = [self.place(int(at)) for at in self.across.more_heads]
        return sorted((at for at in found if self.ahead[at] > self.luck), key=lambda at: -float(self.ahead[at]))

    @property
    def further(self) -> int:
        """How many heads have come further than the twins on these sentences, whatever another shuffle would do."""
        return len(self.across.more_heads)

    def as_map(self, values: Numbers) -> Array:
        """A number a head as (layer, head)."""
        found: Array = np.asarray(values, np.float32).reshape(self.shape)
        return found

    def place(self, head: int) -> tuple[int, int]:
        """Layer and head of a head's number."""
        return head // self.shape[1], head % self.shape[1]


def measured(folder: Path, rows: str) -> Measured | None:
    """What was compared in that folder; None where no sentence has rows of that kind."""
    made = (folder / changed.FACTS).stat().st_mtime_ns
    found = _kept().get_or_make((folder, made, rows), lambda: _measure(folder, rows), lambda _: 200_000)
    return found if found.across.change.n else None


@cache
def _kept() -> ByteLru[Measured]:
    return ByteLru(KEPT)


def _measure(folder: Path, rows: str) -> Measured:
    each = changed.each(folder, rows)
    task, twins = each["task"], [each[who] for who in TWINS]
    heads = [changed.mean(twin, axis=0) for twin in twins]
    layers, width = task.shape[1:]
    return Measured(
        folder,
        changed.facts(folder),
        rows,
        (layers, width),
        changed.beyond(task, np.mean(twins, axis=0)),
        changed.ahead(changed.mean(task, axis=0), heads),
        changed.luck(heads),
        {who: _mean(bits.mean(axis=2)) for who, bits in each.items()},
        {who: _mean(bits.mean(axis=(1, 2))[:, None]) for who, bits in each.items()},
    )


def _mean(values: Array) -> Mean:
    return mean_of(values.astype(np.float64))
