"""The paired sign-flip test: agreement with enumeration and McNemar's test, and its error rate."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control

from probing import formats, statistics
from probing.results import can_be_significant
from probing.score import RelationCounts
from probing.statistics import LEVEL, by_sentence, holm, sign_flip_test, sign_flips


def every_flip(sums: np.ndarray) -> float:
    """Return the share of all sign flips with a total of at least the observed total, by enumeration."""
    totals = [
        sum(sign * size for sign, size in zip(signs, sums, strict=True)) for signs in product((1, -1), repeat=len(sums))
    ]
    return float(np.mean([total >= sums.sum() for total in totals]))


@pytest.mark.parametrize("seed", range(5))
def test_it_equals_counting_every_flip(seed: int) -> None:
    sums = np.random.default_rng(seed).integers(-3, 4, (9, 4))
    np.testing.assert_allclose(sign_flips(sums), [every_flip(sums[:, at]) for at in range(4)], rtol=1e-9)


def test_with_one_link_to_a_sentence_it_is_mcnemars() -> None:
    sums = np.array([1] * 14 + [-1] * 5 + [0] * 30)
    expected = binomtest(14, 19, alternative="greater").pvalue
    assert sign_flips(sums[:, None])[0] == pytest.approx(expected, rel=1e-9)


def test_more_and_less_share_a_two_sided_level() -> None:
    sums = np.array([[1, -1]] * 14 + [[-1, 1]] * 5)
    np.testing.assert_allclose(sign_flip_test(sums), binomtest(14, 19).pvalue, rtol=1e-9)
    null = np.random.default_rng(0).choice([-1, 1], (60, 4000))
    assert (sign_flip_test(null) <= LEVEL).mean() <= LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / 4000)


def test_a_gain_and_the_same_loss_mirror_each_other() -> None:
    sums = np.random.default_rng(1).integers(-4, 5, (300, 6))
    more, less = sign_flips(sums), sign_flips(-sums)
    assert (more + less >= 1 - 1e-9).all()  # The observed total counts in both tails.
    np.testing.assert_allclose(sign_flips(np.concatenate([sums, np.zeros((9, 6), int)])), more, rtol=1e-9)


@pytest.mark.parametrize("most", [1, 700, 2**18])
def test_a_two_sided_test_is_twice_the_smaller_tail(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "MOST_POINTS", most)
    sums = np.random.default_rng(6).integers(-4, 5, (120, 7))
    expected = np.minimum(2 * np.minimum(sign_flips(sums), sign_flips(-sums)), 1)
    np.testing.assert_allclose(sign_flip_test(sums), expected, rtol=1e-9, atol=1e-10)


def test_memory_of_a_test_does_not_grow_with_its_heads() -> None:
    sums = np.random.default_rng(7).integers(-9, 10, (1_000, 1))
    peaks = []
    for heads in (60, 480):
        many = np.repeat(sums, heads, axis=1)
        tracemalloc.start()
        sign_flip_test(many)
        peaks.append(tracemalloc.get_traced_memory()[1] - many.nbytes)
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_sums_by_sentence_equal_a_loop() -> None:
    random = np.random.default_rng(8)
    differences, sentences = random.integers(-1, 2, (300, 5)).astype(np.int8), random.integers(0, 40, 300)
    expected = [differences[sentences == name].sum(axis=0) for name in np.unique(sentences)]
    np.testing.assert_array_equal(by_sentence(differences, sentences), expected)
    long = by_sentence(np.ones((300, 1), np.int8), np.zeros(300, int))
    assert long.tolist() == [[300]]  # The sum exceeds the range of int8.


def test_links_of_one_sentence_do_not_count_as_many() -> None:
    one_each, all_in_one = np.arange(12), np.zeros(12, int)
    gains = np.ones((12, 1), int)
    assert sign_flips(by_sentence(gains, one_each))[0] == pytest.approx(2.0**-12)
    assert sign_flips(by_sentence(gains, all_in_one))[0] == pytest.approx(0.5)


def test_thousands_of_sentences_keep_a_share_between_0_and_1() -> None:
    sums = np.random.default_rng(2).integers(-9, 10, (2500, 3)) + np.array([0, 1, -1])
    found = sign_flips(sums)
    assert ((found > 0) & (found <= 1)).all()
    assert found[1] < 1e-6
    assert found[2] > 1 - 1e-6


def test_nothing_to_compare_is_no_evidence() -> None:
    assert sign_flips(np.zeros((4, 2), int)).tolist() == [1, 1]
    assert sign_flips(np.zeros((0, 2), int)).tolist() == [1, 1]


def test_holm_is_between_no_correction_and_bonferroni_and_never_easier_than_the_false_discovery_rate() -> None:
    chances = np.random.default_rng(3).random((4, 6)) ** 4
    corrected = holm(chances)
    assert corrected.shape == chances.shape
    assert (corrected >= chances).all()
    assert (corrected <= np.minimum(1, chances.size * chances)).all()
    assert (corrected >= false_discovery_control(chances.ravel()).reshape(chances.shape) - 1e-12).all()
    assert corrected.min() == pytest.approx(min(1, chances.size * chances.min()))
    assert (np.diff(corrected.ravel()[chances.argsort(axis=None)]) >= 0).all()


@pytest.mark.slow
def test_where_no_head_is_better_any_is_called_better_in_at_most_one_of_twenty() -> None:
    """Family-wise error rate of 30 heads that equal the rule.

    Links within a sentence are correlated.
    """
    random, times = np.random.default_rng(4), 200
    sentences = np.repeat(np.arange(40), 4)
    wrong = {"by sentence": 0, "not corrected": 0, "link by link": 0}
    for _ in range(times):
        ease = random.beta(1, 1, (40, 31))[sentences]  # The axes are link, and rule plus heads.
        hits = (random.random(ease.shape) < ease).astype(int)
        differences = hits[:, 1:] - hits[:, :1]
        sums = by_sentence(differences, sentences)
        wrong["by sentence"] += int((holm(sign_flips(sums)) <= LEVEL).any())
        wrong["not corrected"] += int((sign_flips(sums) <= LEVEL).any())
        wrong["link by link"] += int((holm(sign_flips(differences)) <= LEVEL).any())
    luck = 3 * (LEVEL * (1 - LEVEL) / times) ** 0.5
    assert wrong["by sentence"] / times <= LEVEL + luck
    # Clustering by sentence and correction are both necessary.
    assert min(wrong["not corrected"], wrong["link by link"]) / times > LEVEL + luck


@pytest.mark.parametrize("tests", [1, 24, 144])
def test_few_sentences_cannot_be_significant_in_many_tests(tests: int) -> None:
    corpus = formats.load_ready_set("grammar")
    for sentences in range(1, 14):
        places = [(at, number) for at in range(sentences) for number in range(2)]
        hits = np.ones((len(places), 2, 1, 1), bool)
        counts, basis = (RelationCounts.from_hits(places, [cue] * len(places), hits) for cue in (1, 2))
        groups = len(set(corpus.groups[:sentences]))
        least = sign_flip_test(np.ones((groups, 1), np.int64))[0]  # a head that is better in every group
        assert can_be_significant(counts, basis, corpus, tests) == (min(1.0, least * tests) <= LEVEL)
        assert not can_be_significant(counts, counts, corpus, tests)  # the rule finds all links
