"""The position encodings of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class PositionTable:
    """A table with a vector for each position, added to the word embeddings."""

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
    """A learned bias for each bucket of distances and head, added to the scores."""

    path: str
    values: FloatArray  # (bucket, head)
    farthest: int  # distance in tokens beyond which all distances share a bucket
    both_ways: bool  # True if earlier and later keys have separate buckets


@dataclass(frozen=True, eq=False)
class Positions:
    """All position encodings of the stack that reads the text; those that a model lacks are empty or None."""

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

    ANSWERED_BY: ClassVar[str] = "positions"
