"""Effects compared with random changes at their own site."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import FloatArray
from probing.statistics import COMPARED, MOVED, RandomChanges, compare_with_random, count_by_chance

SITES = 72


def compare(effects: FloatArray, drawn: FloatArray) -> RandomChanges:
    """Compare effects (site,) with random effects that are known in advance, (site, number)."""
    return compare_with_random(effects, lambda asked: np.array([drawn[pair] for pair in asked], np.float32))


def test_a_site_exceeds_all_its_random_changes_however_early_the_comparison_ends() -> None:
    chance = np.random.default_rng(0)
    effects = chance.normal(1, 1, 200).astype(np.float32)
    drawn = chance.normal(0, 1, (200, COMPARED)).astype(np.float32)
    found = compare(effects, drawn)
    np.testing.assert_array_equal(found.exceeded_by(effects), (effects > drawn.max(axis=1)) & (effects > MOVED))
    assert found.made[found.exceeded_by(effects)].tolist() == [COMPARED] * int(found.exceeded_by(effects).sum())
    assert not found.made[effects <= MOVED].any()
    assert found.made.sum() < 200 * COMPARED / 2


def test_heads_without_an_effect_of_their_own_are_as_many_as_stated() -> None:
    """Heads differ in the scale of their effects, so that one threshold for all would mark the large ones."""
    chance = np.random.default_rng(0)
    sizes = chance.lognormal(-4, 0.8, (SITES, 1))
    mean, low, high = count_by_chance(SITES)
    many = []
    for _ in range(400):
        drawn = (sizes * chance.normal(size=(SITES, 1 + COMPARED))).astype(np.float32)
        many.append(int(compare(drawn[:, 0], drawn[:, 1:]).exceeded_by(drawn[:, 0]).sum()))
    assert abs(np.mean(many) - mean) <= 4 * np.std(many) / 20
    outside = np.mean([not low <= count <= high for count in many])
    assert outside <= 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5


def test_a_comparison_that_is_stopped_decides_nothing_further() -> None:
    calls: list[int] = []

    def measure(asked: Sequence[tuple[int, int]]) -> FloatArray:
        calls.append(len(asked))
        return np.zeros(1 if len(calls) == 2 else len(asked), np.float32)

    effects = np.ones(3, np.float32)
    found = compare_with_random(effects, measure)
    assert len(calls) == 2
    assert not found.complete
    assert found.made.tolist() == [2, 1, 1]
    assert not found.exceeded_by(effects).any()


def test_unknown_effects_are_not_compared() -> None:
    effects = np.array([np.nan, 0, -1], np.float32)
    found = compare(effects, np.zeros((3, COMPARED), np.float32))
    assert found.complete
    assert found.made.tolist() == [0, 0, 0]
    assert np.isnan(found.largest).all()
