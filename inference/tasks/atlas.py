"""Requests for a head atlas: texts cut into windows, and the statistics of every head over some windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy.typing as npt

from attention.mask import FloatArray
from attention.strongest_links import Columns
from inference.task_heads import RANDOM
from inference.tasks.model_request import InspectRequest

WINDOW = 128  # tokens of a window, special tokens included
OFFSETS = 16  # offsets to each side that the histogram of distances separates; a bin per side holds the others
ATLAS_MEASURES = ("entropy", "distance", "special", "first", "previous", "itself", "next", "punctuation")
"""Measures of a head, means over the rows of words: entropy in bits, distance in tokens, and shares of attention."""

Integers = npt.NDArray[Any]
Window = tuple[str, str | None]  # a text, and the target text of an encoder-decoder


@dataclass(frozen=True)
class CutAnswer:
    """The windows of each text, and the number of tokens of each window.

    ``refusals`` has an error message for each text that the model cannot read, and "" for every other text.
    """

    windows: tuple[tuple[Window, ...], ...]
    sizes: tuple[tuple[int, ...], ...]
    refusals: tuple[str, ...]


@dataclass(frozen=True)
class CutRequest(InspectRequest[CutAnswer]):
    """A request to cut texts into windows of at most WINDOW tokens, at word boundaries.

    A text with a target is a single window. A text that the model cannot read has no windows.
    """

    ANSWERED_BY: ClassVar[str] = "atlas.cut_texts"

    texts: tuple[Window, ...] = ()


@dataclass(frozen=True, eq=False)
class TokenForms:
    """The tokens of all windows on one side (text or target), concatenated into flat arrays (token,).

    ``forms`` are the names by which a search finds tokens. The first token of a word has the whole word in lower case
    as its name. Later tokens have labels such as "##ing", and special tokens names such as "[CLS]". ``sizes`` is the
    number of tokens of the word that begins at the token, else 0. ``starts`` is the first character of the token in the
    text, -1 for special tokens. ``counts`` is the number of tokens of each window, shape (window,).
    """

    forms: tuple[str, ...]
    sizes: Integers
    starts: Integers
    counts: Integers


@dataclass(frozen=True, eq=False)
class StackStatistics:
    """The strongest links and the measures of every head of a stack, over some windows of text.

    Heads are numbered layer by layer. ``links`` lists the links of each head with the largest excess. ``written`` lists
    those with the largest output: the attention weight times the norm of the value vector after the output matrix W_O.
    Its lists are empty if W_O was not found. Windows are numbered within the request.
    """

    layers: int
    heads: int
    links: tuple[Columns, ...]  # (head,)
    written: tuple[Columns, ...]  # (head,); the column "excess" is the product
    measures: FloatArray  # (window, head, measure)
    distances: FloatArray  # (window, head, bin): mean attention of a row by offset of the key
    peaks: FloatArray  # (window, head): the largest excess
    peak_queries: Integers  # (window, head)
    peak_keys: Integers  # (window, head)
    row_peaks: FloatArray  # (query token, head): the largest excess of a row; 0 for special tokens
    received: FloatArray  # (key token, head): the mean weight that the other words give a key


@dataclass(frozen=True, eq=False)
class AtlasAnswer:
    """The statistics of every head over some windows, by stack, and the tokens of these windows.

    ``sides`` has the tokens of the texts and, if there are targets, those of the targets.
    """

    sides: tuple[TokenForms, ...]
    stacks: dict[str, StackStatistics] = field(default_factory=dict)


@dataclass(frozen=True)
class AtlasRequest(InspectRequest[AtlasAnswer]):
    """A request for the statistics of every head over windows from CutRequest.

    ``most`` is the largest number of links by excess for each head, ``most_written`` the largest number by output.
    Weaker links are left out: ``floors`` gives the least excess and ``written_floors`` the least output. Both are pairs
    (stack, a value for each head).
    """

    ANSWERED_BY: ClassVar[str] = "atlas.measure"

    windows: tuple[Window, ...] = ()
    most: int = 40_000
    most_written: int = 1_000
    floors: tuple[tuple[str, tuple[float, ...]], ...] = ()
    written_floors: tuple[tuple[str, tuple[float, ...]], ...] = ()


@dataclass(frozen=True)
class RandomAtlasRequest(AtlasRequest):
    """A request like AtlasRequest, but for random weights in the same architecture, as a control."""

    HEAD: ClassVar[str] = RANDOM


def offsets() -> Sequence[int]:
    """Return the offsets (key position minus query position) of the bins of the distance histogram.

    The first and the last bin also count all larger distances on their side.
    """
    return range(-OFFSETS - 1, OFFSETS + 2)
