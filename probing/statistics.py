"""Baseline rules, confidence intervals, random changes and tests for scores and effects of heads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt

import numpy as np
import numpy.typing as npt

from attention.annotations import AnnotatedText, Link
from attention.mask import FloatArray
from i18n import gettext_lazy

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Z = 1.959963984540054  # standard deviations around the mean that contain 95 % of a normal distribution

COMPARED = 19  # random changes of a site; one effect in 20 exceeds all of them by chance
ROUNDS = (1, 2, 4, 12)  # random changes made together; a site with a larger one gets no further ones
MOVED = 1e-6  # smallest change that is not a rounding error


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the share ``hits`` / ``n``, in percent; it never leaves 0 to 100.

    E. B. Wilson, 1927, doi:10.2307/2276774.

    >>> [round(end, 1) for end in wilson(8, 10)]
    [49.0, 94.3]
    """
    if n < 1:
        return 0.0, 100.0
    share = hits / n
    middle = share + Z**2 / (2 * n)
    reach = Z * sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    low, high = ((middle + sign * reach) / (1 + Z**2 / n) for sign in (-1, 1))
    return 100 * low if hits else 0.0, 100 * high if hits < n else 100.0


@dataclass(frozen=True, eq=False)
class RandomChanges:
    """Random changes of sites (words or heads), each as large as the change that is tested at its site.

    ``made`` is the number of random changes of each site, at most COMPARED, and ``largest`` their largest effect, NaN
    without any. A site has fewer than COMPARED if its own effect is not above MOVED, or if a random change had a larger
    effect. ``complete`` is False if the visitor stopped before all sites were compared.
    """

    made: Integers
    largest: FloatArray
    complete: bool = True

    def exceeded_by(self, effects: FloatArray) -> npt.NDArray[np.bool_]:
        """Return True for each site whose effect is larger than those of all COMPARED random changes."""
        found: npt.NDArray[np.bool_] = (self.made == COMPARED) & (effects > self.largest)
        return found

    def part(self, sites: slice, shape: tuple[int, ...]) -> RandomChanges:
        """Return the random changes of some sites, in another shape."""
        return RandomChanges(self.made[sites].reshape(shape), self.largest[sites].reshape(shape), self.complete)


def compare_with_random(
    effects: FloatArray, measure: Callable[[Sequence[tuple[int, int]]], FloatArray]
) -> RandomChanges:
    """Compare the effect at each site with the effects of random changes of the same size at this site.

    ``effects`` (site,) may be NaN. ``measure`` returns the effects of random changes, given pairs (site, number of the
    random change); fewer than asked end the comparison. If a change acts like a random one, its effect exceeds all
    COMPARED random effects with a probability of 1/20. A site is left at the first larger random effect, which decides
    its result (J. Besag and P. Clifford, 1991, doi:10.1093/biomet/78.2.301).

    >>> found = compare_with_random(np.array([3.0, 1.0]), lambda asked: np.array([2.0 for _ in asked]))
    >>> found.made.tolist(), found.largest.tolist(), found.exceeded_by(np.array([3.0, 1.0])).tolist()
    ([19, 1], [2.0, 2.0], [True, False])
    """
    made, largest = np.zeros(len(effects), np.int64), np.full(len(effects), np.nan, np.float32)
    for most in np.cumsum(ROUNDS):
        left = np.flatnonzero((effects > MOVED) & ~(largest >= effects))
        asked = [(int(site), number) for site in left for number in range(made[site], most)]
        drawn = measure(asked) if asked else np.zeros(0, np.float32)
        for (site, _number), effect in zip(asked, drawn, strict=False):
            largest[site] = np.fmax(largest[site], effect)
            made[site] += 1
        if len(drawn) < len(asked):
            return RandomChanges(made, largest, complete=False)
    return RandomChanges(made, largest)


def count_by_chance(sites: int) -> tuple[float, int, int]:
    """Return how many of ``sites`` exceed all their random changes by chance, as (mean, low, high).

    ``low`` and ``high`` are the ends of a 95 % range, if the sites are independent.

    >>> count_by_chance(72)
    (3.6, 1, 8)
    """
    p = 1 / (COMPARED + 1)
    below = np.cumsum([comb(sites, k) * p**k * (1 - p) ** (sites - k) for k in range(sites + 1)])
    return sites * p, int(np.searchsorted(below, 0.025)), int(np.searchsorted(below, 0.975))


LEVEL = 0.05  # probability of any false "more" or "less" in a family of corrected tests
LEAST_P = 1e-12  # smaller p-values are rounding errors
MOST_POINTS = 2**18  # maximal size (totals times tests) of a block of probabilities


def by_sentence(differences: Integers | npt.NDArray[np.int8], sentences: Integers) -> Integers:
    """Sum the differences between head and rule over each sentence, (link, test) -> (sentence, test).

    A difference is -1, 0 or 1. ``sentences`` (link,) has the number of each link's sentence, or of its group of
    dependent sentences. The result is sorted by this number.

    >>> by_sentence(np.array([[1], [1], [-1]]), np.array([7, 3, 7])).tolist()
    [[1], [0]]
    """
    order = np.argsort(sentences, kind="stable")
    names, starts = np.unique(sentences[order], return_index=True)
    sums = np.zeros((len(names), differences.shape[1]), np.int64)
    # A single reduceat over all tests would convert everything to int64.
    for test in range(differences.shape[1] if len(names) else 0):
        sums[:, test] = np.add.reduceat(differences[order, test], starts, dtype=np.int64)
    return sums


def sign_flips(sums: Integers) -> Numbers:
    """Return one-sided p-values of the sign-flip test, (sentence, test) -> (test,): are the differences positive?

    ``sums`` has the difference of each sentence. By chance, either sign would be equally likely. The p-value is the
    share of all ways to set the signs whose total is at least the observed total.

    >>> sign_flips(np.array([[1], [1], [1]])).round(3).tolist()  # one flip of eight is as large
    [0.125]
    >>> sign_flips(np.array([[2, 0], [-1, 0]])).round(3).tolist()  # 2-1 and 2+1 of ±2±1; nothing differs
    [0.5, 1.0]
    """
    return _tails(sums)[0]


def _tails(sums: Integers) -> tuple[Numbers, Numbers]:
    """Return the shares of sign flips with a total at least, and at most, the observed total.

    Both have shape (test,). The tests are processed in blocks, so that the memory does not grow with their number.
    """
    above, below = np.ones(sums.shape[1]), np.ones(sums.shape[1])
    points = int(np.abs(sums).sum(axis=0).max(initial=0)) + 1
    step = max(1, MOST_POINTS // points)
    for first in range(0, sums.shape[1], step):
        some = slice(first, first + step)
        above[some], below[some] = _tails_of_block(sums[:, some])
    return above, below


def _tails_of_block(sums: Integers) -> tuple[Numbers, Numbers]:
    """Return the tails of a block of tests.

    The distribution is the product of the sentences' characteristic functions, cos(size · angle), inverted by a
    Fourier transform.
    """
    sizes = np.abs(sums)
    reach = sizes.sum(axis=0)  # (test,)
    points = int(reach.max(initial=0)) + 1
    angles = np.pi * np.arange(points) / points
    values = np.arange(1, int(sizes.max(initial=0)) + 1)
    times = np.array([(sizes == value).sum(axis=0) for value in values], np.float64).reshape(len(values), len(reach))
    cosines = np.cos(angles[:, None] * values)  # (angle, size)
    whole = np.exp(np.log(np.maximum(np.abs(cosines), 1e-300)) @ times)
    signed = np.where(((cosines < 0) @ times) % 2 > 0, -whole, whole)  # (angle, test)
    # A total equals 2k - reach, with k the sum of the sizes with sign +; k = 0 … reach.
    chances = np.fft.fft(signed * np.exp(1j * angles[:, None] * reach), axis=0).real / points
    totals, seen = 2 * np.arange(points)[:, None] - reach, sums.sum(axis=0)
    possible = totals <= reach

    def share(counted: npt.NDArray[np.bool_]) -> Numbers:
        found: Numbers = np.clip((chances * (counted & possible)).sum(axis=0), LEAST_P, 1)
        return found

    return share(totals >= seen), share(totals <= seen)


def two_sided(above: Numbers, below: Numbers) -> Numbers:
    """Return two-sided p-values from the one-sided p-values of both sides: twice the smaller value, at most 1.

    >>> two_sided(np.array([0.01, 0.6]), np.array([1.0, 0.6])).tolist()
    [0.02, 1.0]
    """
    both: Numbers = np.minimum(2 * np.minimum(above, below), 1)
    return both


def sign_flip_test(sums: Integers) -> Numbers:
    """Return two-sided p-values of the sign-flip test, (sentence, test) -> (test,): are the differences unlike zero?

    >>> sign_flip_test(np.array([[1, -1], [1, -1], [1, -1]])).round(3).tolist()
    [0.25, 0.25]
    """
    return two_sided(*_tails(sums))


def holm(chances: Numbers) -> Numbers:
    """Correct the p-values of n tests for multiple testing by Holm's method.

    The smallest p-value is multiplied by n, the next by n - 1, and so on. Corrected p-values are at most 1, and keep
    the order of the p-values.

    >>> holm(np.array([[0.01, 0.5], [0.02, 0.04]])).tolist()
    [[0.04, 0.5], [0.06, 0.08]]
    """
    flat = chances.ravel()
    order = np.argsort(flat, kind="stable")
    raised = np.maximum.accumulate(flat[order] * np.arange(len(flat), 0, -1))
    result = np.empty_like(flat)
    result[order] = np.minimum(raised, 1)
    return result.reshape(chances.shape)


ORDERS = 9_999  # random orders of the words in a permutation test


def rank_p_values(rows: FloatArray, row: FloatArray) -> Numbers:
    """Return the p-values of Spearman's rank correlations between ``rows`` (method, word) and ``row`` (word,).

    The permutation test is two-sided. It compares the correlations with those of ORDERS random orders of the words,
    which are the same in each call. No row may be constant.

    >>> rank_p_values(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 1, 4, 3, 1, 2]]), np.arange(6.0)).round(2).tolist()
    [0.0, 0.98]
    """
    from scipy.stats import rankdata

    def center_ranks(values: FloatArray) -> FloatArray:
        found: FloatArray = rankdata(values, axis=-1) - (values.shape[-1] + 1) / 2
        return found

    one, other = center_ranks(rows), center_ranks(row)
    orders = np.random.default_rng(0).permuted(np.tile(other, (ORDERS, 1)), axis=1)
    beyond = np.abs(orders @ one.T) >= np.abs(other @ one.T) - 1e-9  # (draw, method)
    found: Numbers = (1 + beyond.sum(axis=0)) / (1 + ORDERS)
    return found


def verdict(p: float, difference: float) -> str:
    """Return the result of a comparison: "not clearly more" if ``p`` is above LEVEL, else "more" or "less".

    ``p`` is a corrected p-value. The sign of ``difference`` decides between "more" and "less".

    >>> verdict(0.01, 3.0), verdict(0.2, 3.0), verdict(0.01, -3.0)
    ('more', 'not clearly more', 'less')
    """
    if p > LEVEL:
        return gettext_lazy("not clearly more")
    return gettext_lazy("more") if difference > 0 else gettext_lazy("less")


# Rules for links with candidates; a link's cue is the sum of the rules that find it.
GUESS, NEAREST, FIRST, SUBJECT = 0, 1, 2, 4
RULES = {
    GUESS: gettext_lazy("a guess between the two"),
    NEAREST: gettext_lazy("nearest candidate"),
    FIRST: gettext_lazy("earlier candidate"),
    SUBJECT: gettext_lazy("candidate nearest to its sentence's start"),
}
CHANCE = 0.5  # accuracy of a guess: every format with candidates has two per link
ENDS = re.compile(r"[.!?][\"'”’)]*\s|[。！？\n]")  # ends of sentences


def cue(item: AnnotatedText, link: Link) -> int:
    """Return a number that encodes which baseline rules find a link, called its cue.

    If every word is a candidate, each rule is a signed distance in words, and the cue is the distance from source to
    target. If the file lists candidates, the cue is the sum of the flags (NEAREST, FIRST, SUBJECT) of the rules that
    find the target. These rules compare positions of first characters. A rule does not find the target in a tie.
    """
    if link.others is None:
        return link.target - link.source
    start = item.units[link.source][0]
    places = [item.units[unit][0] for unit in (link.target, *link.others)]
    orders = {
        NEAREST: [abs(place - start) for place in places],
        FIRST: places,
        SUBJECT: [len(item.text[_beginning(item.text, place) : place].split()) for place in places],
    }
    return sum(rule for rule, order in orders.items() if order[0] < min(order[1:]))


def _beginning(text: str, place: int) -> int:
    """Return the character index at which the sentence around ``place`` begins.

    >>> _beginning("It rains. The cat sleeps.", 14)
    10
    """
    return max((match.end() for match in ENDS.finditer(text, 0, place)), default=0)


def count_found(cues: Mapping[int, int], rule: int, candidates: bool) -> float:
    """Return the number of links that a baseline rule finds; for the rule "guess", the expected number.

    ``cues`` maps each cue, which encodes the rules that find a link, to its number of links.

    >>> count_found({1: 3, 3: 2, 2: 1}, FIRST, candidates=True), count_found({1: 3, 3: 2, 2: 1}, GUESS, candidates=True)
    (3, 3.0)
    """
    if not candidates:
        return cues.get(rule, 0)
    if rule == GUESS:
        return CHANCE * sum(cues.values())
    return sum(times for cue, times in cues.items() if cue & rule)


def best(cues: Mapping[int, int], reported: Mapping[int, int], candidates: bool) -> int:
    """Return the baseline rule that finds the most links; in a tie between distances, the shorter distance.

    ``cues`` and ``reported`` map each cue, which encodes the rules that find a link, to its number of links. If the
    corpus has candidates, the counts of ``cues`` and ``reported`` are added up, which favours the rule over heads. Ties
    are then decided on ``reported``. The rule "guess" is returned if it finds more of the reported links than the best
    other rule.

    >>> best({-1: 3, 1: 5, 4: 2}, {4: 9}, candidates=False)
    1
    >>> best({1: 3, 2: 3}, {1: 4, 2: 6}, candidates=True), best({1: 9, 2: 3}, {1: 4, 2: 6}, candidates=True)
    (2, 0)
    """
    if not candidates:
        return max(cues, key=lambda cue: (cues[cue], -abs(cue), cue))
    order = (NEAREST, FIRST, SUBJECT, GUESS)
    found = {rule: [count_found(each, rule, candidates) for each in (cues, reported)] for rule in order}
    chosen = max(order, key=lambda rule: (sum(found[rule]), found[rule][1]))
    return max((chosen, GUESS), key=lambda rule: count_found(reported, rule, candidates))


def name(rule: int, candidates: bool) -> str:
    """Return the name of a baseline rule: a distance in words, or, with ``candidates``, one of RULES.

    >>> name(-1, candidates=False), name(3, candidates=False)
    ('always the word before', 'always 3 words on')
    """
    if candidates:
        return RULES[rule]
    near = {-1: gettext_lazy("always the word before"), 1: gettext_lazy("always the next word")}
    if rule in near:
        return near[rule]
    words = abs(rule)
    return gettext_lazy("always {n} words on", n=words) if rule > 0 else gettext_lazy("always {n} words back", n=words)
