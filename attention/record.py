"""One layer's attention as it was recorded, from which any map, row or tile is computed when it is looked at.

weights = softmax(softcap(query · keyᵀ · scale) + bias), masked pairs at -inf (arXiv:1706.03762, equation 1;
soft cap as in arXiv:2408.00118; sinks are the extra, dropped column of gpt-oss). Scores and sums are float64 and only
the result is rounded: a weight is the float32 that is nearest to the true one, however large the scores are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from attention import cancellation_points
from attention.mask import FloatArray, Index, Mask, positions
from i18n import gettext_lazy

Doubles = npt.NDArray[np.float64]

EVERYTHING = slice(None)
BLOCK = 2**17  # scores at once: a megabyte, which stays in a core's cache


class Unavailable(ValueError):
    """What was asked for does not exist for this architecture."""


@dataclass(frozen=True, eq=False)
class Record:
    """Queries, keys and values of one attention, after rotary positions and head splitting, before the softmax.

    Arrays are float32 and read-only. ``kv_head`` may be fewer than ``head`` (grouped-query attention): head ``h``
    uses key-value head ``h // (head // kv_head)``.
    """

    query: FloatArray  # (head, query, channel)
    key: FloatArray  # (kv_head, key, channel)
    value: FloatArray  # (kv_head, key, channel)
    scale: float
    mask: Mask
    bias: FloatArray | None = None  # (1 or head, query, key)
    softcap: float | None = None
    sinks: FloatArray | None = None  # (head,)
    lse: FloatArray | None = (
        None  # (head, query), natural log of each row's sum of exponentials, as the forward pass had it
    )
    _sums: dict[int, Doubles] = field(default_factory=dict, init=False, repr=False)  # head -> (query,), NaN: unknown

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

    def scores(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> FloatArray:
        """What enters the softmax, (row, col) float32; masked pairs are -inf."""
        found = self._empty(rows, cols)
        for part, _, scores in self._blocks(head, rows, cols):
            found[part] = scores
        return found

    def weights(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> FloatArray:
        """Attention weights of a block, (row, col) float32; a whole row sums to one (to less where there are sinks).

        The first block of a row costs the whole row, whose sum is then known; later ones cost their own products.
        A row whose every key is masked is zero.
        """
        found, sums = self._empty(rows, cols), self._known_sums(head)
        new = bool(np.isnan(sums[rows]).any())
        for part, places, scores in self._blocks(head, rows, EVERYTHING if new else cols):
            if new:
                sums[places] = _log_sum_exp(scores, self._sink(head))
                scores = scores[:, cols]  # of the whole row, what was asked for
            scores -= sums[places, None]
            found[part] = np.exp(scores, out=scores)
        return found

    def row_sums(self, head: int, rows: Index = EVERYTHING) -> FloatArray:
        """The share of each row that goes to keys, (row,) float32: one, or less where a sink takes some of it."""
        sink, places = self._sink(head), positions(rows, self.queries)
        if sink is None:
            return np.ones(len(places), dtype=np.float32)
        share: FloatArray = (1 - np.exp(sink - self.log_sum_exp(head, rows))).astype(np.float32)
        return share

    def log_sum_exp(self, head: int, rows: Index = EVERYTHING) -> Doubles:
        """Natural log of the sum of exponentials of each score row, (row,); 0 for a row with every key masked."""
        known = self._known_sums(head)
        if np.isnan(known[rows]).any():
            self.weights(head, rows, slice(0, 0))
        return known[rows]

    def quick(self) -> Record:
        """The same with the sums that the forward pass had, so that no block costs more than its own products.

        Those are float32: a weight is off by up to one part in 30,000 at scores of 250, which no picture shows.
        """
        if self.lse is None:
            return self
        made = replace(self)
        made._sums.update(enumerate(self.lse.astype(np.float64)))  # noqa: SLF001  # its own kind
        return made

    def _known_sums(self, head: int) -> Doubles:
        """The sums that are known, (query,), NaN where none is; to be filled in."""
        return self._sums.setdefault(head, np.full(self.queries, np.nan))

    def _empty(self, rows: Index, cols: Index) -> FloatArray:
        return np.empty((len(positions(rows, self.queries)), len(positions(cols, self.keys))), dtype=np.float32)

    def _blocks(self, head: int, rows: Index, cols: Index) -> Iterator[tuple[slice, npt.NDArray[np.intp], Doubles]]:
        """Scores of some rows at a time: where these stand among those asked for, which they are, (row, col)."""
        places, key = positions(rows, self.queries), self.key[self.kv_head(head)][cols].astype(np.float64)
        step = max(1, BLOCK // max(1, len(key)))
        for start in range(0, len(places), step):
            cancellation_points.check()
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
        """Memory of the rows' sums once every row of every head was looked at; until then they take less."""
        return self.heads * self.queries * np.dtype(np.float64).itemsize

    def arrays(self) -> Iterator[FloatArray]:
        """Every array that it was recorded with, shared ones included."""
        optional = (self.bias, self.sinks, self.lse, self.mask.allowed)
        yield from (self.query, self.key, self.value)
        yield from (array for array in optional if array is not None)  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class MapRecord:
    """Finished maps of one attention, for architectures whose queries and keys cannot be recorded."""

    maps: FloatArray  # (head, query, key), rows sum to one
    signed: bool = False  # whether they are no weights but numbers from -1 to 1, such as attributions

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

    def weights(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> FloatArray:
        """Attention weights of a block, (row, col) float32."""
        cancellation_points.check()
        block: FloatArray = self.maps[head][rows][:, cols].copy()
        return block

    def row_sums(self, head: int, rows: Index = EVERYTHING) -> FloatArray:
        """The share of each row that goes to keys, (row,)."""
        share: FloatArray = self.maps[head][rows].sum(axis=1)
        return share

    def scores(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> NoReturn:  # noqa: ARG002  # asked as Record.scores is
        """Not recorded: raises Unavailable."""
        raise Unavailable(
            gettext_lazy(
                "This architecture gives its finished attention maps only; scores before the softmax, queries,"
                " keys and values are not available for it. Use a model that has them, such as BERT or GPT-2."
            )
        )

    def quick(self) -> MapRecord:
        """Itself: what is finished costs nothing more."""
        return self

    @property
    def sums_nbytes(self) -> int:
        """None: what is finished needs no sums."""
        return 0

    def arrays(self) -> Iterator[FloatArray]:
        """Every array it holds."""
        yield self.maps


@dataclass(frozen=True, eq=False)
class NoAttention:
    """A layer that has no attention, in a model of which other layers have some, such as Jamba."""

    heads: int  # of the layers that attend
    queries: int
    keys: int

    def weights(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> FloatArray:  # noqa: ARG002  # asked as Record.weights is
        """Return zeros, (row, col) float32."""
        return np.zeros((len(positions(rows, self.queries)), len(positions(cols, self.keys))), dtype=np.float32)

    def row_sums(self, head: int, rows: Index = EVERYTHING) -> FloatArray:  # noqa: ARG002  # asked as Record.given is
        """Return zeros, (row,) float32."""
        return np.zeros(len(positions(rows, self.queries)), dtype=np.float32)

    def scores(self, head: int, rows: Index = EVERYTHING, cols: Index = EVERYTHING) -> NoReturn:  # noqa: ARG002  # asked as Record.scores is
        """Raise Unavailable."""
        raise Unavailable(gettext_lazy("This layer has no attention. Pick a layer that has some."))

    def quick(self) -> NoAttention:
        """Return itself."""
        return self

    @property
    def sums_nbytes(self) -> int:
        """Return 0: it needs no sums."""
        return 0

    def arrays(self) -> Iterator[FloatArray]:
        """Yield nothing."""
        yield from ()


AnyRecord = Record | MapRecord | NoAttention


def attending_records(records: Iterable[AnyRecord]) -> list[Record | MapRecord]:
    """Return the records of the layers that have attention."""
    return [record for record in records if not isinstance(record, NoAttention)]


def first_attending(records: Sequence[AnyRecord]) -> AnyRecord:
    """Return the first record that has attention; the first record if none has."""
    return next(iter(attending_records(records)), records[0])


def _log_sum_exp(scores: Doubles, sink: float | None) -> Doubles:
    """Per row of (row, col); a sink counts as one more column. Rows with every key masked give 0, so exp gives 0."""
    top = scores.max(axis=1, initial=-np.inf if sink is None else sink)
    top[np.isneginf(top)] = 0
    powers = scores - top[:, None]
    total = np.exp(powers, out=powers).sum(axis=1)
    if sink is not None:
        total += np.exp(sink - top)
    total[total == 0] = 1
    result: Doubles = top + np.log(total)
    return result
