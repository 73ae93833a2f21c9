"""Which heads look alike: distances between their attention, a flat map of them, and groups.

The distance is the square root of the Jensen–Shannon divergence, mean over tokens (arXiv:1906.04341, section 6, which
uses the divergence itself): the root is a metric, and distances of that kind fit into a Euclidean space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
from attention.measures import as_shares, entropy
from attention.roles import sampled_queries
from attention.trace import Trace

MOST_WORK = 10**8  # weights whose logarithm is taken; of long texts and many heads fewer tokens are compared

Labels = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Divergence:
    """Jensen–Shannon divergences between all heads, summed over tokens; several texts of one model add up.

    Heads are numbered layer by layer.
    """

    sums: Numbers  # (head, head), bits
    tokens: int

    def __add__(self, other: Divergence) -> Divergence:
        return Divergence(self.sums + other.sums, self.tokens + other.tokens)

    def distances(self) -> Numbers:
        """Jensen–Shannon distances, (head, head), 0 for the same attention to 1 for none in common."""
        result: Numbers = np.sqrt(np.maximum(self.sums / max(1, self.tokens), 0))
        return result


def compare(trace: Trace, part: str | None = None) -> Divergence:
    """Every head's attention to one text against every other's."""
    row, _ = trace.token_rows(part)
    records = trace.shares(part)
    heads = sum(record.heads for record in records)
    rows = sampled_queries(row)
    most = max(1, 2 * MOST_WORK // (heads**2 * records[0].keys))
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]
    maps = np.stack([as_shares(record.weights(head, rows)) for record in records for head in range(record.heads)])
    return Divergence(divergences(maps), len(rows))


def divergences(maps: FloatArray) -> Numbers:
    """Jensen–Shannon divergence of every pair of heads, (head, query, key) -> (head, head), bits summed over queries.

    >>> divergences(np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0]]])).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    alone = entropy(maps).sum(axis=1)
    result = np.zeros((len(maps), len(maps)))
    for head in range(len(maps)):
        both = entropy((maps[head] + maps[head + 1 :]) / 2).sum(axis=1)
        result[head, head + 1 :] = both - (alone[head] + alone[head + 1 :]) / 2
    result += result.T
    return np.maximum(result, 0)


def flat(distances: Numbers) -> tuple[Numbers, float]:
    """Classical multidimensional scaling (W. S. Torgerson, 1952, doi:10.1007/BF02288916): (head, head) -> (head, 2).

    The share of the squared distances that two dimensions keep, 0 to 1, comes with it. Axes have no meaning; of each,
    the side with the largest coordinate is made the positive one.

    >>> points, kept = flat(np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]]))
    >>> bool(np.isclose(np.linalg.norm(points[0] - points[2]), 5)), round(kept, 6)
    (True, 1.0)
    """
    size = len(distances)
    centre = np.eye(size) - np.full((size, size), 1 / size)
    values, vectors = np.linalg.eigh(-0.5 * centre @ (distances.astype(np.float64) ** 2) @ centre)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    points = np.zeros((size, 2))
    points[:, : min(2, size)] = (vectors * np.sqrt(values))[:, :2]
    largest = np.abs(points).argmax(axis=0)
    points *= np.where(points[largest, [0, 1]] < 0, -1, 1)
    total = float(values.sum())
    return points, float(values[:2].sum()) / total if total > 0 else 1.0


def groups(distances: Numbers, count: int) -> Labels:
    """Ward's method (doi:10.1080/01621459.1963.10500845): each head its own group, until ``count`` are left.

    Joined are the two whose union spreads least. Groups (head,) are numbered by size, the largest 0; of equals, the
    one with the first head comes first.

    >>> groups(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [9.0, 9.0, 0.0]]), 2).tolist()
    [0, 0, 1]
    """
    squares = distances.astype(np.float64) ** 2
    np.fill_diagonal(squares, np.inf)
    sizes = np.ones(len(squares))
    members = {head: [head] for head in range(len(squares))}
    while len(members) > max(1, count):
        one, other = sorted(int(at) for at in np.unravel_index(squares.argmin(), squares.shape))
        total = sizes[one] + sizes[other] + sizes
        near = (sizes[one] + sizes) * squares[one] + (sizes[other] + sizes) * squares[other]
        joined = (near - sizes * squares[one, other]) / total
        squares[one] = squares[:, one] = joined
        squares[other] = squares[:, other] = squares[one, one] = np.inf
        sizes[one] += sizes[other]
        members[one] += members.pop(other)
    labels = np.zeros(len(squares), dtype=np.intp)
    for number, heads in enumerate(sorted(members.values(), key=lambda heads: (-len(heads), min(heads)))):
        labels[heads] = number
    return labels
