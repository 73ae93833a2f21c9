"""A trace as it is looked at: by pieces or by words, with or without special tokens.

Words: attention *to* a word is the sum over its pieces, attention *from* it the mean over them (arXiv:1906.04341).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from attention.grid import Grid
from attention.mask import Array, Bools, Index, Mask, positions
from attention.pooling import edges, pool_cols, pool_rows, sample_rows
from attention.record import AnyRecord, Record
from attention.tokens import TokenRow, label, lacking, word_runs
from attention.trace import Trace

SAMPLED_ABOVE = 2048  # tokens; thumbnails of longer texts are pooled over some rows only
SAMPLES_PER_CELL = 4
THIN = 0.01  # of a row, below which the share that is shown is summed and not taken as the rest
BLOCK = 2**21  # most weights held at once while a large map is pooled


@dataclass(frozen=True)
class Cell:
    """One row or column of the picture: a token, or a word made of several."""

    text: str
    special: bool
    segment: int
    word: int | None
    pieces: tuple[int, int]  # (start, stop) in the trace's tokens
    goes_on: bool = False  # whether it is a piece that goes on with the word of the one before it
    unknown: str = ""  # what the model read in its place, or in a part of it: "[UNK]"; of a character's part "<0xE7>"

    @property
    def label(self) -> str:
        """Its name where it stands alone: beside a matrix, in a file."""
        return label(self.text, self.goes_on, self.unknown)


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
    def queries(self) -> tuple[Cell, ...]:
        """The rows: what looks."""
        return tuple(cell for cell in self._all_queries if self.special or not cell.special)

    @cached_property
    def keys(self) -> tuple[Cell, ...]:
        """The columns: what is looked at."""
        return tuple(cell for cell in self._all_keys if self.special or not cell.special)

    @property
    def causal(self) -> bool:
        """Whether a token looks back only, as in every decoder's attention to itself.

        What reads the texts of a model for pictures and texts is called decoder too, and may look both ways.
        """
        record = self._records[0]
        free = isinstance(record, Record) and record.queries > 1 and record.mask.hides_nothing
        return (self.part or self.trace.part) == "decoder" and not free

    @property
    def crosses(self) -> bool:
        """Whether rows and columns are two texts, as in a decoder's attention to its encoder."""
        return (self.part or self.trace.part) == "cross"

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

    def weights(self, layer: int, head: int) -> Array:
        """How much each cell looks at each other, (query, key) float32."""
        return self.block(layer, head, (0, len(self.queries)), (0, len(self.keys)))

    def rows(self, query: int) -> Array:
        """Where one cell looks in every head, (layer, head, key) float32."""
        span, every = (query, query + 1), (0, len(self.keys))
        maps = [[self.block(layer, head, span, every)[0] for head in range(self.heads)] for layer in range(self.layers)]
        return np.array(maps, dtype=np.float32)

    def columns(self, key: int) -> Array:
        """How much every cell looks at one, in every head, (layer, head, query) float32.

        Of a long text with the sums that the forward pass had: its own would cost all of every map.
        """
        view = replace(self, trace=self.trace.quick()) if self.sampled() else self
        every, span = (0, len(self.queries)), (key, key + 1)
        maps = [
            [view.block(layer, head, every, span)[:, 0] for head in range(self.heads)] for layer in range(self.layers)
        ]
        return np.array(maps, dtype=np.float32)

    def block(self, layer: int, head: int, rows: tuple[int, int], cols: tuple[int, int]) -> Array:
        """Weights of queries rows[0] to rows[1] and keys cols[0] to cols[1], both ends as in slices, (row, col)."""
        record = self._records[layer]
        queries, keys = self.queries[slice(*rows)], self.keys[slice(*cols)]
        if not queries or not keys:
            return np.zeros((len(queries), len(keys)), dtype=np.float32)
        span = _span(queries)
        if not self.words and self.special:
            return record.weights(head, span, _span(keys) if cols != (0, len(self.keys)) else slice(None))
        weights = record.weights(head, span, _span(keys))
        mass = self._visible(record, head, span) if self.renormalise and not self.special else None
        merged = _merge(weights, queries, keys)
        if mass is not None:
            visible = _merge(mass[:, None], queries, None)
            np.divide(merged, visible, out=merged, where=visible > 0)
        return merged

    def visible(self, layer: int, rows: npt.NDArray[np.intp], cols: npt.NDArray[np.intp] | None = None) -> Bools | None:
        """Which of these rows may look at which of these columns, by any of their pieces, (row, col); None: all may."""
        record = self._records[layer]
        mask = record.mask if isinstance(record, Record) else Mask(record.queries, record.keys, causal=self.causal)
        queries = [self.queries[row] for row in rows]
        keys = self.keys if cols is None else [self.keys[col] for col in cols]
        allowed = mask.block(_pieces(queries), _pieces(keys))
        if allowed is None:
            return None
        by_row = np.logical_or.reduceat(allowed, _starts(queries), axis=0)
        seen: Bools = np.logical_or.reduceat(by_row, _starts(keys), axis=1)
        return seen

    def tile(self, layer: int, head: int, q0: int, q1: int, k0: int, k1: int, size: int) -> Array:  # noqa: PLR0913  # a block of one head: two ranges and a size
        """A block pooled to at most (size, size) by the largest weight of each cell; exact when it is no larger."""
        step = max(1, BLOCK // max(1, k1 - k0))
        starts = np.append(edges(q1 - q0, size), q1 - q0)
        strips, first = [], 0
        while first < len(starts) - 1:
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + step, side="right")) - 1)
            block = self.block(layer, head, (q0 + int(starts[first]), q0 + int(starts[last])), (k0, k1))
            pooled = pool_cols(block, size)
            strips.append(np.maximum.reduceat(pooled, starts[first:last] - starts[first], axis=0))
            first = last
        return np.concatenate(strips)

    def sampled(self) -> bool:
        """Whether thumbnails and measures are taken from some rows only, because the text is long."""
        return len(self.queries) > SAMPLED_ABOVE

    def thumbnails(self, size: int) -> Array:
        """Every head's map made small, (layer, head, <=size, <=size): the largest weight of each cell.

        Past SAMPLED_ABOVE tokens a cell's value is the largest of a few of its rows: a lower bound.
        """
        grids = [[self.thumbnail(weights, size) for weights in layer] for layer in self.maps(size)]
        return np.array(grids, dtype=np.float32)

    def maps(self, size: int) -> Iterator[Iterator[Array]]:
        """For each layer, for each head: its map, or for a long text the sampled rows of it (row, key)."""
        rows = self.sample(size)
        for layer in range(self.layers):
            yield (
                self.weights(layer, head) if rows is None else self.rows_of(layer, head, rows)
                for head in range(self.heads)
            )

    def sample(self, size: int) -> npt.NDArray[np.intp] | None:
        """Which rows stand for a long text, (row,); None when all of them do."""
        return sample_rows(len(self.queries), size, SAMPLES_PER_CELL) if self.sampled() else None

    def thumbnail(self, weights: Array, size: int) -> Array:
        """One map (or its sampled rows) made small, (<=size, <=size)."""
        return pool_cols(pool_rows(weights, size), size)

    def rows_of(self, layer: int, head: int, rows: npt.NDArray[np.intp]) -> Array:
        """Where some cells look in one head, (row, key) float32: ``rows`` are cells, in any order."""
        record, pieces = self._records[layer], [np.arange(*self.queries[row].pieces) for row in rows]
        asked = np.concatenate(pieces)
        weights = record.weights(head, asked)
        if self.words or not self.special:
            weights = _reduce(weights[:, _span(self.keys)], self.keys, axis=1)
        starts = np.cumsum([0, *(len(run) for run in pieces[:-1])])
        sizes = np.array([len(run) for run in pieces], dtype=np.float32)
        merged: Array = np.add.reduceat(weights, starts, axis=0)
        merged /= sizes[:, None]
        if self.renormalise and not self.special:
            visible = np.add.reduceat(self._visible(record, head, asked), starts)[:, None] / sizes[:, None]
            np.divide(merged, visible, out=merged, where=visible > 0)
        return merged

    def _visible(self, record: AnyRecord, head: int, rows: Index) -> Array:
        """The share of each row, (row,), that goes to cells which are shown."""
        if record.keys <= SAMPLED_ABOVE:
            return self._summed(record, head, rows)
        shown = np.concatenate([np.arange(*cell.pieces) for cell in self.keys])
        hidden: Index = np.setdiff1d(np.arange(record.keys), shown)
        mass: Array = record.given(head, rows) - record.weights(head, rows, hidden).sum(axis=1)
        thin = mass < THIN  # what is left over of one is mostly rounding there
        if thin.any():
            mass[thin] = self._summed(record, head, positions(rows, record.queries)[thin])
        return mass

    def _summed(self, record: AnyRecord, head: int, rows: Index) -> Array:
        """The same, weight by weight."""
        mass = np.zeros(len(positions(rows, record.queries)), dtype=np.float32)
        for run in _runs(self.keys):
            mass += record.weights(head, rows, run).sum(axis=1)
        return mass

    @cached_property
    def _records(self) -> tuple[AnyRecord, ...]:
        return self.trace.records(self.part)

    @cached_property
    def _all_queries(self) -> tuple[Cell, ...]:
        return self._cells(self.trace.token_rows(self.part)[0])

    @cached_property
    def _all_keys(self) -> tuple[Cell, ...]:
        return self._cells(self.trace.token_rows(self.part)[1])

    def _cells(self, row: TokenRow) -> tuple[Cell, ...]:
        groups = word_runs(row.words, row.segments) if self.words else [(i, i + 1) for i in range(len(row))]
        texts = (
            (self.trace.target_text or "",) if row is self.trace.target else (self.trace.text, self.trace.pair or "")
        )
        return tuple(_cell(row, group, texts) for group in groups)


def _cell(row: TokenRow, group: tuple[int, int], texts: tuple[str, ...]) -> Cell:
    start, stop = group
    text = "".join(row.pieces[start:stop])
    first, last, segment = row.spans[start], row.spans[stop - 1], row.segments[start]
    if stop - start > 1 and first is not None and last is not None and segment < len(texts):
        text = texts[segment][first[0] : last[1]].strip() or text
    # A word may be several pieces of which one is unknown; with all its bytes it is whole.
    unknown = row.unknown[start] if stop - start == 1 else next(filter(lacking, row.unknown[start:stop]), "")
    return Cell(text, row.words[start] is None, segment, row.words[start], group, row.goes_on(start), unknown)


def _runs(cells: tuple[Cell, ...]) -> Iterator[slice]:
    """The stretches of pieces that the cells cover, hidden ones left out, in blocks of bounded length."""
    starts = [cell.pieces[0] for i, cell in enumerate(cells) if i == 0 or cells[i - 1].pieces[1] != cell.pieces[0]]
    stops = [
        cell.pieces[1]
        for i, cell in enumerate(cells)
        if i + 1 == len(cells) or cells[i + 1].pieces[0] != cell.pieces[1]
    ]
    for start, stop in zip(starts, stops, strict=True):
        yield from (slice(at, min(at + SAMPLED_ABOVE, stop)) for at in range(start, stop, SAMPLED_ABOVE))


def _pieces(cells: Sequence[Cell]) -> npt.NDArray[np.intp]:
    """All pieces of the cells, one after the other."""
    return np.concatenate([np.arange(*cell.pieces) for cell in cells])


def _starts(cells: Sequence[Cell]) -> npt.NDArray[np.intp]:
    """Where each cell's pieces begin among all of them."""
    sizes = [cell.pieces[1] - cell.pieces[0] for cell in cells]
    return np.cumsum([0, *sizes[:-1]])


def _span(cells: tuple[Cell, ...]) -> slice:
    return slice(cells[0].pieces[0], cells[-1].pieces[1])


def _merge(weights: Array, queries: tuple[Cell, ...], keys: tuple[Cell, ...] | None) -> Array:
    """Mean over the pieces of each query cell, sum over those of each key cell; hidden pieces between them drop out."""
    if keys is not None:
        weights = _reduce(weights, keys, axis=1)
    sizes = np.array([cell.pieces[1] - cell.pieces[0] for cell in queries], dtype=np.float32)
    result: Array = _reduce(weights, queries, axis=0) / sizes[:, None]
    return result


def _reduce(values: Array, cells: tuple[Cell, ...], axis: int) -> Array:
    """Sums over each cell's pieces along an axis that runs from the first cell's start to the last one's stop."""
    bounds = np.array([cell.pieces for cell in cells]) - cells[0].pieces[0]
    # Starts and stops together, so that a run ends where its cell ends even when a hidden token follows.
    sums: Array = np.add.reduceat(values, bounds.reshape(-1)[:-1], axis=axis)
    result: Array = np.take(sums, np.arange(0, 2 * len(cells), 2), axis=axis)
    return result
