"""A trace with view options applied: tokens or words, with or without special tokens, pooled if large."""

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
    """A row or column of a displayed map: a token, or a word of several tokens."""

    text: str
    special: bool
    segment: int
    word: int | None
    pieces: tuple[int, int]  # token range (start, stop) of the trace
    goes_on: bool = False  # True for a subword that continues the previous token's word
    # Unknown token or byte token that the model read for the cell or a part of it, such as "[UNK]" or "<0xE7>"
    unknown: str = ""

    @property
    def label(self) -> str:
        """Return the label for axes and files."""
        return label(self.text, self.goes_on, self.unknown)


def cell_of(row: TokenRow, group: tuple[int, int], texts: tuple[str, ...]) -> DisplayToken:
    """Build the displayed token or word from the tokens ``group`` (start, stop).

    ``texts`` has the text of each segment.
    """
    start, stop = group
    text = "".join(row.pieces[start:stop])
    first, last, segment = row.spans[start], row.spans[stop - 1], row.segments[start]
    if stop - start > 1 and first is not None and last is not None and segment < len(texts):
        text = texts[segment][first[0] : last[1]].strip() or text
    # Mark a word as unknown if any of its tokens is; byte tokens do not count, because together they spell the word.
    unknown = (
        row.unknown[start] if stop - start == 1 else next(filter(is_out_of_vocabulary, row.unknown[start:stop]), "")
    )
    return DisplayToken(text, row.words[start] is None, segment, row.words[start], group, row.goes_on(start), unknown)


def runs(cells: tuple[DisplayToken, ...], longest: int) -> Iterator[slice]:
    """Yield slices of neighbouring tokens that together cover the tokens of all cells.

    A cell is a row or column of a displayed map: a token or a word. A slice has at most ``longest`` tokens. Hidden
    tokens between cells are left out.
    """
    starts = [cell.pieces[0] for i, cell in enumerate(cells) if i == 0 or cells[i - 1].pieces[1] != cell.pieces[0]]
    stops = [
        cell.pieces[1]
        for i, cell in enumerate(cells)
        if i + 1 == len(cells) or cells[i + 1].pieces[0] != cell.pieces[1]
    ]
    for start, stop in zip(starts, stops, strict=True):
        yield from (slice(at, min(at + longest, stop)) for at in range(start, stop, longest))


def pieces_of(cells: Sequence[DisplayToken]) -> npt.NDArray[np.intp]:
    """Return the indices of all tokens of some cells (displayed tokens or words), in order."""
    return np.concatenate([np.arange(*cell.pieces) for cell in cells])


def starts_of(cells: Sequence[DisplayToken]) -> npt.NDArray[np.intp]:
    """Return the index of the first token of each cell (displayed token or word) in the result of ``pieces_of``."""
    sizes = [cell.pieces[1] - cell.pieces[0] for cell in cells]
    return np.cumsum([0, *sizes[:-1]])


def span_of(cells: tuple[DisplayToken, ...]) -> slice:
    """Return the slice from the first token of the first cell to the last token of the last cell.

    A cell is a displayed token or word.
    """
    return slice(cells[0].pieces[0], cells[-1].pieces[1])


def merge(weights: FloatArray, queries: tuple[DisplayToken, ...], keys: tuple[DisplayToken, ...] | None) -> FloatArray:
    """Convert token weights to cell weights: average over a query's tokens, sum over a key's tokens.

    A cell is a displayed token or word. Weights of hidden tokens between the cells are dropped.
    """
    if keys is not None:
        weights = sum_pieces(weights, keys, axis=1)
    sizes = np.array([cell.pieces[1] - cell.pieces[0] for cell in queries], dtype=np.float32)
    result: FloatArray = sum_pieces(weights, queries, axis=0) / sizes[:, None]
    return result


def sum_pieces(values: FloatArray, cells: tuple[DisplayToken, ...], axis: int) -> FloatArray:
    """Sum token values over the tokens of each cell (displayed token or word) along an axis.

    The axis spans exactly these cells.
    """
    bounds = np.array([cell.pieces for cell in cells]) - cells[0].pieces[0]
    # Reduce at starts and stops, so that the sum of a cell excludes a hidden token after it.
    sums: FloatArray = np.add.reduceat(values, bounds.reshape(-1)[:-1], axis=axis)
    result: FloatArray = np.take(sums, np.arange(0, 2 * len(cells), 2), axis=axis)
    return result


def edges(length: int, size: int) -> npt.NDArray[np.intp]:
    """Return the start index of each of at most ``size`` nearly equal intervals of an axis.

    >>> edges(7, 3).tolist(), edges(2, 3).tolist()
    ([0, 2, 4], [0, 1])
    """
    cells = min(length, size)
    return (np.arange(cells) * length) // max(1, cells)


def max_pool(values: FloatArray, size: int) -> FloatArray:
    """Max-pool (row, col) to at most (size, size).

    >>> max_pool(np.array([[1, 2, 0], [0, 0, 5]], np.float32), 2).tolist()
    [[1.0, 2.0], [0.0, 5.0]]
    """
    return pool_cols(pool_rows(values, size), size)


def far_pool(values: FloatArray, size: int) -> FloatArray:
    """Reduce (row, col) to at most (size, size) by taking from each block the value furthest from zero.

    In a tie the positive value is taken.

    >>> far_pool(np.array([[0.5, -2, 0], [0, 0, -0.5]], np.float32), 2).tolist()
    [[0.5, -2.0], [0.0, -0.5]]
    """
    return furthest_from_zero(max_pool(values, size), -max_pool(-values, size))


def furthest_from_zero(most: FloatArray, least: FloatArray) -> FloatArray:
    """Return ``most`` or ``least``, elementwise: the value that is further from zero; ``most`` in a tie."""
    result: FloatArray = np.where(most >= -least, most, least)
    return result


def pool_rows(values: FloatArray, size: int) -> FloatArray:
    """Max-pool the rows of a map (row, col) to at most ``size`` rows."""
    if values.shape[0] <= size:
        return values
    starts = edges(values.shape[0], size)
    last = np.append(starts[1:], values.shape[0]) - 1
    # Comparing whole rows is eight times faster than reduceat.
    result: FloatArray = values[starts]
    for step in range(1, int((last - starts).max()) + 1):
        np.maximum(result, values[np.minimum(starts + step, last)], out=result)
    return result


def pool_cols(values: FloatArray, size: int) -> FloatArray:
    """Max-pool the columns of a map (row, col) to at most ``size`` columns."""
    if values.shape[1] <= size:
        return values
    result: FloatArray = np.maximum.reduceat(values, edges(values.shape[1], size), axis=1)
    return result


def sample_rows(length: int, size: int, each: int) -> npt.NDArray[np.intp]:
    """Return evenly spaced rows of a map of ``length`` rows, from which its thumbnail is computed.

    The thumbnail has ``size`` rows. Each is computed from ``each`` rows of the map, or from all rows that it covers if
    they are fewer.

    >>> sample_rows(12, 2, 3).tolist()
    [0, 2, 4, 6, 8, 10]
    """
    starts = np.append(edges(length, size), length)
    picks = [np.unique(np.linspace(a, b, each, endpoint=False, dtype=np.intp)) for a, b in pairwise(starts)]
    return np.concatenate(picks) if picks else np.empty(0, dtype=np.intp)


SAMPLED_ABOVE = 2048  # number of tokens above which thumbnails use sampled rows
SAMPLES_PER_CELL = 4
THIN = 0.01  # visible share of a row below which it is summed directly, not computed as 1 - hidden
BLOCK = 2**21  # limit on the weights in memory while a large map is pooled


@dataclass(frozen=True, eq=False)
class View:
    """A trace as it is displayed: the rows and columns of its maps are tokens or whole words.

    Its methods are like those of the trace. If special tokens are hidden and ``renormalise`` is set, each row is scaled
    to sum to one. Otherwise the weights are those of the model, and a row sums to the weight on visible tokens.
    """

    trace: Trace
    part: str | None = None
    words: bool = False
    special: bool = True
    renormalise: bool = False

    @cached_property
    def queries(self) -> tuple[DisplayToken, ...]:
        """Return the tokens or words that label the rows of the maps."""
        return tuple(cell for cell in self._all_queries if self.special or not cell.special)

    @cached_property
    def keys(self) -> tuple[DisplayToken, ...]:
        """Return the tokens or words that label the columns of the maps."""
        return tuple(cell for cell in self._all_keys if self.special or not cell.special)

    @property
    def causal(self) -> bool:
        """Return True if tokens attend to earlier tokens only, as in the self-attention of decoders.

        The text part of a vision-language model is also called decoder but may be bidirectional.
        """
        record = first_attending(self._records)
        free = isinstance(record, Record) and record.queries > 1 and record.mask.hides_nothing
        return (self.part or self.trace.part) == "decoder" and not free

    @property
    def crosses(self) -> bool:
        """Return True for cross-attention, in which rows and columns are different texts."""
        return (self.part or self.trace.part) == "cross"

    @cached_property
    def is_signed(self) -> bool:
        """Return True if the maps hold signed values, such as attributions, instead of weights."""
        return self.trace.is_signed(self.part)

    @property
    def grids(self) -> tuple[Grid, Grid] | None:
        """Return the patch grids of queries and keys; None unless both have a grid.

        Distances exist only between patches, so a grid on a single side is not enough.
        """
        queries, keys = self.trace.token_rows(self.part)
        return None if queries.grid is None or keys.grid is None else (queries.grid, keys.grid)

    @property
    def layers(self) -> int:
        """Return the number of layers of the displayed stack."""
        return len(self._records)

    @property
    def heads(self) -> int:
        """Return the number of heads per layer."""
        return self._records[0].heads

    @cached_property
    def attending(self) -> tuple[int, ...]:
        """Return the indices of the layers that have attention."""
        return self.trace.attending(self.part)

    def weights(self, layer: int, head: int) -> FloatArray:
        """Return a head's attention between the displayed tokens or words, shape (query, key) float32."""
        return self.block(layer, head, (0, len(self.queries)), (0, len(self.keys)))

    def rows(self, query: int) -> FloatArray:
        """Return the attention of a displayed token or word in every head, shape (layer, head, key) float32."""
        span, every = (query, query + 1), (0, len(self.keys))
        maps = [[self.block(layer, head, span, every)[0] for head in range(self.heads)] for layer in range(self.layers)]
        return np.array(maps, dtype=np.float32)

    def columns(self, key: int) -> FloatArray:
        """Return the attention to a displayed token or word in every head, shape (layer, head, query) float32.

        Long texts use the softmax sums of the forward pass, because exact sums need every complete map.
        """
        view = replace(self, trace=self.trace.quick()) if self.is_sampled() else self
        every, span = (0, len(self.queries)), (key, key + 1)
        maps = [
            [view.block(layer, head, every, span)[:, 0] for head in range(self.heads)] for layer in range(self.layers)
        ]
        return np.array(maps, dtype=np.float32)

    def block(self, layer: int, head: int, rows: tuple[int, int], cols: tuple[int, int]) -> FloatArray:
        """Return the weights from queries [rows[0], rows[1]) to keys [cols[0], cols[1]), shape (row, col)."""
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
        """Return True for each displayed row and column if the row may attend to the column, shape (row, col).

        A word may attend to another if any of their tokens may. The result is None if all flags are True.
        """
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

    def tile(self, layer: int, head: int, q0: int, q1: int, k0: int, k1: int, size: int) -> FloatArray:  # noqa: PLR0913  # a head, two ranges and a size
        """Return a block of a map, max-pooled to at most (size, size); a smaller block is exact.

        The block is [q0, q1) × [k0, k1). Signed values are pooled by the value furthest from zero.
        """
        asked = layer, head, q0, q1, k0, k1, size
        most = self._max_pool(*asked)
        return furthest_from_zero(most, -self._max_pool(*asked, sign=-1)) if self.is_signed else most

    def _max_pool(  # noqa: PLR0913
        self, layer: int, head: int, q0: int, q1: int, k0: int, k1: int, size: int, sign: int = 1
    ) -> FloatArray:  # the arguments of tile
        """Max-pool a block of the weights, negated if ``sign`` is negative."""
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
        """Return True if the text is so long that thumbnails and measures use only some of the rows."""
        return len(self.queries) > SAMPLED_ABOVE

    def thumbnails(self, size: int) -> FloatArray:
        """Return a max-pooled thumbnail of every head, shape (layer, head, <=size, <=size).

        Only some rows of texts longer than SAMPLED_ABOVE are used, so each value is a lower bound of the maximum.
        """
        grids = [[self.thumbnail(weights, size) for weights in layer] for layer in self.maps(size)]
        return np.array(grids, dtype=np.float32)

    def maps(self, size: int) -> Iterator[Iterator[FloatArray]]:
        """Yield, for each layer, an iterator over the maps (row, key) of its heads.

        For long texts, the maps have only the rows that are sampled for thumbnails of ``size``.
        """
        rows = self.sample(size)
        for layer in range(self.layers):
            yield (
                self.weights(layer, head) if rows is None else self.rows_of(layer, head, rows)
                for head in range(self.heads)
            )

    def sample(self, size: int) -> npt.NDArray[np.intp] | None:
        """Return the rows that are sampled for thumbnails of ``size``, shape (row,), or None if all rows are used."""
        return sample_rows(len(self.queries), size, SAMPLES_PER_CELL) if self.is_sampled() else None

    def thumbnail(self, weights: FloatArray, size: int) -> FloatArray:
        """Reduce a map (row, key), complete or sampled, to at most (size, size)."""
        return (far_pool if self.is_signed else max_pool)(weights, size)

    def rows_of(self, layer: int, head: int, rows: npt.NDArray[np.intp]) -> FloatArray:
        """Return the attention of the displayed queries ``rows`` in a head, shape (row, key) float32.

        The queries can be in any order.
        """
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
        """Return True if visible rows are scaled to sum to one; signed values never are."""
        return self.renormalise and not self.special and not self.is_signed

    def _visible(self, record: AnyRecord, head: int, rows: Index) -> FloatArray:
        """Return the share of each row that goes to visible cells, shape (row,)."""
        if record.keys <= SAMPLED_ABOVE:
            return self._sum_cells(record, head, rows)
        shown = np.concatenate([np.arange(*cell.pieces) for cell in self.keys])
        hidden: Index = np.setdiff1d(np.arange(record.keys), shown)
        mass: FloatArray = record.row_sums(head, rows) - record.weights(head, rows, hidden).sum(axis=1)
        thin = mass < THIN  # small differences are dominated by rounding errors
        if thin.any():
            mass[thin] = self._sum_cells(record, head, positions(rows, record.queries)[thin])
        return mass

    def _sum_cells(self, record: AnyRecord, head: int, rows: Index) -> FloatArray:
        """Return the share of each row that goes to visible cells, shape (row,), as a direct sum of the weights."""
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
    """Return the positions of the tokens of a group named in ``GROUPS``; raise ValueError for other names.

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
    """Return the attention from some queries to some keys in each head, shape (layer, head) float32.

    Weights are summed over the keys and averaged over the queries. If there are no keys, the sum is 0. Raise ValueError
    if there are no queries.
    """
    if not queries:
        raise ValueError("A flow needs tokens that look; none came.")
    rows, index = np.array(queries), np.array(keys, dtype=np.intp)
    shares = [
        [record.weights(head, rows)[:, index].sum(axis=1).mean() for head in range(record.heads)]
        for record in trace.records()
    ]
    return np.array(shares, dtype=np.float32)
