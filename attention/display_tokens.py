"""Rows and columns as they are shown: a token, or a word of several; and how maps of tokens become maps of these.

Attention *to* a word is the sum over its pieces, attention *from* it the mean over them (arXiv:1906.04341).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
from attention.tokens import TokenRow, is_out_of_vocabulary, label


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
