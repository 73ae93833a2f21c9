"""A trace as it is shown: tokens or words, with or without special tokens, pooled if large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from attention.mask import BoolArray, FloatArray, Index, Mask, positions
from attention.pictures import Grid
from attention.record import AnyRecord, Record, first_attending
from attention.tokens import TokenRow, is_out_of_vocabulary, label, word_runs
from attention.trace import Trace


@dataclass(frozen=True)
class DisplayToken:
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


def cell_of(row: TokenRow, group: tuple[int, int], texts: tuple[str, ...]) -> DisplayToken:
    """The cell of the tokens ``group`` (start, stop) of a row; ``texts`` are those that its segments lie in."""
    start, stop = group
    text = "".join(row.pieces[start:stop])
    first, last, segment = row.spans[start], row.spans[stop - 1], row.segments[start]
    if stop - start > 1 and first is not None and last is not None and segment < len(texts):
        text = texts[segment][first[0] : last[1]].strip() or text
    # A word may be several pieces of which one is unknown; with all its bytes it is whole.
    unknown = (
        row.unknown[start] if stop - start == 1 else next(filter(is_out_of_vocabulary, row.unknown[start:stop]), "")
    )
    return DisplayToken(text, row.words[start] is None, segment, row.words[start], group, row.goes_on(start), unknown)


def runs(cells: tuple[DisplayToken, ...], longest: int) -> Iterator[slice]:
    """The stretches of pieces that the cells cover, hidden ones left out, in blocks of at most ``longest``."""
    starts = [cell.pieces[0] for i, cell in enumerate(cells) if i == 0 or cells[i - 1].pieces[1] != cell.pieces[0]]
    stops = [
        cell.pieces[1]
        for i, cell in enumerate(cells)
        if i + 1 == len(cells) or cells[i + 1].pieces[0] != cell.pieces[1]
    ]
    for start, stop in zip(starts, stops, strict=True):
        yield from (slice(at, min(at + longest, stop)) for at in range(start, stop, longest))


def pieces_of(cells: Sequence[DisplayToken]) -> npt.NDArray[np.intp]:
    """All pieces of the cells, one after the other."""
    return np.concatenate([np.arange(*cell.pieces) for cell in cells])


def starts_of(cells: Sequence[DisplayToken]) -> npt.NDArray[np.intp]:
    """Where each cell's pieces begin among all of them."""
    sizes = [cell.pieces[1] - cell.pieces[0] for cell in cells]
    return np.cumsum([0, *sizes[:-1]])


def span_of(cells: tuple[DisplayToken, ...]) -> slice:
    """From the first cell's first piece to the last one's last."""
    return slice(cells[0].pieces[0], cells[-1].pieces[1])


def merge(weights: FloatArray, queries: tuple[DisplayToken, ...], keys: tuple[DisplayToken, ...] | None) -> FloatArray:
    """Mean over the pieces of each query cell, sum over those of each key cell; hidden pieces between them drop out."""
    if keys is not None:
        weights = sum_pieces(weights, keys, axis=1)
    sizes = np.array([cell.pieces[1] - cell.pieces[0] for cell in queries], dtype=np.float32)
    result: FloatArray = sum_pieces(weights, queries, axis=0) / sizes[:, None]
    return result


def sum_pieces(values: FloatArray, cells: tuple[DisplayToken, ...], axis: int) -> FloatArray:
    """Sums over each cell's pieces along an axis that runs from the first cell's start to the last one's stop."""
    bounds = np.array([cell.pieces for cell in cells]) - cells[0].pieces[0]
    # Starts and stops together, so that a run ends where its cell ends even when a hidden token follows.
    sums: FloatArray = np.add.reduceat(values, bounds.reshape(-1)[:-1], axis=axis)
    result: FloatArray = np.take(sums, np.arange(0, 2 * len(cells), 2), axis=axis)
    return result


def edges(length: int, size: int) -> npt.NDArray[np.intp]:
    """Where the cells begin when an axis is cut into at most ``size`` cells as even as possible.

    >>> edges(7, 3).tolist(), edges(2, 3).tolist()
    ([0, 2, 4], [0, 1])
    """
    cells = min(length, size)
    return (np.arange(cells) * length) // max(1, cells)


def max_pool(values: FloatArray, size: int) -> FloatArray:
    """The largest value of each cell, (row, col) -> at most (size, size).

    >>> max_pool(np.array([[1, 2, 0], [0, 0, 5]], np.float32), 2).tolist()
    [[1.0, 2.0], [0.0, 5.0]]
    """
    return pool_cols(pool_rows(values, size), size)


def far_pool(values: FloatArray, size: int) -> FloatArray:
    """The value furthest from zero of each cell, (row, col) -> at most (size, size); of two alike the one above it.

    >>> far_pool(np.array([[0.5, -2, 0], [0, 0, -0.5]], np.float32), 2).tolist()
    [[0.5, -2.0], [0.0, -0.5]]
    """
    return furthest_from_zero(max_pool(values, size), -max_pool(-values, size))


def furthest_from_zero(most: FloatArray, least: FloatArray) -> FloatArray:
    """Of each two values the one further from zero, as most and as least of their cells."""
    result: FloatArray = np.where(most >= -least, most, least)
    return result


def pool_rows(values: FloatArray, size: int) -> FloatArray:
    """The largest value of each of at most ``size`` row cells, (row, col) -> (cell, col)."""
    if values.shape[0] <= size:
        return values
    starts = edges(values.shape[0], size)
    last = np.append(starts[1:], values.shape[0]) - 1
    # Whole rows compared at once: eight times faster than reduceat, which goes through them number by number.
    result: FloatArray = values[starts]
    for step in range(1, int((last - starts).max()) + 1):
        np.maximum(result, values[np.minimum(starts + step, last)], out=result)
    return result


def pool_cols(values: FloatArray, size: int) -> FloatArray:
    """The largest value of each of at most ``size`` column cells, (row, col) -> (row, cell)."""
    if values.shape[1] <= size:
        return values
    result: FloatArray = np.maximum.reduceat(values, edges(values.shape[1], size), axis=1)
    return result


def sample_rows(length: int, size: int, each: int) -> npt.NDArray[np.intp]:
    """Evenly spread rows, ``each`` in every one of ``size`` cells (all rows where a cell has fewer).

    >>> sample_rows(12, 2, 3).tolist()
    [0, 2, 4, 6, 8, 10]
    """
    starts = np.append(edges(length, size), length)
    picks = [np.unique(np.linspace(a, b, each, endpoint=False, dtype=np.intp)) for a, b in pairwise(starts)]
    return np.concatenate(picks) if picks else np.empty(0, dtype=np.intp)


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
