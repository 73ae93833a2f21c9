"""Comparison of a fine-tuned model's heads with its initial model and its controls, cached."""

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

KEPT = 2**24  # The capacity of the cache in bytes.
ROUNDING = 1e-4  # In bits. Saving the weights in half precision can cause smaller changes.


@dataclass(frozen=True, eq=False)
class HeadChanges:
    """Statistics over the compared sentences for every head, for a single kind of rows."""

    folder: Path
    facts: ChangeFacts
    rows: str
    shape: tuple[int, int]  # (layers, heads)
    across: ControlledChange  # Heads are numbered layer by layer; the control is the mean of both.
    ahead: FloatArray  # The lead of each head over the controls, shape (layer, head), in Jensen–Shannon distance.
    luck: float  # The lead that a head needs, corrected for all heads, in the same unit.
    layers: Mapping[str, Mean]  # By model (the task and each control): the mean over each layer's heads.
    whole: Mapping[str, Mean]  # By model: the mean over all heads.

    @property
    def is_unchanged(self) -> bool:
        """Return whether the mean change of every head is below ROUNDING."""
        return bool(self.across.change.mean.max() < ROUNDING)

    @property
    def heads_beyond(self) -> list[tuple[int, int]]:
        """Return the (layer, head) pairs that moved beyond chance, largest lead first.

        These heads moved further than the controls on these sentences, and lead the controls by more than
        ``luck``.
        """
        found = [self.place(int(at)) for at in self.across.more_heads]
        return sorted((at for at in found if self.ahead[at] > self.luck), key=lambda at: -float(self.ahead[at]))

    @property
    def heads_further(self) -> int:
        """Return the number of heads that moved further than the controls on these sentences."""
        return len(self.across.more_heads)

    def as_map(self, values: Numbers) -> FloatArray:
        """Return ``values``, a number for each head, in the shape (layer, head)."""
        found: FloatArray = np.asarray(values, np.float32).reshape(self.shape)
        return found

    def place(self, head: int) -> tuple[int, int]:
        """Return the layer and head index of the head with the number ``head``."""
        return head // self.shape[1], head % self.shape[1]


def load_changes(folder: Path, rows: str) -> HeadChanges | None:
    """Return the comparison in ``folder``, cached; None if no sentence has rows of the kind ``rows``."""
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
