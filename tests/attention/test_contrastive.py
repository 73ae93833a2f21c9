"""Contrastive directions of synthetic queries and keys, by hand and with a planted direction."""

from __future__ import annotations

import numpy as np
import pytest

from attention.contrastive import (
    ContrastiveDirections,
    LabelledPairs,
    Numbers,
    join_pairs,
    rank_p_value,
    shuffled_shares,
)

CHANNELS, CANDIDATES = 8, 6
NEEDED = 0.05


def random_pairs(count: int, planted: float, seed: int) -> LabelledPairs:
    """Return pairs in which ``planted`` times a random sign lies in channel 2 of the query and of its labelled key."""
    random = np.random.default_rng(seed)
    axis = np.eye(CHANNELS)[2] * planted

    def one(sentence: int) -> tuple[Numbers, Numbers, int, int]:
        sign = random.choice([-1, 1])
        keys, labelled = random.normal(size=(CANDIDATES, CHANNELS)), int(random.integers(CANDIDATES))
        keys[labelled] += sign * axis
        return random.normal(size=CHANNELS) + sign * axis, keys, labelled, sentence

    return join_pairs(one(at) for at in range(count))


def test_contrast_by_hand() -> None:
    pairs = join_pairs([
        (np.array([1.0, 0.0]), np.array([[2.0, 1.0], [0.0, 1.0], [0.0, 3.0]]), 0, 0),
        (np.array([0.0, 2.0]), np.array([[1.0, 0.0], [3.0, 0.0]]), 1, 1),
    ])  # fmt: skip
    # First query: (1, 0) ⊗ ((2, 1) − (0, 2)); second: (0, 2) ⊗ ((3, 0) − (1, 0)).
    np.testing.assert_allclose(pairs.contrast(), [[1.0, -0.5], [2.0, 0.0]])
    assert pairs.chance == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert pairs.margin(np.array([3.0, 1.0, 2.0, 5.0, 4.0])) == pytest.approx((1.5 - 1) / 2)


def test_all_directions_are_the_whole_product() -> None:
    pairs = random_pairs(10, 1.0, 0)
    directions = ContrastiveDirections.from_pairs(pairs)
    whole = np.einsum("ij,ij->i", np.repeat(pairs.queries, CANDIDATES, axis=0), pairs.keys)
    np.testing.assert_allclose(directions.products(pairs, CHANNELS), whole)


def test_a_planted_direction_is_found() -> None:
    selected, reported = random_pairs(200, 2.0, 1), random_pairs(200, 2.0, 2)
    directions = ContrastiveDirections.from_pairs(selected)
    assert abs(directions.query[2, 0]) > 0.95
    assert abs(directions.key[2, 0]) > 0.95
    found = reported.hits(directions.products(reported, 1)).mean()
    shuffled = shuffled_shares(selected, reported, (1,), 99)[:, 0]
    assert found > 2 * reported.chance
    assert rank_p_value(float(found), shuffled) <= NEEDED


def test_random_keys_have_no_direction() -> None:
    chances = []
    for seed in range(20):
        selected, reported = random_pairs(60, 0.0, 2 * seed), random_pairs(60, 0.0, 2 * seed + 1)
        directions = ContrastiveDirections.from_pairs(selected)
        found = float(reported.hits(directions.products(reported, 1)).mean())
        chances.append(rank_p_value(found, shuffled_shares(selected, reported, (1,), 99)[:, 0]))
    assert sum(p <= NEEDED for p in chances) <= 4  # 1 is expected of 20; 5 have a probability of 0.003


def test_shuffled_labels_have_no_contrast_on_average() -> None:
    pairs, random = random_pairs(200, 2.0, 1), np.random.default_rng(0)
    drawn = np.mean([pairs.shuffle_labels(random).contrast() for _draw in range(99)], axis=0)
    assert np.linalg.norm(drawn) < 0.1 * np.linalg.norm(pairs.contrast())


def test_picked_queries_keep_their_candidates() -> None:
    pairs = random_pairs(6, 1.0, 3)
    chosen = np.array([True, False, True, False, False, True])
    picked = pairs.pick(chosen)
    assert len(picked) == 3
    np.testing.assert_array_equal(picked.keys[picked.labelled], pairs.keys[pairs.labelled[chosen]])
    np.testing.assert_array_equal(picked.sizes, pairs.sizes[chosen])


def test_shuffled_labels_stay_with_their_query() -> None:
    pairs = random_pairs(50, 1.0, 4)
    shuffled = pairs.shuffle_labels(np.random.default_rng(0)).labelled
    assert ((shuffled >= pairs.starts) & (shuffled < pairs.starts + pairs.sizes)).all()
    assert (shuffled != pairs.labelled).mean() > 0.5
