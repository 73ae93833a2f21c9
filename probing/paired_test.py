"""Does a head find more than the rule does? A paired test on the same links, whole sentences at a time.

Links of one sentence are no independent evidence, so what is compared is a sentence's sum: how many of its links the
head finds, less how many the rule finds. If head and rule were equally good, each such difference could as well have
had the other sign: the sign-flip test (approximate randomization, arXiv:cs/0008005; its use in language processing,
doi:10.18653/v1/P18-1128). All 2^n flips are counted, none are drawn, so that the answer is exact and always the same;
with one link to a sentence it is McNemar's exact test (doi:10.1007/BF02295996). It asks whether the two could be
swapped: a head that is level on average but fails seldom, and then for all of a long sentence, is called more too often
(bench/luck.py says how often).

Every test is two-sided: p is twice the smaller tail, so "more" and "less" share the level. Many tests at once are
corrected by Holm's method (doi:10.2307/4615733), which holds whatever the tests have to do with each other: the chance
that even one "more" or "less" is luck is at most LEVEL.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from i18n import gettext_lazy

LEVEL = 0.05  # probability of any "more" or "less" by luck among all tests that are corrected together
LEAST_P = 1e-12  # smaller ones are rounding
MOST_POINTS = 2**18  # totals times tests whose probabilities are computed at a time
Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


def by_sentence(differences: Integers | npt.NDArray[np.int8], sentences: Integers) -> Integers:
    """Sums of what belongs to one sentence, (sentence, test); ``differences`` is (link, test), -1, 0 or 1.

    >>> by_sentence(np.array([[1], [1], [-1]]), np.array([7, 3, 7])).tolist()
    [[1], [0]]
    """
    order = np.argsort(sentences, kind="stable")
    names, starts = np.unique(sentences[order], return_index=True)
    sums = np.zeros((len(names), differences.shape[1]), np.int64)
    for test in range(differences.shape[1] if len(names) else 0):  # all at once they would be widened to eight bytes
        sums[:, test] = np.add.reduceat(differences[order, test], starts, dtype=np.int64)
    return sums


def sign_flips(sums: Integers) -> Numbers:
    """Return how likely so large a total is if every sentence's sum could as well have had the other sign, (test,).

    ``sums`` is (sentence, test). The probability is the share of all flips whose total is at least the total seen.

    >>> sign_flips(np.array([[1], [1], [1]])).round(3).tolist()  # one flip of eight is as large
    [0.125]
    >>> sign_flips(np.array([[2, 0], [-1, 0]])).round(3).tolist()  # 2-1 and 2+1 of ±2±1; nothing differs
    [0.5, 1.0]
    """
    return _tails(sums)[0]


def _tails(sums: Integers) -> tuple[Numbers, Numbers]:
    """Return the shares of all flips whose total is at least, and at most, the total seen, each (test,).

    Some tests are computed at a time, so that the memory does not grow with their number.
    """
    above, below = np.ones(sums.shape[1]), np.ones(sums.shape[1])
    points = int(np.abs(sums).sum(axis=0).max(initial=0)) + 1
    step = max(1, MOST_POINTS // points)
    for first in range(0, sums.shape[1], step):
        some = slice(first, first + step)
        above[some], below[some] = _tails_of_block(sums[:, some])
    return above, below


def _tails_of_block(sums: Integers) -> tuple[Numbers, Numbers]:
    """Return the same of a few tests.

    The distribution is the product of the sentences' characteristic functions, cos(size · angle), read back by a
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
    # A total is 2k - reach, where k is the sum of the sizes whose sign is +; k = 0 … reach.
    chances = np.fft.fft(signed * np.exp(1j * angles[:, None] * reach), axis=0).real / points
    totals, seen = 2 * np.arange(points)[:, None] - reach, sums.sum(axis=0)
    possible = totals <= reach

    def share(counted: npt.NDArray[np.bool_]) -> Numbers:
        found: Numbers = np.clip((chances * (counted & possible)).sum(axis=0), LEAST_P, 1)
        return found

    return share(totals >= seen), share(totals <= seen)


def two_sided(above: Numbers, below: Numbers) -> Numbers:
    """Return two-sided p: twice the smaller of the probabilities of a value as large and of a value as small.

    >>> two_sided(np.array([0.01, 0.6]), np.array([1.0, 0.6])).tolist()
    [0.02, 1.0]
    """
    both: Numbers = np.minimum(2 * np.minimum(above, below), 1)
    return both


def sign_flip_test(sums: Integers) -> Numbers:
    """Return the two-sided p of each test's total, (test,); ``sums`` is (sentence, test).

    >>> sign_flip_test(np.array([[1, -1], [1, -1], [1, -1]])).round(3).tolist()
    [0.25, 0.25]
    """
    return two_sided(*_tails(sums))


def holm(chances: Numbers) -> Numbers:
    """Each of many tests' p, corrected for all of them: the smallest times their number, the next times one less, ….

    >>> holm(np.array([[0.01, 0.5], [0.02, 0.04]])).tolist()
    [[0.04, 0.5], [0.06, 0.08]]
    """
    flat = chances.ravel()
    order = np.argsort(flat, kind="stable")
    raised = np.maximum.accumulate(flat[order] * np.arange(len(flat), 0, -1))
    result = np.empty_like(flat)
    result[order] = np.minimum(raised, 1)
    return result.reshape(chances.shape)


def verdict(p: float, difference: float) -> str:
    """Return the result of a two-sided test, corrected: "more", "less", or "not clearly more".

    >>> verdict(0.01, 3.0), verdict(0.2, 3.0), verdict(0.01, -3.0)
    ('more', 'not clearly more', 'less')
    """
    if p > LEVEL:
        return gettext_lazy("not clearly more")
    return gettext_lazy("more") if difference > 0 else gettext_lazy("less")
