"""Contrastive directions of a head: axes along which queries match their labelled keys better than other keys.

The contrast is a matrix: the mean of the outer products q kᵀ over labelled pairs, minus their mean over other keys of
the same queries. Its singular vectors are directions in the spaces of queries and of keys (arXiv:2602.04752).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from attention.mask import BoolArray

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """Query vectors, each with two or more candidate keys, of which a single key is labelled as correct.

    The candidates of all queries are concatenated; those of query i begin at ``starts[i]``.
    """

    queries: Numbers  # (query, channel)
    keys: Numbers  # (candidate, channel)
    starts: Integers  # (query,)
    labelled: Integers  # (query,): index of the labelled key among all candidates
    groups: Integers  # (query,): number of the query's group of dependent sentences

    @cached_property
    def sizes(self) -> Integers:
        """Return the number of candidates of each query, shape (query,)."""
        return np.diff(self.starts, append=len(self.keys))

    def __len__(self) -> int:
        return len(self.queries)

    def pick(self, chosen: BoolArray) -> LabelledPairs:
        """Return the pairs with only the queries for which ``chosen`` (query,) is True, and their candidates."""
        kept = np.repeat(chosen, self.sizes)
        sizes = self.sizes[chosen]
        starts = np.cumsum(sizes) - sizes
        labelled = self.labelled[chosen] - self.starts[chosen] + starts
        return LabelledPairs(self.queries[chosen], self.keys[kept], starts, labelled, self.groups[chosen])

    def shuffle_labels(self, random: np.random.Generator) -> LabelledPairs:
        """Return a copy in which a random candidate of each query is labelled as its correct key."""
        drawn = self.starts + (random.random(len(self)) * self.sizes).astype(np.int64)
        return LabelledPairs(self.queries, self.keys, self.starts, drawn, self.groups)

    def contrast(self) -> Numbers:
        """Return the mean of q kᵀ over labelled keys minus its mean over other keys, shape (channel, channel).

        All queries have the same weight, whatever their number of keys.
        """
        labelled = self.keys[self.labelled]
        others = (np.add.reduceat(self.keys, self.starts) - labelled) / (self.sizes - 1)[:, None]
        found: Numbers = self.queries.T @ (labelled - others) / len(self)
        return found

    def hits(self, values: Numbers) -> BoolArray:
        """Return True for each query whose labelled key has the largest value of all its candidates, shape (query,).

        ``values`` (candidate,) has a number for each candidate, such as its score. A query with a tie is False.

        >>> pairs = LabelledPairs(np.ones((2, 1)), np.ones((4, 1)), np.array([0, 2]), np.array([0, 3]), np.arange(2))
        >>> pairs.hits(np.array([2.0, 1.0, 5.0, 4.0])).tolist()
        [True, False]
        """
        others = values.copy()
        others[self.labelled] = -np.inf
        found: BoolArray = values[self.labelled] > np.maximum.reduceat(others, self.starts)
        return found

    def margin(self, values: Numbers) -> float:
        """Return the labelled key's value minus the mean of the other candidates, averaged over queries."""
        labelled = values[self.labelled]
        others = (np.add.reduceat(values, self.starts) - labelled) / (self.sizes - 1)
        return float((labelled - others).mean())

    @property
    def chance(self) -> float:
        """Return the share of queries for which a random candidate is the labelled key."""
        return float((1 / self.sizes).mean())


def join_pairs(parts: Iterable[tuple[Numbers, Numbers, int, int]]) -> LabelledPairs:
    """Return labelled query–key pairs, from (query, candidate keys, index of the labelled key, group) for each query.

    Queries of sentences that depend on each other have the same group.

    >>> pairs = join_pairs([(np.ones(2), np.eye(2), 1, 0), (np.zeros(2), np.eye(2), 0, 5)])
    >>> pairs.starts.tolist(), pairs.labelled.tolist(), pairs.contrast().tolist()
    ([0, 2], [1, 2], [[-0.5, 0.5], [-0.5, 0.5]])
    """
    queries, keys, labelled, groups = zip(*parts, strict=True)
    sizes = np.array([len(one) for one in keys], np.int64)
    starts = np.cumsum(sizes) - sizes
    return LabelledPairs(
        np.stack(queries), np.concatenate(keys), starts, starts + np.array(labelled), np.array(groups, np.int64)
    )


@dataclass(frozen=True, eq=False)
class ContrastiveDirections:
    """The directions of a head that tell labelled from other keys: the singular vectors of a contrast.

    ``query`` and ``key`` are (channel, direction), and the singular values ``sizes`` (direction,), largest first.
    """

    query: Numbers
    key: Numbers
    sizes: Numbers

    @classmethod
    def from_pairs(cls, pairs: LabelledPairs) -> ContrastiveDirections:
        """Compute the contrastive directions of labelled pairs."""
        query, sizes, key = np.linalg.svd(pairs.contrast())
        return cls(query, key.T, sizes)

    def products(self, pairs: LabelledPairs, many: int) -> Numbers:
        """Return q · k for each candidate with both vectors restricted to the first ``many`` directions.

        The shape is (candidate,). Queries are projected to the directions of the query, and keys to those of the key.
        With all directions the result is q · k itself.
        """
        query, key = self.query[:, :many], self.key[:, :many]
        asked = np.repeat(pairs.queries @ query @ (query.T @ key), pairs.sizes, axis=0)
        found: Numbers = np.einsum("ij,ij->i", asked, pairs.keys @ key)
        return found


def shuffled_shares(selected: LabelledPairs, reported: LabelledPairs, many: tuple[int, ...], draws: int) -> Numbers:
    """Return how often contrastive directions from shuffled labels find the key of a query: the null distribution.

    The values are fractions of the queries of ``reported``, shape (draw, number of directions), for each number in
    ``many``. Each draw shuffles the labels of ``selected`` and computes the directions from them. The labels of
    ``reported`` are not shuffled.
    """
    random = np.random.default_rng(0)
    found = np.zeros((draws, len(many)))
    for draw in range(draws):
        directions = ContrastiveDirections.from_pairs(selected.shuffle_labels(random))
        found[draw] = [reported.hits(directions.products(reported, k)).mean() for k in many]
    return found


def rank_p_value(value: float, drawn: Numbers) -> float:
    """Return the two-sided p-value of a value from its rank among draws (draw,) of the null distribution.

    >>> rank_p_value(0.9, np.linspace(0, 0.5, 99)), rank_p_value(0.25, np.linspace(0, 0.5, 99))
    (0.02, 1.0)
    """
    above, below = (1 + int(one.sum()) for one in (drawn >= value, drawn <= value))
    return min(1.0, 2 * min(above, below) / (len(drawn) + 1))
