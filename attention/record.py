"""One layer's attention as it was recorded, from which any map, row or tile is computed when it is looked at.

weights = softmax(softcap(query · keyᵀ · scale) + bias), masked pairs at -inf (arXiv:1706.03762, equation 1;
soft cap as in arXiv:2408.00118; sinks are the extra, dropped column of gpt-oss).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from attention.mask import Array, Index, Mask

EVERYTHING = slice(None)


class Unavailable(ValueError):
    """What was asked for does not exist for this architecture."""


@dataclass(frozen=True, eq=False)
class Record:
    """Queries, keys and values of one attention, after rotary positions and head splitting, before the softmax.

    Arrays are float32 and read-only. ``kv_head`` may be fewer than ``head`` (grouped-query attention): head ``h``
    uses key-value head ``h // (head // kv_head)``.
    """

    query: Array  # (head, query, channel)
    key: Array  # (kv_head, key, channel)
    value: Array  # (kv_head, key, channel)
    scale: float
    mask: Mask
    bias: Array | None = None  # (1 or head, query, key)
    softcap: float | None = None
    sinks: Array | None = None  # (head,)
    lse: Array | None = None  # (head, query), natural log of each score row's sum of exponentials
    _sums: dict[int, Array] = field(default_factory=dict, init=False, repr=False)

    @property
    def heads(self) -> int:
        """Number of heads."""
        return int(self.query.shape[0])

    @property
    def queries(self) -> int:
        """Number of positions that look."""
        return int(self.query.shape[1])

    @property
    def keys(self) -> int:
        """Number of positions that are looked at."""
        return int(self.key.shape[1])

    def kv_head(self, head: int) -> int:
        """The key-value head that a head reads."""
        return head // (self.heads // int(self.key.shape[0]))

    def scores(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> Array:
        """What enters the softmax, (row, col) float32; masked pairs are -inf."""
        scores: Array = (self.query[head][rows] * np.float32(self.scale)) @ self.key[self.kv_head(head)][cols].T
        if self.softcap is not None:
            scores = np.tanh(scores / self.softcap) * np.float32(self.softcap)
        if self.bias is not None:
            scores += self.bias[head % len(self.bias)][rows][:, cols]
        allowed = self.mask.block(rows, cols)
        if allowed is not None:
            scores[~allowed] = -np.inf
        return scores

    def weights(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> Array:
        """Attention weights of a block, (row, col) float32; a whole row sums to one (to less where there are sinks).

        A block costs only its own products: each row's log-sum-exp is recorded, or computed once per head.
        A row whose every key is masked is zero.
        """
        if self.lse is None and head not in self._sums and _is_everything(cols):
            scores = self.scores(head, rows)
            sums = _log_sum_exp(scores, self._sink(head))
        else:
            sums = self.log_sum_exp(head)[rows]
            scores = self.scores(head, rows, cols)
        scores -= sums[:, None]
        weights: Array = np.exp(scores, out=scores)
        return weights

    def given(self, head: int, rows: Index = EVERYTHING) -> Array:
        """The share of each row that goes to keys, (row,): one, or less where a sink takes some of it."""
        sums = self.log_sum_exp(head)[rows]
        sink = self._sink(head)
        share: Array = np.ones_like(sums) if sink is None else 1 - np.exp(np.float32(sink) - sums)
        return share

    def log_sum_exp(self, head: int) -> Array:
        """Natural log of the sum of exponentials of each score row, (query,); 0 for a row with every key masked."""
        if self.lse is not None:
            recorded: Array = self.lse[head]
            return recorded
        if head not in self._sums:
            step = max(1, 2**21 // max(1, self.keys))
            blocks = [slice(start, start + step) for start in range(0, self.queries, step)]
            sums = [_log_sum_exp(self.scores(head, rows), self._sink(head)) for rows in blocks]
            self._sums[head] = np.concatenate(sums)
        return self._sums[head]

    def _sink(self, head: int) -> float | None:
        return None if self.sinks is None else float(self.sinks[head])

    def arrays(self) -> Iterator[Array]:
        """Every array it holds, shared ones included."""
        optional = (self.bias, self.sinks, self.lse, self.mask.allowed)
        yield from (self.query, self.key, self.value)
        yield from (array for array in optional if array is not None)  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class MapRecord:
    """Finished maps of one attention, for architectures whose queries and keys cannot be recorded."""

    maps: Array  # (head, query, key), rows sum to one

    @property
    def heads(self) -> int:
        """Number of heads."""
        return int(self.maps.shape[0])

    @property
    def queries(self) -> int:
        """Number of positions that look."""
        return int(self.maps.shape[1])

    @property
    def keys(self) -> int:
        """Number of positions that are looked at."""
        return int(self.maps.shape[2])

    def weights(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> Array:
        """Attention weights of a block, (row, col) float32."""
        block: Array = self.maps[head][rows][:, cols].copy()
        return block

    def given(self, head: int, rows: Index = EVERYTHING) -> Array:
        """The share of each row that goes to keys, (row,)."""
        share: Array = self.maps[head][rows].sum(axis=1)
        return share

    def scores(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> NoReturn:  # noqa: ARG002  # asked as Record.scores is
        """Not recorded: raises Unavailable."""
        raise Unavailable(
            "This architecture gives its finished attention maps only; scores before the softmax, queries,"
            " keys and values are not available for it. Use a model that has them, such as BERT or GPT-2."
        )

    def arrays(self) -> Iterator[Array]:
        """Every array it holds."""
        yield self.maps


AnyRecord = Record | MapRecord


def _is_everything(index: Index) -> bool:
    return isinstance(index, slice) and index == EVERYTHING


def _log_sum_exp(scores: Array, sink: float | None) -> Array:
    """Per row of (row, col); a sink counts as one more column. Rows with every key masked give 0, so exp gives 0."""
    top = scores.max(axis=1, initial=-np.inf if sink is None else sink)
    top[np.isneginf(top)] = 0
    total = np.exp(scores - top[:, None]).sum(axis=1)
    if sink is not None:
        total += np.exp(sink - top)
    total[total == 0] = 1
    result: Array = (top + np.log(total)).astype(np.float32)
    return result
