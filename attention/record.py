"""The recorded attention of a layer, from which any map, row or block of weights is computed on demand.

weights = softmax(softcap(query · keyᵀ · scale) + bias), with masked pairs at -inf (arXiv:1706.03762, equation 1; soft
cap as in arXiv:2408.00118). Attention sinks are an extra column, as in gpt-oss, which is dropped after the softmax.
Scores and sums are float64 and only the result is rounded to float32, so weights are exact to float32 even for large
scores. Long computations can be cancelled: they call ``check_cancellation`` between blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray, Index, Mask, positions
from i18n import gettext_lazy


def _goes_on() -> None:
    return


_check: ContextVar[Callable[[], None]] = ContextVar("headlight_break", default=_goes_on)


@contextmanager
def checked_by(check: Callable[[], None]) -> Iterator[None]:
    """Make ``check_cancellation`` call ``check`` in this thread, inside a ``with`` block.

    ``check`` raises an exception to cancel the computation.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_cancellation() -> None:
    """Call the function that ``checked_by`` registered, if any, so that a long computation can be cancelled.

    Without such a function, the call costs 0.1 microseconds.
    """
    _check.get()()


Doubles = npt.NDArray[np.float64]

MAPS_ONLY = gettext_lazy("This model reports attention maps only. Try BERT or GPT-2.")
EVERYTHING = slice(None)
BLOCK = 2**17  # scores per block: 1 MB of float64, which fits into the cache of a core


class Unavailable(ValueError):
    """Raised if the requested quantity does not exist for this architecture."""


@dataclass(frozen=True, eq=False)
class Record:
    """Queries, keys and values of a layer, after rotary positions and head splitting, before the softmax.

    Arrays are float32 and read-only. With grouped-query attention, there are fewer key-value heads than heads. Head
    ``h`` then uses key-value head ``h // (heads // kv_heads)``.
    """

    query: FloatArray  # (head, query, channel)
    key: FloatArray  # (kv_head, key, channel)
    value: FloatArray  # (kv_head, key, channel)
    scale: float
    mask: Mask
    bias: FloatArray | None = None  # (1 or head, query, key)
    softcap: float | None = None
    sinks: FloatArray | None = None  # (head,)
    # (head, query), log-sum-exp of each score row from the forward pass
    lse: FloatArray | None = None
    # Head -> log-sum-exp of its rows, (query,); NaN if not computed yet
    _sums: dict[int, Doubles] = field(default_factory=dict, init=False, repr=False)

    @property
    def heads(self) -> int:
        """Return the number of heads."""
        return int(self.query.shape[0])

    @property
    def queries(self) -> int:
        """Return the number of query positions."""
        return int(self.query.shape[1])

    @property
    def keys(self) -> int:
        """Return the number of key positions."""
        return int(self.key.shape[1])

    def kv_head(self, head: int) -> int:
        """Return the index of the key-value head that a query head uses."""
        return head // (self.heads // int(self.key.shape[0]))

    def scores(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> FloatArray:
        """Compute the input of the softmax for a block, shape (row, col) float32; masked pairs are -inf."""
        found = self._empty(rows, cols)
        for part, _, scores in self._blocks(head, rows, cols):
            found[part] = scores
        return found

    def weights(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> FloatArray:
        """Compute the attention weights of a block, shape (row, col) float32.

        A full row sums to one, or to less with attention sinks. A row with every key masked is zero. The first block of
        a row computes the whole row, because the softmax needs its sum, and caches this sum. Later blocks compute only
        their own products.
        """
        found, sums = self._empty(rows, cols), self._known_sums(head)
        new = bool(np.isnan(sums[rows]).any())
        for part, places, scores in self._blocks(head, rows, EVERYTHING if new else cols):
            if new:
                sums[places] = _log_sum_exp(scores, self._sink(head))
                scores = scores[:, cols]  # the block was computed for all keys; keep the requested columns
            scores -= sums[places, None]
            found[part] = np.exp(scores, out=scores)
        return found

    def row_sums(self, head: int, rows: Index = EVERYTHING) -> FloatArray:
        """Return the sum of each row's weights, shape (row,) float32: 1, or less if a sink takes part of a row."""
        sink, places = self._sink(head), positions(rows, self.queries)
        if sink is None:
            return np.ones(len(places), dtype=np.float32)
        share: FloatArray = (1 - np.exp(sink - self.log_sum_exp(head, rows))).astype(np.float32)
        return share

    def log_sum_exp(self, head: int, rows: Index = EVERYTHING) -> Doubles:
        """Return the log-sum-exp of each score row, shape (row,) float64; 0 for a row with every key masked."""
        known = self._known_sums(head)
        if np.isnan(known[rows]).any():
            self.weights(head, rows, slice(0, 0))
        return known[rows]

    def quick(self) -> Record:
        """Return a copy that reuses the log-sum-exp of each score row from the forward pass, if it was recorded.

        A block can then be computed without the rest of its row. The recorded values are float32, so weights deviate by
        up to 1 in 30,000 for scores of 250, which is invisible in pictures.
        """
        if self.lse is None:
            return self
        made = replace(self)
        made._sums.update(enumerate(self.lse.astype(np.float64)))  # noqa: SLF001  # an instance of the same class
        return made

    def _known_sums(self, head: int) -> Doubles:
        """Return the cached log-sum-exp of each row, shape (query,), NaN if unknown; callers fill it in."""
        return self._sums.setdefault(head, np.full(self.queries, np.nan))

    def _empty(self, rows: Index, cols: Index) -> FloatArray:
        return np.empty((len(positions(rows, self.queries)), len(positions(cols, self.keys))), dtype=np.float32)

    def _blocks(self, head: int, rows: Index, cols: Index) -> Iterator[tuple[slice, npt.NDArray[np.intp], Doubles]]:
        """Yield the scores of successive blocks of rows.

        Each item is the slice of the block among the requested rows, the query positions, and the scores (row, col).
        """
        places, key = positions(rows, self.queries), self.key[self.kv_head(head)][cols].astype(np.float64)
        step = max(1, BLOCK // max(1, len(key)))
        for start in range(0, len(places), step):
            check_cancellation()
            part = slice(start, start + step)
            some = places[part]
            scores: Doubles = (self.query[head][some].astype(np.float64) * self.scale) @ key.T
            if self.softcap is not None:
                scores = np.tanh(scores / self.softcap) * self.softcap
            if self.bias is not None:
                scores += self.bias[head % len(self.bias)][some][:, cols]
            allowed = self.mask.block(some, cols)
            if allowed is not None:
                np.copyto(scores, -np.inf, where=~allowed)
            yield part, some, scores

    def _sink(self, head: int) -> float | None:
        return None if self.sinks is None else float(self.sinks[head])

    @property
    def sums_nbytes(self) -> int:
        """Return the memory of the cached softmax sums of all rows and heads, in bytes."""
        return self.heads * self.queries * np.dtype(np.float64).itemsize

    def arrays(self) -> Iterator[FloatArray]:
        """Yield every recorded array, including arrays that several layers share."""
        optional = (self.bias, self.sinks, self.lse, self.mask.allowed)
        yield from (self.query, self.key, self.value)
        yield from (array for array in optional if array is not None)  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class MapRecord:
    """Attention maps of a layer, recorded from an architecture that exposes no queries and keys."""

    maps: FloatArray  # (head, query, key), rows sum to at most one unless signed
    signed: bool = False  # True for values from -1 to 1, such as attributions, instead of weights

    @property
    def heads(self) -> int:
        """Return the number of heads."""
        return int(self.maps.shape[0])

    @property
    def queries(self) -> int:
        """Return the number of query positions."""
        return int(self.maps.shape[1])

    @property
    def keys(self) -> int:
        """Return the number of key positions."""
        return int(self.maps.shape[2])

    def weights(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> FloatArray:
        """Return the attention weights of a block, shape (row, col) float32."""
        check_cancellation()
        block: FloatArray = self.maps[head][rows][:, cols].copy()
        return block

    def row_sums(self, head: int, rows: Index = EVERYTHING) -> FloatArray:
        """Return the sum of each row's weights, shape (row,)."""
        share: FloatArray = self.maps[head][rows].sum(axis=1)
        return share

    def scores(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> NoReturn:  # noqa: ARG002  # the signature of Record.scores
        """Raise Unavailable, because scores were not recorded."""
        raise Unavailable(MAPS_ONLY)

    def quick(self) -> MapRecord:
        """Return the record itself, because its maps are already computed."""
        return self

    @property
    def sums_nbytes(self) -> int:
        """Return 0, because maps need no softmax sums."""
        return 0

    def arrays(self) -> Iterator[FloatArray]:
        """Yield the array of maps."""
        yield self.maps


@dataclass(frozen=True, eq=False)
class NoAttention:
    """A layer without attention, in a model that has attention in other layers, such as Jamba."""

    heads: int  # number of heads in the layers with attention
    queries: int
    keys: int

    def weights(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> FloatArray:  # noqa: ARG002  # the signature of Record.weights
        """Return zeros, shape (row, col) float32."""
        return np.zeros((len(positions(rows, self.queries)), len(positions(cols, self.keys))), dtype=np.float32)

    def row_sums(self, head: int, rows: Index = EVERYTHING) -> FloatArray:  # noqa: ARG002  # the signature of Record.row_sums
        """Return a zero for each row, shape (row,) float32, because all weights are zero."""
        return np.zeros(len(positions(rows, self.queries)), dtype=np.float32)

    def scores(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> NoReturn:  # noqa: ARG002  # the signature of Record.scores
        """Raise Unavailable, because the layer has no attention."""
        raise Unavailable(gettext_lazy("This layer has no attention. Pick another."))

    def quick(self) -> NoAttention:
        """Return the record itself."""
        return self

    @property
    def sums_nbytes(self) -> int:
        """Return 0, because there are no softmax sums."""
        return 0

    def arrays(self) -> Iterator[FloatArray]:
        """Yield nothing."""
        yield from ()


AnyRecord = Record | MapRecord | NoAttention


def attending_records(records: Iterable[AnyRecord]) -> list[Record | MapRecord]:
    """Return the records of the layers that have attention."""
    return [record for record in records if not isinstance(record, NoAttention)]


def first_attending(records: Sequence[AnyRecord]) -> AnyRecord:
    """Return the first record that has attention, or the first record if none has."""
    return next(iter(attending_records(records)), records[0])


def _log_sum_exp(scores: Doubles, sink: float | None) -> Doubles:
    """Return the log-sum-exp of each row of (row, col); a sink counts as another column.

    A row with every key masked gives 0, so that exp of its scores stays 0.
    """
    top = scores.max(axis=1, initial=-np.inf if sink is None else sink)
    top[np.isneginf(top)] = 0
    powers = scores - top[:, None]
    total = np.exp(powers, out=powers).sum(axis=1)
    if sink is not None:
        total += np.exp(sink - top)
    total[total == 0] = 1
    result: Doubles = top + np.log(total)
    return result
