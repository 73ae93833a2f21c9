"""Pairs of texts, and a permutation test for heads whose attention changes with the meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np
import numpy.typing as npt

from attention.comparison import by_words
from i18n import gettext_lazy
from inference.errors import UserError
from probing.delimited import rows
from probing.statistics import LEAST_P, LEVEL, holm, two_sided, verdict
from probing.text_files import decoded_or_guessed

SEED = 20261122
POINTS = 2**14  # points of the grid for the distribution of a difference
MOST_WAYS = 20_000  # maximal number of permutations of a group that are enumerated
DRAWS = 200_000  # random permutations of a larger group
RESAMPLES = 1_999  # bootstrap resamples
TOGETHER = 4_096  # maximal number of joint permutations of several groups that are enumerated
AT_ONCE = 5_000  # random permutations in memory at a time
BLOCK = 64  # heads in memory at a time
LEAST = 5  # minimal number of groups for an interval, by default

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean of a value of each head over groups of dependent text pairs, and its 95 % interval.

    ``mean``, ``low`` and ``high`` have the shape (head,). Without groups, all values are NaN. With too few
    groups, the ends of the interval are NaN.
    """

    mean: Numbers
    low: Numbers
    high: Numbers
    n: int  # number of groups


@dataclass(frozen=True, eq=False)
class ControlledChange:
    """The mean change of each head in text pairs and in control pairs, and the test of their difference.

    The change of a head in a pair is the divergence of its maps of the two texts. In control pairs, the difference
    between the texts should not matter. Arrays have the shape (head,).
    """

    change: Mean
    control: Mean
    more: Mean  # change minus control, over groups with both kinds
    p: Numbers  # two-sided p-values, corrected for all heads
    within: bool  # True if the comparison is within groups; False if no group has both kinds, so groups are compared
    least_p: float  # the smallest p-value, corrected, that any head can have in this number of pairs
    compared: tuple[Numbers, Numbers]  # means of the pairs and of the controls, over the groups that are compared

    @property
    def has_test(self) -> bool:
        """Return True if there are both control pairs and other pairs, which a test can compare."""
        return self.change.n > 0 and self.control.n > 0

    @property
    def n(self) -> int:
        """Return the number of groups of dependent pairs that the test compares: its sample size."""
        return self.more.n if self.within else self.change.n + self.control.n

    def verdict(self, head: int) -> str:
        """Return "more" or "less" if a head changes significantly more or less in pairs than in control pairs.

        Otherwise return "not clearly more", or "" if there are no control pairs.
        """
        return verdict(float(self.p[head]), float(self.apart[head])) if self.has_test else ""

    @property
    def apart(self) -> Numbers:
        """Return each head's mean change in text pairs minus its mean change in control pairs, shape (head,)."""
        return self.more.mean if self.within else self.change.mean - self.control.mean

    @property
    def less_heads(self) -> Integers:
        """Return the indices of the heads that change significantly less in pairs than in control pairs."""
        return np.flatnonzero((self.p <= LEVEL) & (self.apart < 0)) if self.has_test else np.zeros(0, np.intp)

    @property
    def more_heads(self) -> Integers:
        """Return the indices of the heads that change significantly more in pairs than in control pairs."""
        return np.flatnonzero((self.p <= LEVEL) & (self.apart > 0)) if self.has_test else np.zeros(0, np.intp)


def compare_with_control(values: Numbers, control: Bools, groups: Integers, least: int = LEAST) -> ControlledChange:
    """Test for each head if it changes more in text pairs than in control pairs.

    ``values`` are divergences, (pair, head). ``control`` (pair,) is True for control pairs, and ``groups`` (pair,)
    numbers the groups of dependent pairs; ``least`` is the number of groups that an interval needs. A two-sided
    permutation test exchanges control and other pairs within each group, or between groups if no group has both kinds.
    The p-values are corrected for all heads by Holm's method.

    >>> two = compare_with_control(np.array([[0.3], [0.1], [0.5], [0.1]]), np.array([False, True] * 2), np.array([0,
    ...     0, 1, 1]))
    >>> two.change.mean.round(3).tolist(), two.control.mean.round(3).tolist(), two.more.mean.round(3).tolist()
    ([0.4], [0.1], [0.3])
    >>> round(float(two.p[0]), 3), two.verdict(0)  # twice the share of one in four ways to call a pair the change
    (0.5, 'not clearly more')
    """
    values = values.astype(np.float64)
    changed, wording = _means(values, groups, ~control), _means(values, groups, control)
    both = changed - wording
    within = bool(np.isfinite(both).all(axis=1).any())
    # If no group has both kinds, each group counts as a single value, and all values form a single group.
    tested = (values, control, groups) if within else _stack_divergences(changed, wording)
    p = _permutation_p_values(*tested)
    change, wordings, more = (
        mean_of(one[np.isfinite(one).all(axis=1)], lowest, least)
        for one, lowest in ((changed, 0), (wording, 0), (both, -1))
    )
    paired = np.isfinite(both).all(axis=1)
    compared = (changed[paired].mean(axis=0), wording[paired].mean(axis=0)) if within else (change.mean, wordings.mean)
    least_p = min(1.0, _least_p(*tested[1:]) * values.shape[1])
    return ControlledChange(change, wordings, more, holm(p), within, least_p, compared)


def mean_of(values: Numbers, lowest: float = -1.0, least: int = LEAST) -> Mean:
    """Return each head's mean over the groups, with a 95 % bootstrap-t interval that resamples groups.

    ``values`` are (group, head), from ``lowest`` to 1. The interval is NaN for fewer than ``least`` groups.

    >>> same = mean_of(np.full((6, 1), 0.25))
    >>> same.mean.tolist(), same.low.tolist(), same.high.tolist()
    ([0.25], [0.25], [0.25])
    """
    n, heads = values.shape
    none = np.full(heads, np.nan)
    if n == 0:
        return Mean(none, none, none, 0)
    mean = values.mean(axis=0)
    if n < least:
        return Mean(mean, none, none, n)
    apart = values - mean
    apart[:, (values == values[0]).all(axis=0)] = 0  # removes rounding errors of constant columns
    counts = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(np.float64)
    shift = counts @ apart / n  # (resample, head)
    spread = np.sqrt(np.maximum(counts @ apart**2 / n - shift**2, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = shift / spread
    ratio[np.abs(shift) < 1e-15] = 0
    size = apart.std(axis=0)
    below, above = np.quantile(ratio, [0.975, 0.025], axis=0, method="nearest")
    with np.errstate(invalid="ignore"):
        low, high = (np.where(size > 0, np.clip(mean - end * size, lowest, 1), mean) for end in (below, above))
    return Mean(mean, low, high, n)


def _least_p(control: Bools, groups: Integers) -> float:
    """Return the smallest two-sided p-value of the permutation test: two in all permutations within groups.

    >>> _least_p(np.array([False, True] * 3), np.array([0, 0, 1, 1, 2, 2]))  # 2 / 2³
    0.25
    """
    ways = prod(comb(len(mine), int(mine.sum())) for mine in (control[groups == at] for at in np.unique(groups)))
    return min(1.0, 2 / ways)


def _means(values: Numbers, groups: Integers, kept: Bools) -> Numbers:
    """Return each group's mean over the pairs in ``kept``, shape (group, head); NaN for an empty group."""
    count = int(groups.max(initial=-1)) + 1
    sums, sizes = np.zeros((count, values.shape[1])), np.bincount(groups[kept], minlength=count)
    np.add.at(sums, groups[kept], values[kept])
    found: Numbers = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], np.nan)
    return found


def _stack_divergences(changed: Numbers, wording: Numbers) -> tuple[Numbers, Bools, Integers]:
    kinds = [one[np.isfinite(one).all(axis=1)] for one in (changed, wording)]
    control = np.repeat([False, True], [len(one) for one in kinds])
    return np.concatenate(kinds), control, np.zeros(len(control), np.intp)


def _permutation_p_values(values: Numbers, control: Bools, groups: Integers) -> Numbers:
    """Return two-sided p-values of the mean difference under permutation within groups, shape (head,)."""
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    members = [at for at in members if 0 < control[at].sum() < len(at)]
    if not members:
        return np.ones(values.shape[1])
    heads = range(0, values.shape[1], BLOCK)
    return np.concatenate([_tails(values[:, start : start + BLOCK], control, members) for start in heads])


def _tails(values: Numbers, control: Bools, members: list[Integers]) -> Numbers:
    """Return the two-sided p-value of the observed difference, summed over groups, shape (head,).

    ``values`` has shape (pair, head). The Fourier transform of a sum of independent differences is the product of
    their transforms. Rounding to the grid may move a sum by a few steps, so sums that are this close to the
    observed sum count as equal to it.
    """
    parts = _merge_groups(control, members)
    each = [[_attainable_extremes(values[at], int(control[at].sum())) for at in part] for part in parts]
    ends = np.array([np.sum(part, axis=0) for part in each])  # (part, end, head)
    step = (ends[:, 1] - ends[:, 0]).sum(axis=0) / (POINTS // 2)
    size = np.where(step > 0, step, 1)
    heads = values.shape[1]
    seen, spectrum = np.zeros(heads, np.intp), np.ones((heads, POINTS // 2 + 1), np.complex128)
    for part, (low, _high) in zip(parts, ends, strict=True):
        counts, ways = np.zeros(heads * POINTS), 0
        for differences in _differences(values, control, part):
            steps = np.rint((differences - low) / size).astype(np.intp)
            counts += np.bincount((steps + POINTS * np.arange(heads)).ravel(), minlength=heads * POINTS)
            seen += steps[0] if ways == 0 else 0  # the observed assignment comes first
            ways += len(steps)
        spectrum *= np.fft.rfft(counts.reshape(heads, POINTS) / ways)
    chances = np.fft.irfft(spectrum, POINTS)  # probability of each sum, in steps of the grid
    slack = np.ceil(4 * np.sqrt(len(parts) / 6))  # four standard deviations of the difference of two rounded sums
    sums = np.arange(POINTS)
    above = (chances * (sums >= seen[:, None] - slack)).sum(axis=1)
    below = (chances * (sums <= seen[:, None] + slack)).sum(axis=1)
    found: Numbers = np.clip(two_sided(above, below), LEAST_P, 1)
    return found


def _merge_groups(control: Bools, members: list[Integers]) -> list[list[Integers]]:
    """Return the groups in parts of up to ``TOGETHER`` joint permutations, few enough to enumerate."""
    parts: list[list[Integers]] = []
    room = 0.0
    for at in members:
        ways = comb(len(at), int(control[at].sum()))
        if ways <= room:
            parts[-1].append(at)
        else:
            parts.append([at])
            room = TOGETHER
        room /= ways
    return parts


def _differences(values: Numbers, control: Bools, part: list[Integers]) -> Iterator[Numbers]:
    """Yield the summed change minus control of some groups in blocks (permutation, head).

    The observed assignment comes first.
    """
    if len(part) == 1:
        yield from (weights @ values[part[0]] for weights in _permutation_weights(control[part[0]]))
        return
    total = np.zeros((1, values.shape[1]))
    for at in part:
        (weights,) = _permutation_weights(control[at])
        total = (total[:, None] + weights @ values[at]).reshape(-1, values.shape[1])
    yield total


def _attainable_extremes(values: Numbers, controls: int) -> Numbers:
    """Return the smallest and the largest possible change minus control of a group, shape (2, head).

    ``values`` has shape (pair, head).
    """
    order = np.sort(values, axis=0)
    changes = len(values) - controls
    low = order[:changes].mean(axis=0) - order[changes:].mean(axis=0)
    high = order[controls:].mean(axis=0) - order[:controls].mean(axis=0)
    return np.stack([low, high])


def _permutation_weights(control: Bools) -> Iterator[Numbers]:
    """Yield the weights of a group's pairs in change minus control, in blocks (permutation, pair).

    The permutations are all assignments with the same number of controls, or ``DRAWS`` random assignments if there
    are more than ``MOST_WAYS``. The observed assignment comes first.

    >>> [weights.tolist() for weights in _permutation_weights(np.array([False, True]))]
    [[[1.0, -1.0], [-1.0, 1.0]]]
    """
    pairs, controls = len(control), int(control.sum())

    def weights(called: Bools) -> Numbers:
        found: Numbers = np.where(called, -1 / controls, 1 / (pairs - controls))
        return found

    if comb(pairs, controls) <= MOST_WAYS:
        chosen = np.array(list(combinations(range(pairs), controls)))
        called = np.zeros((len(chosen), pairs), np.bool_)
        np.put_along_axis(called, chosen, True, axis=1)
        observed = int((called == control).all(axis=1).argmax())
        called[[0, observed]] = called[[observed, 0]]
        yield weights(called)
        return
    yield weights(control[None])
    chance = np.random.default_rng(SEED)
    for start in range(0, DRAWS, AT_ONCE):
        yield weights(chance.permuted(np.tile(control, (min(AT_ONCE, DRAWS - start), 1)), axis=1))


COLUMNS = ("a", "b")
KINDS = ("change", "control")
MOST_BYTES = 1_000_000  # maximal bytes of a file
MOST_PAIRS = 500  # maximal pairs in a file
LONGEST = 2_000  # maximal characters of a text


@dataclass(frozen=True)
class TextPair:
    """Two texts to compare; in a ``control`` pair, the difference between them should not matter."""

    a: str
    b: str
    control: bool = False

    @property
    def words(self) -> int:
        """Return the number of words that are replaced, added or removed between the texts.

        >>> TextPair("The key to the door is here.", "The keys to the door are here.").words
        2
        """
        one, other = self.a.casefold().split(), self.b.casefold().split()
        same = sum(one[at] == other[there] for at, there in by_words(one, other))
        return max(len(one), len(other)) - same


def parse(content: bytes, encoding: str = "") -> tuple[TextPair, ...]:
    """Parse a file of text pairs; raise UserError with a one-sentence message.

    If ``encoding`` is "", it is guessed.

    >>> parse(b"a,b,kind\\nIt was hot.,It was cold.,\\nIt was hot.,It was so hot.,control\\n")[1].control
    True
    """
    if len(content) > MOST_BYTES:
        raise UserError(
            gettext_lazy(
                "The file has {size:,} bytes; the limit is {most:,}. Split it.",
                size=len(content),
                most=MOST_BYTES,
            )
        )
    text, _ = decoded_or_guessed(content, encoding)
    found: list[TextPair] = []
    for line, row in rows(text, COLUMNS):
        if len(found) == MOST_PAIRS:
            raise UserError(
                gettext_lazy(
                    "The file has over {most:,} rows, from line {line} on. Shorten it.",
                    most=MOST_PAIRS,
                    line=line,
                )
            )
        found.append(_pair(row, line))
    if not found:
        raise UserError(gettext_lazy("The file has no pairs. Fill the columns a and b."))
    return tuple(found)


def _pair(row: dict[str, str], line: int) -> TextPair:
    a, b = (row[name].strip() for name in COLUMNS)
    for name, text in zip(COLUMNS, (a, b), strict=True):
        if not text:
            raise UserError(gettext_lazy("Line {line} has no text in column {column}.", line=line, column=name))
        if len(text) > LONGEST:
            raise UserError(
                gettext_lazy(
                    "Column {column} of line {line} has {characters:,} characters; the limit is {longest:,}.",
                    column=name,
                    line=line,
                    characters=len(text),
                    longest=LONGEST,
                )
            )
    kind = row.get("kind", "").strip().lower() or "change"
    if kind not in KINDS:
        raise UserError(
            gettext_lazy(
                "Line {line} has the kind “{kind}”; expected change, control or nothing.",
                line=line,
                kind=kind[:40],
            )
        )
    return TextPair(a, b, kind == "control")


def groups(pairs: Sequence[TextPair]) -> list[int]:
    """Return the group number of each pair; pairs that share a text, directly or through others, form a group.

    >>> hot, cold = TextPair("It was hot.", "It was cold."), TextPair("It was late.", "It was soon.")
    >>> groups([hot, cold, TextPair("It was so cold.", "It was cold.", True)])
    [0, 1, 0]
    """
    of: dict[str, int] = {}
    for at, pair in enumerate(pairs):
        joined = {of[text] for text in (pair.a, pair.b) if text in of}
        of.update({text: min([at, *joined]) for text, number in of.items() if number in joined})
        of.update(dict.fromkeys((pair.a, pair.b), min([at, *joined])))
    numbers = {number: place for place, number in enumerate(dict.fromkeys(of[pair.a] for pair in pairs))}
    return [numbers[of[pair.a]] for pair in pairs]
