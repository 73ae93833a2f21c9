"""A quantity under many edit sets, requested in batches that each include the unedited text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from attention.edits import Ablate, EditSet
from attention.mask import FloatArray
from ui.ablation import effects as ablation
from viz.figures.theme import Figure
from viz.paper.notebook import Computation

SETS: list[EditSet] = [(Ablate(0, head),) for head in range(7)]


MOST = ablation.AT_ONCE


@pytest.mark.parametrize(
    ("tokens", "at_once", "parts"), [(5, MOST, 1), (MOST // 3, MOST, 3), (2 * MOST, MOST, 7), (5, 5, 2)]
)
def test_changes_are_the_same_in_parts(tokens: int, at_once: int, parts: int) -> None:
    seen: list[int] = []

    def numbers(sets: Sequence[EditSet]) -> FloatArray:
        """Return 1 plus the index of the ablated head, or 0 for none, plus 10 times the batch number."""
        seen.append(len(sets))
        removed = [1 + SETS.index(mine) if mine else 0 for mine in sets]
        return np.array(removed, np.float32) + 10 * len(seen)

    found = ablation.measure_changes("mark", SETS, tokens, "Asking", numbers, at_once)
    assert found.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert len(seen) == parts
    assert sum(seen) == len(SETS) + parts


@pytest.mark.parametrize(("measured", "random"), [(7, False), (6, True)])
def test_a_stopped_comparison_is_a_random_sample_without_a_notebook(
    monkeypatch: pytest.MonkeyPatch, measured: int, random: bool
) -> None:
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(ablation, "draw_chart", lambda _figure, key, **given: drawn.update({"key": key, **given}))
    compared = ablation.ComparedEdits((Ablate(0, 8),), SETS, np.arange(-measured, 0, dtype=np.float32), 3.0)
    computation = Computation("numbers = found")
    compared.draw("effects", compared.result(), Figure(), compared.provenance, computation)
    assert compared.share_below == 2 / measured
    assert compared.median == np.median(range(1, measured + 1))
    assert compared.is_random == random
    assert drawn["about"]() == ({"random_edits": 6, "seed": ablation.SEED} if random else {"other_edits": 7})
    assert drawn["computation"] is (None if random else computation)
