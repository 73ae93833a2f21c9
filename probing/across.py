"""Which heads change with the meaning, over a set of pairs, beside what a change of wording does.

Pairs that share a text are no independent evidence, so a group of them counts once: what it says of a head is the mean
over its changes, and the mean over its controls. A mean over groups has a 95 % interval by the studentized bootstrap,
groups drawn again (B. Efron, R. Tibshirani, 1993, An Introduction to the Bootstrap, chapter 12.5): divergences have a
long tail upwards, and of twenty the plain percentiles would cover too seldom.

Whether a head changes more with the meaning is asked by a permutation test: if meaning made no difference, any pair of
a group could as well have been the one that is called a change. Flips of signs (probing/paired.py) would ask nearly the
same; but one change beside the mean of three controls is no even coin when both have a long tail. The p of all heads
are corrected by Holm's method. All that is drawn is drawn from one seed, so that an answer is always the same; where
there are no more ways than would be drawn, all are counted, since one seed may miss just those that matter.

The test asks whether the pairs could be swapped. Where controls have a far longer tail than changes, heads that are
level on the mean are called more too often (`python -m bench luck_across`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np
import numpy.typing as npt

from probing.paired import LEVEL, holm, verdict

SEED = 20261122
DRAWS = 9_999  # permutations at least
RESAMPLES = 1_999  # of the bootstrap
BLOCK = 1_000  # permutations at once
LEAST = 5  # groups for an interval

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Mean:
    """A mean over groups and its 95 % interval, (head,) each; no number (NaN) where nothing is known."""

    mean: Numbers
    low: Numbers
    high: Numbers
    n: int  # groups


@dataclass(frozen=True, eq=False)
class Across:
    """What a set says of each head, (head,)."""

    change: Mean
    control: Mean
    more: Mean  # change less control, over groups that have both
    p_more: Numbers  # corrected for all heads
    p_less: Numbers
    within: bool  # compared within groups; else no group had both kinds, and groups stand against each other

    @property
    def tested(self) -> bool:
        """Whether there is a control at all, and something to hold it against."""
        return self.change.n > 0 and self.control.n > 0

    def verdict(self, head: int) -> str:
        """What the test says: "more", "less", or "not clearly more"; "" without a control."""
        return verdict(float(self.p_more[head]), float(self.p_less[head])) if self.tested else ""

    def those(self, more: bool) -> Integers:
        """The heads that change more, or less, with the meaning than with the wording."""
        return np.flatnonzero((self.p_more if more else self.p_less) <= LEVEL) if self.tested else np.zeros(0, np.intp)


def across(values: Numbers, control: Bools, groups: Integers) -> Across:
    """From every pair's divergence, (pair, head), which pairs are controls and which belong together, (pair,).

    >>> two = across(np.array([[0.3], [0.1], [0.5], [0.1]]), np.array([False, True] * 2), np.array([0, 0, 1, 1]))
    >>> two.change.mean.round(3).tolist(), two.control.mean.round(3).tolist(), two.more.mean.round(3).tolist()
    ([0.4], [0.1], [0.3])
    >>> float(two.p_more[0]), two.verdict(0)  # one of four ways to call a pair of each the change
    (0.25, 'not clearly more')
    """
    values = values.astype(np.float64)
    changed, wording = _means(values, groups, ~control), _means(values, groups, control)
    both = changed - wording
    within = bool(np.isfinite(both).all(axis=1).any())
    # Where no group has both kinds, each group is one value, and all of them are one group.
    p_more, p_less = _chances(values, control, groups) if within else _chances(*_stacked(changed, wording))
    change, wordings, more = (mean_of(one[np.isfinite(one).all(axis=1)]) for one in (changed, wording, both))
    return Across(change, wordings, more, holm(p_more), holm(p_less), within)


def mean_of(values: Numbers) -> Mean:
    """The mean over groups, (group, head) -> (head,), with its interval.

    >>> same = mean_of(np.full((6, 1), 0.25))
    >>> same.mean.tolist(), same.low.tolist(), same.high.tolist()
    ([0.25], [0.25], [0.25])
    """
    n, heads = values.shape
    none = np.full(heads, np.nan)
    if n == 0:
        return Mean(none, none, none, 0)
    mean = values.mean(axis=0)
    if n < LEAST:
        return Mean(mean, none, none, n)
    apart = values - mean
    apart[:, (values == values[0]).all(axis=0)] = 0  # rounding is no spread
    counts = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(np.float64)
    shift = counts @ apart / n  # (resample, head)
    spread = np.sqrt(np.maximum(counts @ apart**2 / n - shift**2, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = shift / spread
    ratio[np.abs(shift) < 1e-15] = 0
    size = apart.std(axis=0)
    below, above = np.quantile(ratio, [0.975, 0.025], axis=0, method="nearest")
    with np.errstate(invalid="ignore"):
        low, high = (np.where(size > 0, np.clip(mean - end * size, -1, 1), mean) for end in (below, above))
    return Mean(mean, low, high, n)


def _means(values: Numbers, groups: Integers, kept: Bools) -> Numbers:
    """Each group's mean over the pairs that are kept, (group, head); NaN for a group without any."""
    count = int(groups.max(initial=-1)) + 1
    sums, sizes = np.zeros((count, values.shape[1])), np.bincount(groups[kept], minlength=count)
    np.add.at(sums, groups[kept], values[kept])
    found: Numbers = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], np.nan)
    return found


def _stacked(changed: Numbers, wording: Numbers) -> tuple[Numbers, Bools, Integers]:
    kinds = [one[np.isfinite(one).all(axis=1)] for one in (changed, wording)]
    control = np.repeat([False, True], [len(one) for one in kinds])
    return np.concatenate(kinds), control, np.zeros(len(control), np.intp)


def _chances(values: Numbers, control: Bools, groups: Integers) -> tuple[Numbers, Numbers]:
    """How likely so large, and so small, a mean difference is when pairs of a group are called changes at random."""
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    members = [at for at in members if 0 < control[at].sum() < len(at)]
    heads = values.shape[1]
    if not members:
        return np.ones(heads), np.ones(heads)
    draws = max(DRAWS, 40 * heads)  # the smallest p there is, times all heads, is below the level
    ways = prod(comb(len(at), int(control[at].sum())) for at in members)
    seen = _weights(control[None], members) @ values
    few = ways <= draws
    above, below = np.zeros(heads), np.zeros(heads)
    for called in _every(control, members, ways) if few else _called(control, members, draws):
        found = _weights(called, members) @ values
        above += (found >= seen - 1e-12).sum(axis=0)
        below += (found <= seen + 1e-12).sum(axis=0)
    if few:  # and what is seen is one of them
        return above / ways, below / ways
    return (1 + above) / (1 + draws), (1 + below) / (1 + draws)


def _every(control: Bools, members: list[Integers], ways: int) -> Iterator[Bools]:
    """All ways to call pairs of a group controls, as many in each as there are, (way, pair), some at a time."""
    choices = [_choices(len(at), int(control[at].sum())) for at in members]
    for start in range(0, ways, BLOCK):
        number = np.arange(start, min(start + BLOCK, ways))
        called = np.tile(control, (len(number), 1))
        for at, each in zip(members, choices, strict=True):
            number, which = np.divmod(number, len(each))
            called[:, at] = each[which]
        yield called


def _choices(pairs: int, controls: int) -> Bools:
    """Every choice of so many of some pairs, (choice, pair)."""
    return np.array([[at in chosen for at in range(pairs)] for chosen in combinations(range(pairs), controls)])


def _called(control: Bools, members: list[Integers], draws: int) -> Iterator[Bools]:
    """Which pairs are called controls, (draw, pair), as many in each group as there are, some draws at a time."""
    chance = np.random.default_rng(SEED)
    for start in range(0, draws, BLOCK):
        called = np.tile(control, (min(BLOCK, draws - start), 1))
        for at in members:
            called[:, at] = chance.permuted(called[:, at], axis=1)
        yield called


def _weights(called: Bools, members: list[Integers]) -> Numbers:
    """What each pair counts for in the mean over groups of change less control, (draw, pair)."""
    found = np.zeros(called.shape)
    for at in members:
        controls = int(called[0, at].sum())
        found[:, at] = np.where(called[:, at], -1 / controls, 1 / (len(at) - controls)) / len(members)
    return found
