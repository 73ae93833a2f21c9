"""Changes in a set of pairs against a control: invariances, cases by hand, and error rates by chance."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import norm

from probing.statistics import LEVEL, holm, two_sided
from probing.text_pairs import LEAST, TextPair, compare_with_control, groups, mean_of
from tests.support.cases import loop_over


def drawn(seed: int, texts: int, controls: int, heads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return long-tailed divergences under the null hypothesis: values, control flags and groups."""
    chance = np.random.default_rng(seed)
    values = 0.02 * chance.lognormal(0, 0.6, (texts * (1 + controls), heads)) * chance.lognormal(0, 0.4, heads)
    return values, np.tile([False] + [True] * controls, texts), np.repeat(np.arange(texts), 1 + controls)


def test_pairs_of_one_text_twice_change_nothing() -> None:
    found = compare_with_control(
        np.zeros((2 * LEAST, 4)), np.tile([False, True], LEAST), np.repeat(np.arange(LEAST), 2)
    )
    for mean in (found.change, found.control, found.more):
        assert (mean.mean == 0).all()
        assert (mean.low == 0).all()
        assert (mean.high == 0).all()
    assert (found.p == 1).all()
    assert found.more_heads.size == 0


def test_two_pairs_by_hand() -> None:
    # The changes are 0.2 and 0.6. The first text's controls, 0.1 and 0.3, have mean 0.2; the second text has none.
    values = np.array([[0.2, 0.0], [0.1, 0.5], [0.3, 0.7], [0.6, 1.0]])
    found = compare_with_control(values, np.array([False, True, True, False]), np.array([0, 0, 0, 1]))
    np.testing.assert_allclose(found.change.mean, [0.4, 0.5])
    np.testing.assert_allclose(found.control.mean, [0.2, 0.6])
    np.testing.assert_allclose(found.more.mean, [0.0, -0.6])  # Only the first text has controls.
    assert (found.change.n, found.control.n, found.more.n) == (2, 1, 1)
    np.testing.assert_allclose(found.compared, [[0.2, 0.0], [0.2, 0.6]])
    assert np.isnan(found.change.low).all()  # An interval needs more than two texts.
    assert found.within
    assert found.n == 1


def test_the_test_is_the_share_of_all_ways_to_call_one_pair_the_change() -> None:
    values, control, group = drawn(1, 3, 2, 1)
    values[control] *= 0.2
    seen, ways = 0, 0
    sums = values.reshape(3, 3)
    least = sum(row[0] - (row[1] + row[2]) / 2 for row in sums)
    for order in np.ndindex(3, 3, 3):
        total = sum(row[at] - (row.sum() - row[at]) / 2 for row, at in zip(sums, order, strict=True))
        seen, ways = seen + (total >= least - 1e-12), ways + 1
    assert compare_with_control(values, control, group).p[0] == pytest.approx(2 * seen / ways, abs=0.01)


def test_the_order_of_pairs_and_the_numbers_of_groups_do_not_matter() -> None:
    values, control, group = drawn(2, 8, 2, 3)
    found = compare_with_control(values, control, group)
    order = np.random.default_rng(0).permutation(len(values))
    other = compare_with_control(values[order], control[order], group[order])
    np.testing.assert_allclose(found.more.mean, other.more.mean, atol=1e-12)
    np.testing.assert_allclose(found.more.low, other.more.low, atol=1e-12)
    np.testing.assert_allclose(found.p, other.p, rtol=0.05)


def test_a_head_that_follows_the_meaning_is_found_among_many_that_do_not() -> None:
    values, control, group = drawn(3, 18, 3, 72)
    values[~control, 7] *= 4
    found = compare_with_control(values, control, group)
    assert found.more_heads.tolist() == [7]
    assert found.verdict(7) == "more"
    assert found.more.low[7] > 0
    again = compare_with_control(values, control, group)
    np.testing.assert_array_equal(found.p, again.p)


def test_all_ways_are_counted_where_they_are_few() -> None:
    values, control, group = drawn(11, 3, 2, 4)
    found = compare_with_control(values, control, group)
    means = []
    for called in product(range(3), repeat=3):  # The loop assigns the label "change" to a pair of each text.
        change = np.array([values[group == text][at] for text, at in enumerate(called)])
        rest = np.array([np.delete(values[group == text], at, axis=0).mean(axis=0) for text, at in enumerate(called)])
        means.append((change - rest).mean(axis=0))
    tails = [(sign * np.array(means) >= sign * found.more.mean - 1e-12).mean(axis=0) for sign in (1, -1)]
    np.testing.assert_allclose(found.p, holm(two_sided(*tails)), atol=0.02)
    assert 0 < min(tails[0].min(), tails[1].min()) < 1


@pytest.mark.slow
def test_p_is_that_of_every_permutation_and_of_no_seed() -> None:
    # 12 texts with three controls have 4 ** 12 permutations; two million draws estimate p to 3 %.
    values, control, group = drawn(21, 12, 3, 3)
    values[~control] *= 1.8
    chance = np.random.default_rng(0)
    draws, seen = np.zeros((2_000_000, 3)), np.zeros(3)
    for text in range(12):
        mine = values[group == text]
        differences = np.array([mine[at] - np.delete(mine, at, axis=0).mean(axis=0) for at in range(4)])
        draws += differences[chance.integers(4, size=len(draws))]
        seen += differences[0]
    expected = holm(two_sided((draws >= seen).mean(axis=0), (draws <= seen).mean(axis=0)))
    np.testing.assert_allclose(compare_with_control(values, control, group).p, expected, rtol=0.06)


def test_a_group_with_too_many_permutations_is_sampled() -> None:
    values = np.random.default_rng(12).lognormal(-4, 0.6, (40, 2))
    values[:20, 0] *= 1.5
    # A single group has C(40, 20) permutations.
    found = compare_with_control(values, np.repeat([False, True], 20), np.arange(40))
    difference = values[:20].mean(axis=0) - values[20:].mean(axis=0)
    spread = np.sqrt(values.var(axis=0) * 40 / 39 * (1 / 20 + 1 / 20))
    np.testing.assert_allclose(found.p, holm(2 * norm.sf(np.abs(difference / spread))), atol=0.05)


def test_no_head_is_said_to_change_less() -> None:
    values, control, group = drawn(4, 18, 3, 2)
    values[~control, 0] /= 50
    found = compare_with_control(values, control, group)
    assert found.p[0] < 0.001
    assert found.verdict(0) == "less"
    assert found.less_heads.tolist() == [0]
    assert found.more_heads.size == 0


@pytest.mark.parametrize(("texts", "controls"), [(4, 2), (7, 1)])
def test_the_least_p_is_that_of_the_clearest_head(texts: int, controls: int) -> None:
    values, control, group = drawn(12, texts, controls, 5)
    values[~control] += 1
    found = compare_with_control(values, control, group)
    assert found.least_p == pytest.approx(min(1, 5 * 2 / (1 + controls) ** texts))
    np.testing.assert_allclose(found.p, found.least_p, rtol=0.01)


def test_an_interval_of_divergences_holds_no_negative_number() -> None:
    values, control, group = drawn(13, LEAST, 1, 40)
    values[::4] *= 100  # long tails, for which the interval without a limit is too wide
    found = compare_with_control(np.minimum(values, 1), control, group)
    for mean in (found.change, found.control):
        assert (mean.low >= 0).all()
        assert (mean.high <= 1).all()


@pytest.mark.slow
def test_luck_alone_seldom_calls_any_head_more() -> None:
    wrong = sum(compare_with_control(*drawn(100 + at, 15, 3, 8)).more_heads.size > 0 for at in range(30))
    assert wrong / 30 <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / 30)


def test_the_interval_covers_the_mean_that_is_true() -> None:
    chance = np.random.default_rng(5)
    true = np.exp(0.6**2 / 2)
    found = mean_of(chance.lognormal(0, 0.6, (20, 600)) / 100)  # The array has 600 sets of 20 texts.
    covered = np.mean((100 * found.low <= true) & (true <= 100 * found.high))
    assert 0.91 <= covered <= 0.98


def test_an_interval_needs_some_texts() -> None:
    values = np.random.default_rng(6).uniform(size=(LEAST, 2))
    assert np.isnan(mean_of(values[:-1]).low).all()
    found = mean_of(values)
    assert ((found.low < found.mean) & (found.mean < found.high)).all()


def test_without_a_control_nothing_is_tested() -> None:
    values = np.random.default_rng(7).uniform(size=(LEAST, 2))
    found = compare_with_control(values, np.zeros(LEAST, bool), np.arange(LEAST))
    assert not found.has_test
    assert found.verdict(0) == ""
    assert np.isnan(found.control.mean).all()
    assert np.isfinite(found.change.low).all()


def test_texts_that_have_one_kind_each_stand_against_each_other() -> None:
    values = np.random.default_rng(8).uniform(size=(24, 2)) / 10
    values[:12, 0] += 1
    found = compare_with_control(values, np.repeat([False, True], 12), np.arange(24))
    assert not found.within
    assert found.more_heads.tolist() == [0]


@loop_over("order", list(permutations(range(3))))
def test_pairs_that_share_a_text_belong_together_in_any_order_and_on_any_side(order: tuple[int, ...]) -> None:
    chain = [TextPair("a", "b"), TextPair("b", "c", True), TextPair("c", "d")]
    apart = TextPair("x", "y")
    mixed = [chain[at] for at in order]
    assert groups([mixed[0], apart, *mixed[1:]]) == [0, 1, 0, 0]
    assert groups([TextPair(pair.b, pair.a, pair.control) for pair in [mixed[0], apart, *mixed[1:]]]) == [0, 1, 0, 0]
