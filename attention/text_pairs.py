"""Two texts read together: how much of one group's attention goes to another group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import FloatArray
from attention.tokens import TokenRow
from attention.trace import Trace

GROUPS = ("a", "b", "first", "others")  # words of each text, the first special token, the other special tokens


def group(row: TokenRow, name: str) -> list[int]:
    """Positions of a group's tokens.

    >>> row = TokenRow(("[CLS]", "x", "[SEP]", "y", "[SEP]"), (1, 5, 2, 6, 2), (None, 0, None, 1, None),
    ...                (0, 0, 0, 1, 1), (None, (0, 1), None, (0, 1), None))
    >>> [group(row, name) for name in GROUPS]
    [[1], [3], [0], [2, 4]]
    """
    special = [at for at, word in enumerate(row.words) if word is None]
    if name in ("a", "b"):
        segment = GROUPS.index(name)
        return [at for at in range(len(row)) if row.words[at] is not None and row.segments[at] == segment]
    if name not in GROUPS:
        raise ValueError(f'A group is one of {", ".join(GROUPS)}; "{name}" came.')
    return special[:1] if name == "first" else special[1:]


def flow(trace: Trace, queries: Sequence[int], keys: Sequence[int]) -> FloatArray:
    """The share of the queries' attention that goes to the keys, mean over the queries, (layer, head) float32, 0 to 1.

    Raises ValueError for an empty group of queries; no keys get nothing.
    """
    if not queries:
        raise ValueError("A flow needs tokens that look; none came.")
    rows, index = np.array(queries), np.array(keys, dtype=np.intp)
    shares = [
        [record.weights(head, rows)[:, index].sum(axis=1).mean() for head in range(record.heads)]
        for record in trace.records()
    ]
    return np.array(shares, dtype=np.float32)
