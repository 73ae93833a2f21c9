"""What a model holds to know where a token stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class PositionTable:
    """A vector for each position, added to the word vectors."""

    path: str  # of the module that holds it
    vectors: FloatArray  # (position, dimension), from the first token's on
    layout: str  # "" for a learned table; "interleaved", "halves" or "other" for one made of sines and cosines
    error: float | None  # largest difference from the paper's formula in that layout; None for a learned table


@dataclass(frozen=True, eq=False)
class RotaryAngles:
    """Angles by which queries and keys are turned for each token further on."""

    path: str
    layers: str  # what kind of layers use it, where a model has several; else ""
    frequencies: FloatArray  # (pair,), radians per token, scaled as the model has them
    theta: float | None  # the base, where the configuration states it
    scaling: str  # how the angles were stretched for longer texts; "default" when they were not
    width: int  # channels of a head, of which 2 × pairs are turned


@dataclass(frozen=True, eq=False)
class Bias:
    """A learned number per bucket of distances and head, added to the scores."""

    path: str
    values: FloatArray  # (bucket, head)
    farthest: int  # tokens, beyond which all distances share a bucket
    both_ways: bool  # whether earlier and later keys have buckets of their own


@dataclass(frozen=True, eq=False)
class Positions:
    """Everything found, on the side that reads the text; what a model does not use is empty or None."""

    model: str
    architecture: str
    kind: str
    tables: tuple[PositionTable, ...]
    rotary: tuple[RotaryAngles, ...]
    biases: tuple[Bias, ...]
    slopes: FloatArray | None  # (head,), ALiBi's
    others: tuple[str, ...]  # names of tensors that hold positions in a way of their own
    trained: int | None  # tokens that the table or the configuration names; None where nothing does
    refusal: str  # what is said to a text of one token more; "" where no length is refused for its positions


@dataclass(frozen=True)
class PositionsRequest(InspectRequest[Positions]):
    """What does this model hold about positions?"""

    ANSWERED_BY: ClassVar[str] = "positions"
