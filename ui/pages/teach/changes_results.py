"""What changed in a taught model's heads, as the page needs it; kept, since it is asked for with every click."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from attention.mask import FloatArray
from inference.byte_cache import ByteLru
from probing import fine_tuning_changes
from probing.fine_tuning_changes import TWINS, ChangeFacts
from probing.text_pairs import ControlledChange, Mean, Numbers, mean_of

KEPT = 2**24  # bytes of what is told of trainings
ROUNDING = 1e-4  # bits: less comes of a model's numbers being saved in half precision


@dataclass(frozen=True, eq=False)
class HeadChanges:
    """What the sentences say of every head, for one kind of rows."""

    folder: Path
    facts: ChangeFacts
    rows: str
    shape: tuple[int, int]  # layers and heads
    across: (
        ControlledChange  # heads numbered layer by layer; the task is its change and the mean of its twins the control
    )
    ahead: FloatArray  # by how much further than the twins each head has come, (layer, head), and
    luck: float  # how far ahead a head must be, corrected for all heads; Jensen–Shannon distances both
    layers: Mapping[str, Mean]  # of the task and each twin: the mean over each layer's heads
    whole: Mapping[str, Mean]  # the mean over all heads

    @property
    def is_unchanged(self) -> bool:
        """Whether no head has moved by more than rounding."""
        return bool(self.across.change.mean.max() < ROUNDING)

    @property
    def heads_beyond(self) -> list[tuple[int, int]]:
        """The heads that have come further than the twins on these sentences, and by more than luck; furthest first."""
        found = [self.place(int(at)) for at in self.across.more_heads]
        return sorted((at for at in found if self.ahead[at] > self.luck), key=lambda at: -float(self.ahead[at]))

    @property
    def heads_further(self) -> int:
        """How many heads have come further than the twins on these sentences, whatever another shuffle would do."""
        return len(self.across.more_heads)

    def as_map(self, values: Numbers) -> FloatArray:
        """A number a head as (layer, head)."""
        found: FloatArray = np.asarray(values, np.float32).reshape(self.shape)
        return found

    def place(self, head: int) -> tuple[int, int]:
        """Layer and head of a head's number."""
        return head // self.shape[1], head % self.shape[1]


def load_changes(folder: Path, rows: str) -> HeadChanges | None:
    """What was compared in that folder; None where no sentence has rows of that kind."""
    made = (folder / fine_tuning_changes.FACTS).stat().st_mtime_ns
    found = _change_cache().get_or_make((folder, made, rows), lambda: _compute_changes(folder, rows), lambda _: 200_000)
    return found if found.across.change.n else None


@cache
def _change_cache() -> ByteLru[HeadChanges]:
    return ByteLru(KEPT)


def _compute_changes(folder: Path, rows: str) -> HeadChanges:
    each = fine_tuning_changes.load_by_model(folder, rows)
    task, twins = each["task"], [each[who] for who in TWINS]
    heads = [fine_tuning_changes.mean(twin, axis=0) for twin in twins]
    layers, width = task.shape[1:]
    return HeadChanges(
        folder,
        fine_tuning_changes.facts(folder),
        rows,
        (layers, width),
        fine_tuning_changes.compare_drift(task, np.mean(twins, axis=0)),
        fine_tuning_changes.mean_lead(fine_tuning_changes.mean(task, axis=0), heads),
        fine_tuning_changes.lead_threshold(heads),
        {who: _mean(bits.mean(axis=2)) for who, bits in each.items()},
        {who: _mean(bits.mean(axis=(1, 2))[:, None]) for who, bits in each.items()},
    )


def _mean(values: FloatArray) -> Mean:
    return mean_of(values.astype(np.float64))
