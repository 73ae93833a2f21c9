"""The attention of a layer: its input vectors, its weight matrices and its output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.walkthrough import LayerParameters
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class LayerAnswer:
    """A layer's input, parameters and output for a text; all arrays are float32 and read-only.

    ``largest`` and ``mean`` are the differences between ``output`` and the result of
    attention.walkthrough.trace_layer_steps on ``stream``, over the last ``compared`` tokens. ``size`` is the
    largest absolute value of ``output`` there, the reference for these differences.
    """

    ids: tuple[int, ...]  # token ids of the source
    stream: FloatArray  # (token, channel): the residual stream before the attention
    memory: FloatArray | None  # (key, channel): the encoder's output, for cross-attention
    wiring: LayerParameters
    output: FloatArray  # (token, channel): the model's own output, at the place that wiring.ends names
    names: dict[str, str]  # module paths of "query", "key", "value", "output", "before" and "closing"
    largest: float
    mean: float
    size: float
    compared: int  # number of tokens


@dataclass(frozen=True)
class LayerQuestion(InspectRequest[LayerAnswer]):
    """A request for a layer of a stack ("encoder", "decoder", "cross") on a text.

    ``target`` has the decoder's tokens for an encoder-decoder; ``cut`` is as in a TraceRequest. UserError is
    raised if the attention of the architecture cannot be identified, or cannot be reproduced from its weights.
    """

    ANSWERED_BY: ClassVar[str] = "layer"

    text: str = ""
    pair: str | None = None
    target: tuple[int, ...] = ()
    cut: int | None = None
    part: str = "encoder"
    layer: int = 0
