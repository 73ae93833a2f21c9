"""A trace as it is looked at: by pieces or by words, with or without special tokens.

How pieces become words: attention.display_tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from attention.display_tokens import DisplayToken, cell_of, merge, pieces_of, runs, span_of, starts_of, sum_pieces
from attention.grid import Grid
from attention.mask import BoolArray, FloatArray, Index, Mask, positions
from attention.pooling import edges, far_pool, furthest_from_zero, max_pool, pool_cols, sample_rows
from attention.record import AnyRecord, Record, first_attending
from attention.tokens import TokenRow, word_runs
from attention.trace import Trace

SAMPLED_ABOVE = 2048  # tokens; thumbnails of longer texts are pooled over some rows only
SAMPLES_PER_CELL = 4
THIN = 0.01  # of a row, below which the share that is shown is summed and not taken as the rest
BLOCK = 2**21  # most weights held at once while a large map is pooled


@dataclass(frozen=True, eq=False)
class View:
    """A trace with the reader's choices applied; the same methods, over cells instead of tokens.

    ``renormalise``: with special tokens hidden, what is left of each row is scaled to sum to one again; without it,
    the weights stay the model's own and a row sums to what was not given to the hidden tokens.
    """

    trace: Trace
    part: str | None = None
    words: bool = False
    special: bool = True
    renormalise: bool = False

    @cached_property
    def queries(self) -> tuple[DisplayToken, ...]:
        """The rows: what looks."""
        return tuple(cell for cell in self._all_queries if self.special or not cell.special)

    @cached_property
    def keys(self) -> tuple[DisplayToken, ...]:
        """The columns: what is looked at."""
        return tuple(cell for cell in self._all_keys if self.special or not cell.special)

    @property
    def causal(self) -> bool:
        """Whether a token looks back only, as in every decoder's attention to itself.

        What reads the texts of a model for pictures and texts is called decoder too, and may look both ways.
        """
        record = first_attending(self._records)
        free = isinstance(record, Record) and record.queries > 1 and record.mask.hides_nothing
        return (self.part or self.trace.part) == "decoder" and not free

    @property
    def crosses(self) -> bool:
        """Whether rows and columns are two texts, as in a decoder's attention to its encoder."""
        return (self.part or self.trace.part) == "cross"

    @cached_property
    def is_signed(self) -> bool:
        """Whether its numbers have signs, such as attributions, and are no weights."""
        return self.trace.is_signed(self.part)

    @property
    def grids(self) -> tuple[Grid, Grid] | None:
        """Where the patches of a picture are among the trace's tokens that look and that are looked at; None of text.

        A picture on one side alone has none: a word and a patch have no distance.
        """
        queries, keys = self.trace.token_rows(self.part)
        return None if queries.grid is None or keys.grid is None else (queries.grid, keys.grid)

    @property
    def layers(self) -> int:
        """Number of layers of this part."""
        return len(self._records)

    @property
    def heads(self) -> int:
        """Number of heads in a layer."""
        return self._records[0].heads

    @cached_property
    def attending(self) -> tuple[int, ...]:
        """Return the layers that have attention."""
        return self.trace.attending(self.part)

    def weights(self, layer: int, head: int) -> FloatArray:
        """How much each cell looks at each other, (query, key) float32."""
        return self.block(layer, head, (0, len(self.queries)), (0, len(self.keys)))

    def rows(self, query: int) -> FloatArray:
        """Where one cell looks in every head, (layer, head, key) float32."""
        span, every = (query, query + 1), (0, len(self.keys))
        maps = [[self.block(layer, head, span, every)[0] for head in range(self.heads)] for layer in range(self.layers)]
        return np.array(maps, dtype=np.float32)

    def columns(self, key: int) -> FloatArray:
        """How much every cell looks at one, in every head, (layer, head, query) float32.

        Of a long text with the sums that the forward pass had: its own would cost all of every map.
        """
        view = replace(self, trace=self.trace.quick()) if self.is_sampled() else self
        every, span = (0, len(self.queries)), (key, key + 1)
        maps = [
            [view.block(layer, head, every, span)[:, 0] for head in range(self.heads)] for layer in range(self.layers)
        ]
        return np.array(maps, dtype=np.float32)

    def block(self, layer: int, head: int, rows: tuple[int, int], cols: tuple[int, int]) -> FloatArray:
        """Weights of queries rows[0] to rows[1] and keys cols[0] to cols[1], both ends as in slices, (row, col)."""
        record = self._records[layer]
        queries, keys = self.queries[slice(*rows)], self.keys[slice(*cols)]
        if not queries or not keys:
            return np.zeros((len(queries), len(keys)), dtype=np.float32)
        span = span_of(queries)
        if not self.words and self.special:
            return record.weights(head, span, span_of(keys) if cols != (0, len(self.keys)) else slice(None))
        weights = record.weights(head, span, span_of(keys))
        mass = self._visible(record, head, span) if self._rescales else None
        merged = merge(weights, queries, keys)
        if mass is not None:
            visible = merge(mass[:, None], queries, None)
            np.divide(merged, visible, out=merged, where=visible > 0)
        return merged

    def visible(
        self, layer: int, rows: npt.NDArray[np.intp], cols: npt.NDArray[np.intp] | None = None
    ) -> BoolArray | None:
        """Which of these rows may look at which of these columns, by any of their pieces, (row, col); None: all may."""
        record = self._records[layer]
        mask = record.mask if isinstance(record, Record) else Mask(record.queries, record.keys, causal=self.causal)
        queries = [self.queries[row] for row in rows]
        keys = self.keys if cols is None else [self.keys[col] for col in cols]
        allowed = mask.block(pieces_of(queries), pieces_of(keys))
        if allowed is None:
            return None
        by_row = np.logical_or.reduceat(allowed, starts_of(queries), axis=0)
        seen: BoolArray = np.logical_or.reduceat(by_row, starts_of(keys), axis=1)
        return seen

    def tile(self, layer: int, head: int, q0: int, q1: int, k0: int, k1: int, size: int) -> FloatArray:  # noqa: PLR0913  # a block of one head: two ranges and a size
        """A block pooled to at most (size, size) by the largest weight of each cell; exact when it is no larger.

        Of numbers with signs the one furthest from zero.
        """
        asked = layer, head, q0, q1, k0, k1, size
        most = self._max_pool(*asked)
        return furthest_from_zero(most, -self._max_pool(*asked, sign=-1)) if self.is_signed else most

    def _max_pool(  # noqa: PLR0913
        self, layer: int, head: int, q0: int, q1: int, k0: int, k1: int, size: int, sign: int = 1
    ) -> FloatArray:  # as tile
        """The largest of each cell, of the numbers as they are or with their signs turned."""
        step = max(1, BLOCK // max(1, k1 - k0))
        starts = np.append(edges(q1 - q0, size), q1 - q0)
        strips, first = [], 0
        while first < len(starts) - 1:
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + step, side="right")) - 1)
            block = self.block(layer, head, (q0 + int(starts[first]), q0 + int(starts[last])), (k0, k1))
            pooled = pool_cols(block if sign > 0 else -block, size)
            strips.append(np.maximum.reduceat(pooled, starts[first:last] - starts[first], axis=0))
            first = last
        return np.concatenate(strips)

    def is_sampled(self) -> bool:
        """Whether thumbnails and measures are taken from some rows only, because the text is long."""
        return len(self.queries) > SAMPLED_ABOVE

    def thumbnails(self, size: int) -> FloatArray:
        """Every head's map made small, (layer, head, <=size, <=size): the largest weight of each cell.

        Past SAMPLED_ABOVE tokens a cell's value is the largest of a few of its rows: a lower bound.
        """
        grids = [[self.thumbnail(weights, size) for weights in layer] for layer in self.maps(size)]
        return np.array(grids, dtype=np.float32)

    def maps(self, size: int) -> Iterator[Iterator[FloatArray]]:
        """For each layer, for each head: its map, or for a long text the sampled rows of it (row, key)."""
        rows = self.sample(size)
        for layer in range(self.layers):
            yield (
                self.weights(layer, head) if rows is None else self.rows_of(layer, head, rows)
                for head in range(self.heads)
            )

    def sample(self, size: int) -> npt.NDArray[np.intp] | None:
        """Which rows stand for a long text, (row,); None when all of them do."""
        return sample_rows(len(self.queries), size, SAMPLES_PER_CELL) if self.is_sampled() else None

    def thumbnail(self, weights: FloatArray, size: int) -> FloatArray:
        """One map (or its sampled rows) made small, (<=size, <=size)."""
        return (far_pool if self.is_signed else max_pool)(weights, size)

    def rows_of(self, layer: int, head: int, rows: npt.NDArray[np.intp]) -> FloatArray:
        """Where some cells look in one head, (row, key) float32: ``rows`` are cells, in any order."""
        record, pieces = self._records[layer], [np.arange(*self.queries[row].pieces) for row in rows]
        asked = np.concatenate(pieces)
        weights = record.weights(head, asked)
        if self.words or not self.special:
            weights = sum_pieces(weights[:, span_of(self.keys)], self.keys, axis=1)
        starts = np.cumsum([0, *(len(run) for run in pieces[:-1])])
        sizes = np.array([len(run) for run in pieces], dtype=np.float32)
        merged: FloatArray = np.add.reduceat(weights, starts, axis=0)
        merged /= sizes[:, None]
        if self._rescales:
            visible = np.add.reduceat(self._visible(record, head, asked), starts)[:, None] / sizes[:, None]
            np.divide(merged, visible, out=merged, where=visible > 0)
        return merged

    @property
    def _rescales(self) -> bool:
        """Whether what is left of each row is scaled to sum to one again; numbers with signs have no such sum."""
        return self.renormalise and not self.special and not self.is_signed

    def _visible(self, record: AnyRecord, head: int, rows: Index) -> FloatArray:
        """The share of each row, (row,), that goes to cells which are shown."""
        if record.keys <= SAMPLED_ABOVE:
            return self._sum_cells(record, head, rows)
        shown = np.concatenate([np.arange(*cell.pieces) for cell in self.keys])
        hidden: Index = np.setdiff1d(np.arange(record.keys), shown)
        mass: FloatArray = record.row_sums(head, rows) - record.weights(head, rows, hidden).sum(axis=1)
        thin = mass < THIN  # what is left over of one is mostly rounding there
        if thin.any():
            mass[thin] = self._sum_cells(record, head, positions(rows, record.queries)[thin])
        return mass

    def _sum_cells(self, record: AnyRecord, head: int, rows: Index) -> FloatArray:
        """The same, weight by weight."""
        mass = np.zeros(len(positions(rows, record.queries)), dtype=np.float32)
        for run in runs(self.keys, SAMPLED_ABOVE):
            mass += record.weights(head, rows, run).sum(axis=1)
        return mass

    @cached_property
    def _records(self) -> tuple[AnyRecord, ...]:
        return self.trace.records(self.part)

    @cached_property
    def _all_queries(self) -> tuple[DisplayToken, ...]:
        return self._cells(self.trace.token_rows(self.part)[0])

    @cached_property
    def _all_keys(self) -> tuple[DisplayToken, ...]:
        return self._cells(self.trace.token_rows(self.part)[1])

    def _cells(self, row: TokenRow) -> tuple[DisplayToken, ...]:
        groups = word_runs(row.words, row.segments) if self.words else [(i, i + 1) for i in range(len(row))]
        texts = (
            (self.trace.target_text or "",) if row is self.trace.target else (self.trace.text, self.trace.pair or "")
        )
        return tuple(cell_of(row, group, texts) for group in groups)
