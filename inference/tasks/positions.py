"""Requests for positional encodings, and for the test of word order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.record import AnyRecord
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class PositionTable:
    """A table with a vector for each position, which is added to the word embedding at that position."""

    path: str  # path of its module
    vectors: FloatArray  # (position, dimension), from the position of the first token
    layout: str  # "" for a learned table; "interleaved", "halves" or "other" for a sinusoidal table
    error: float | None  # largest difference from the paper's formula in that layout; None if not compared


@dataclass(frozen=True, eq=False)
class RotaryAngles:
    """The angles by which queries and keys are rotated for each position."""

    path: str
    layers: str  # type of the layers that use it, or "" if there is a single type
    frequencies: FloatArray  # (pair,), radians per token, scaled as the model has them
    theta: float | None  # the base, or None if the configuration does not state it
    scaling: str  # method that extends the angles to longer texts, or "default" for none
    width: int  # channels of a head, of which 2 × pairs are rotated


@dataclass(frozen=True, eq=False)
class Bias:
    """A learned bias that is added to the scores, for each head and each bucket of distances."""

    path: str
    values: FloatArray  # (bucket, head)
    farthest: int  # distance in tokens beyond which all distances share a bucket
    both_ways: bool  # True if earlier and later keys have separate buckets


@dataclass(frozen=True, eq=False)
class Positions:
    """The positional encodings of the stack that reads the text; a field is empty or None if the model lacks it."""

    model: str
    architecture: str
    kind: str
    tables: tuple[PositionTable, ...]
    rotary: tuple[RotaryAngles, ...]
    biases: tuple[Bias, ...]
    slopes: FloatArray | None  # (head,), the slopes of ALiBi
    others: tuple[str, ...]  # names of other tensors with positions
    trained: int | None  # number of positions of the table or the configuration; None if there is none
    refusal: str  # error message for a text that is longer by a token; "" if positions do not limit the length


@dataclass(frozen=True)
class PositionsRequest(InspectRequest[Positions]):
    """A request for the position encodings of a model."""

    ANSWERED_BY: ClassVar[str] = "positions.answer"


ROUNDING = 1e-3  # of a weight; a larger difference is not due to rounding
MOST = 256  # tokens; the test computes every head's whole map four times


@dataclass(frozen=True, eq=False)
class OrderPass:
    """The attention records of each layer for a text and for its reordered tokens (``mixed``).

    ``differences`` (layer, head) compares each map of the reordered tokens with the permuted map of the text.
    """

    text: tuple[AnyRecord, ...]
    mixed: tuple[AnyRecord, ...]
    differences: FloatArray  # (layer, head), reordered text's map against the permuted map (attention.positions)


@dataclass(frozen=True, eq=False)
class OrderTest:
    """The results of the word-order test: passes with the model's positions (``having``) and without (``lacking``)."""

    part: str  # the stack that is compared, "encoder" or "decoder"
    order: tuple[int, ...]  # entry i is the original position of token i of the reordered text
    having: OrderPass  # with the model's positions
    lacking: OrderPass  # without positions
    done: tuple[str, ...]  # the methods that removed the positions, each as a sentence
    masks: tuple[str, ...]  # masks that still depend on positions: "causal", "window"
    unmasked: float | None  # largest difference of unmasked scores in the first layer without positions


@dataclass(frozen=True)
class OrderRequest(InspectRequest[OrderTest]):
    """A request to compare the attention maps of a text with the maps of its reordered tokens.

    ``pair`` is a second text, and ``cut`` the number of tokens to keep. ``order`` is the permutation: entry i is the
    original index of the token that is moved to position i.
    """

    ANSWERED_BY: ClassVar[str] = "positions.compare_orders"

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    order: tuple[int, ...] = ()
