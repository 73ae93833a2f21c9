"""What one layer's attention is made of: the vectors it is given, its own matrices, and what it made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.walkthrough import LayerParameters
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class LayerAnswer:
    """One layer's input, wiring and output for one text; all arrays float32 and read-only.

    ``largest`` and ``mean`` are the differences between ``output`` and what attention.walkthrough.trace_layer_steps
    makes of ``stream``,
    over the tokens ``compared``; ``size`` is the largest number of ``output``, which they are to be read against.
    """

    ids: tuple[int, ...]  # of the source's tokens, in the model's vocabulary
    stream: FloatArray  # (token, channel): the residual stream before the attention
    memory: FloatArray | None  # (key, channel): the encoder's output, for cross-attention
    wiring: LayerParameters
    output: FloatArray  # (token, channel): the model's own, at the place that wiring.ends names
    names: dict[str, str]  # of the modules: "query", "key", "value", "output", "norm", where they stand in the model
    largest: float
    mean: float
    size: float
    compared: int  # tokens


@dataclass(frozen=True)
class LayerQuestion(InspectRequest[LayerAnswer]):
    """One layer of one part ("encoder", "decoder", "cross") while the model reads a text.

    ``target`` holds the decoder's tokens for a model with two sides; ``cut`` as in a TraceRequest. Refused, in one
    sentence, where the architecture's attention cannot be taken apart or put together again from its weights.
    """

    ANSWERED_BY: ClassVar[str] = "layer"

    text: str = ""
    pair: str | None = None
    target: tuple[int, ...] = ()
    cut: int | None = None
    part: str = "encoder"
    layer: int = 0
