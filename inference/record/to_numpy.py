"""From torch to numpy: the calls of one forward pass as records, one sample at a time, without its padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.mask import FloatArray, Mask
from attention.record import AnyRecord, NoAttention, Record
from i18n import gettext_lazy
from inference.errors import UserError
from inference.record.attention_call import PICTURE, AttentionCall, part_names
from inference.record.edit_hooks import in_every_layer
from inference.record.tensor_memory import compact_tensors, place
from inference.record.token_spans import Pair, Spans


def parts(
    model: Any, calls: list[AttentionCall], inputs: dict[str, Tensor], spans: Pair
) -> list[dict[str, tuple[AnyRecord, ...]]]:
    """For each sample of the batch, its records by part, in the order of the calls, which are used up.

    Raises Refusal for attention inside windows of a picture, whose maps are not maps of the whole.
    """
    names = part_names(model, calls)
    batch = next(iter(inputs.values())).shape[0]
    odd = [call for call in calls if call.query.shape[0] != batch]
    if odd:
        raise UserError(
            gettext_lazy(
                "{name} attends inside {windows} windows of each picture, which give no map of the whole picture. "
                "Pick a model that attends to all of it, such as ViT.",
                name=type(model).__name__,
                windows=odd[0].query.shape[0] // batch,
            )
        )
    crops = [_Crop(sample, *spans) for sample in range(batch)]
    found: list[dict[str, list[Record]]] = [{part: [] for part in dict.fromkeys(names)} for _ in crops]
    for part in names:
        call = calls.pop(0)  # its tensors are let go as soon as every sample has its own
        for crop, records in zip(crops, found, strict=True):
            records[part].append(crop.record(call, part))
    return [{part: _by_layer(model, part, layers) for part, layers in records.items()} for records in found]


def _by_layer(model: Any, part: str, found: Sequence[Record]) -> tuple[AnyRecord, ...]:
    """Return a record for each layer of a part: those of its attentions, and NoAttention in between."""
    none = NoAttention(found[0].heads, found[0].queries, found[0].keys)
    return tuple(in_every_layer(model, part, list[AnyRecord](found), none))


class _Crop:
    """Makes the records of one sample; masks and biases that layers share are converted once."""

    def __init__(self, sample: int, source: Spans | None, target: Spans | None) -> None:
        self.sample = sample
        self.source, self.target = source, target
        self.made: dict[tuple[Any, ...], tuple[tuple[Tensor | None, ...], tuple[Mask, FloatArray | None]]] = {}

    def record(self, call: AttentionCall, part: str) -> Record:
        """The record of one call."""
        rows = self._cut(call, self.source if part == "encoder" else self.target, call.query)
        cols = self._cut(call, self.target if part == "decoder" else self.source, call.key)
        vectors = self._mine(call.query, rows), self._mine(call.key, cols), self._mine(call.value, cols)
        # Owned together, because three views that share one fused projection need no copies.
        query, key, value = (numpy(tensor) for tensor in compact_tensors(*vectors))
        mask, bias = self._shared_mask(call, rows, cols)
        return Record(
            query=query,
            key=key,
            value=value,
            scale=call.scale,
            mask=mask,
            bias=bias,
            softcap=call.softcap,
            sinks=self._sinks(call),
            lse=None if call.lse is None else numpy(*compact_tensors(self._mine(call.lse, rows))),
        )

    def _cut(self, call: AttentionCall, spans: Spans | None, vectors: Tensor) -> slice:
        length = vectors.shape[2]
        return slice(0, length) if spans is None or PICTURE.search(call.path) else spans.cut(self.sample, length)

    def _mine(self, tensor: Tensor, tokens: slice) -> Tensor:
        """This sample's real tokens of (batch, head, token, ...)."""
        return tensor[self.sample][:, tokens]

    def _sinks(self, call: AttentionCall) -> FloatArray | None:
        """A copy, because these are weights of the model; an edit may have given this sample its own."""
        if call.sinks is None:
            return None
        heads = call.query.shape[1]
        rows = call.sinks.reshape(-1, heads)
        return numpy(rows[self.sample if len(rows) > 1 else 0].clone())

    def _shared_mask(self, call: AttentionCall, rows: slice, cols: slice) -> tuple[Mask, FloatArray | None]:
        """Mask and bias, made once for all layers that were given the same ones."""
        sides = (rows.start, rows.stop, cols.start, cols.stop)
        where = (place(call.mask), place(call.bias), call.causal, sides)
        if where not in self.made:
            # The tensors are kept, so that their places stay their own.
            self.made[where] = ((call.mask, call.bias), self._mask_and_bias(call, rows, cols))
        return self.made[where][1]

    def _mask_and_bias(self, call: AttentionCall, rows: slice, cols: slice) -> tuple[Mask, FloatArray | None]:
        mask = Mask(rows.stop - rows.start, cols.stop - cols.start, causal=call.causal)
        numbers = [] if call.bias is None else [self._block(call.bias, rows, cols)]
        if call.mask is not None:
            allowed, others = _split(self._block(call.mask, rows, cols))
            mask = Mask.compact(allowed.cpu().numpy())
            numbers += [] if others is None else [others]
        return mask, numpy(sum(numbers, torch.zeros(()))) if numbers else None

    def _block(self, tensor: Tensor, rows: slice, cols: slice) -> Tensor:
        """(batch or 1, head or 1, query or 1, key) as this sample's (head or 1, row, col)."""
        mine = tensor[self.sample if tensor.shape[0] > 1 else 0]
        return mine.expand(-1, max(rows.stop, mine.shape[1]), -1)[:, rows, cols]


def _split(mask: Tensor) -> tuple[Tensor, Tensor | None]:
    """A mask (head or 1, row, col) as pairs that any head lets through, and the numbers to add where they differ."""
    lets = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
    allowed = lets.any(dim=0)
    numbers = torch.zeros_like(mask, dtype=torch.float32) if mask.dtype == torch.bool else mask.float()
    # What every head hides is the mask's to say; what only some hide stays a number.
    numbers = numbers.masked_fill(~lets, -torch.inf).masked_fill(~allowed, 0)
    return allowed, numbers if bool(numbers.any()) else None


def numpy(tensor: Tensor) -> FloatArray:
    """The same numbers as a read-only float32 array; of a float32 tensor on the CPU, the same memory."""
    array: np.ndarray[Any, np.dtype[np.float32]] = tensor.detach().to("cpu", torch.float32).numpy()
    array.setflags(write=False)
    return array
