"""Where the newest token of a text looks, row by row, from a pass that may have computed nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from inference.record.attention_call import CROSS, AttentionCall
from inference.record.attention_function import Tape, weigh


@dataclass(eq=False)
class NewestRow(Tape):
    """Keeps of each attention only where the newest token of each row looks: (row, head, key) by part."""

    rows: dict[str, list[Tensor]] = field(default_factory=dict)

    def note(self, call: AttentionCall, lse: Tensor | None) -> None:  # noqa: ARG002  # a tape's own signature
        """Computes that row and lets the rest go."""
        mask, bias = (None if tensor is None else tensor[..., -1:, :] for tensor in (call.mask, call.bias))
        last = replace(call, query=call.query[:, :, -1:], mask=mask, bias=bias)
        part = "cross" if CROSS.search(call.path) else "decoder"
        self.rows.setdefault(part, []).append(weigh(last)[:, :, 0])

    def widen(self, call: AttentionCall) -> None:
        """Do nothing: a call that repeats the last one has its weights."""


def reported_rows(output: Any) -> dict[str, list[Tensor]]:
    """The newest token's rows of maps that a model reports itself, (row, head, key) by part."""
    names = {"attentions": "decoder", "decoder_attentions": "decoder", "cross_attentions": "cross"}
    return {
        part: [layer[:, :, -1] for layer in output[name]]
        for name, part in names.items()
        if output.get(name) and all(isinstance(layer, Tensor) and layer.ndim == 4 for layer in output[name])
    }


def stack_layers(layers: Sequence[Tensor] | None, width: int | None = None) -> Tensor | None:
    """Layers (row, head, key) as (row, layer, head, key); keys that a sliding window has dropped have no weight.

    None where layers differ in their heads, and for a model that reads more than its ``width`` tokens.
    """
    if not layers or (width is not None and any(layer.shape[-1] > width for layer in layers)):
        return None
    dropped = [0 if width is None else width - layer.shape[-1] for layer in layers]
    whole = [torch.nn.functional.pad(layer.float(), (more, 0)) for layer, more in zip(layers, dropped, strict=True)]
    return torch.stack(whole, dim=1) if len({layer.shape for layer in whole}) == 1 else None
