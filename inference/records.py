"""From torch to numpy: the calls of one forward pass as records, one sample at a time, without its padding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.mask import Array, Mask
from attention.record import Record
from inference.capture import Call

CROSS = re.compile(r"(^|\.)(encoder_attn|encdecattention|crossattention|cross_attn)(\.|$)", re.IGNORECASE)
DECODER = re.compile(r"(^|\.)decoder\.")

Spans = list[slice] | None


def both_spans(
    inputs: dict[str, Tensor], lengths: Sequence[int] | None, target_lengths: Sequence[int] | None
) -> tuple[Spans, Spans]:
    """Where the tokens of each sample's source and target stand; None where nothing is padded."""
    if "encoder_hidden_states" in inputs:  # a decoder of its own, which reads what another model encoded
        return _spans(inputs, "encoder_attention_mask", None), _spans(inputs, "attention_mask", lengths)
    return _spans(inputs, "attention_mask", lengths), _spans(inputs, "decoder_attention_mask", target_lengths)


def _spans(inputs: dict[str, Tensor], mask_name: str, lengths: Sequence[int] | None) -> Spans:
    if lengths is not None:
        return [slice(0, length) for length in lengths]
    mask = inputs.get(mask_name)
    if mask is None:
        return None
    real = [row.nonzero().flatten() for row in mask]
    return [slice(int(places[0]), int(places[-1]) + 1) for places in real]


def parts(model: Any, calls: Sequence[Call], sources: Spans, targets: Spans) -> list[dict[str, tuple[Record, ...]]]:
    """For each sample of the batch, its records by part, in the order of the calls."""
    names = _part_names(model, calls)
    found = []
    for sample in range(max(call.query.shape[0] for call in calls)):
        crop = _Crop(sample, sources, targets, decoder_only="cross" not in names)
        records = [(name, crop.record(call, name)) for call, name in zip(calls, names, strict=True)]
        found.append({part: tuple(r for name, r in records if name == part) for part in dict.fromkeys(names)})
    return found


def _part_names(model: Any, calls: Sequence[Call]) -> list[str]:
    """Which part each call belongs to: by its module's place, and by whether it may look ahead."""
    two = bool(getattr(model.config, "is_encoder_decoder", False))
    looks_ahead = any(not call.causal for call in calls if not CROSS.search(call.path))
    alone = "encoder" if looks_ahead else "decoder"
    return [
        "cross"
        if CROSS.search(call.path)
        else alone
        if not two
        else "decoder"
        if DECODER.search(call.path)
        else "encoder"
        for call in calls
    ]


class _Crop:
    """Makes the records of one sample; masks and biases that layers share are converted once."""

    def __init__(self, sample: int, sources: Spans, targets: Spans, decoder_only: bool) -> None:
        self.sample = sample
        self.source = None if sources is None else sources[sample]
        self.target = self.source if decoder_only else None if targets is None else targets[sample]
        self.masks: dict[tuple[int | None, bool], tuple[Mask, Array | None]] = {}
        self.biases: dict[int, Array] = {}

    def record(self, call: Call, part: str) -> Record:
        """The record of one call."""
        queries = _whole(self.source if part == "encoder" else self.target, call.query)
        keys = _whole(self.target if part == "decoder" else self.source, call.key)
        mask, extra = self._mask(call, queries, keys)
        bias = extra if call.bias is None else self._bias(call.bias, queries, keys)
        return Record(
            query=self._vectors(call.query, queries),
            key=self._vectors(call.key, keys),
            value=self._vectors(call.value, keys),
            scale=call.scale,
            mask=mask,
            bias=bias,
            softcap=call.softcap,
            sinks=None if call.sinks is None else _numpy(call.sinks.flatten()),
            lse=None if call.lse is None else _numpy(self._own(call.lse)[:, queries]),
        )

    def _vectors(self, tensor: Tensor, tokens: slice) -> Array:
        return _numpy(self._own(tensor)[:, tokens])

    def _own(self, tensor: Tensor) -> Tensor:
        """This sample's part, holding no memory but its own: neither the batch's nor a fused projection's."""
        mine = tensor[min(self.sample, tensor.shape[0] - 1)]
        shared = mine.untyped_storage().nbytes() > 1.5 * mine.numel() * mine.element_size()
        return mine.clone() if shared else mine

    def _bias(self, bias: Tensor, queries: slice, keys: slice) -> Array:
        if id(bias) not in self.biases:
            self.biases[id(bias)] = _numpy(self._own(bias)[:, queries, keys].clone())
        return self.biases[id(bias)]

    def _mask(self, call: Call, queries: slice, keys: slice) -> tuple[Mask, Array | None]:
        """The mask as a rule where it is one; an additive mask with other numbers gives these as a bias too."""
        key = (None if call.mask is None else id(call.mask), call.causal)
        if key not in self.masks:
            self.masks[key] = self._make_mask(call, queries, keys)
        return self.masks[key]

    def _make_mask(self, call: Call, queries: slice, keys: slice) -> tuple[Mask, Array | None]:
        rows, cols = queries.stop - queries.start, keys.stop - keys.start
        if call.mask is None:
            return Mask(rows, cols, causal=call.causal and call.query.shape[2] > 1), None
        mask = call.mask[min(self.sample, call.mask.shape[0] - 1)][:, queries, keys]
        if mask.dtype == torch.bool:
            return Mask.compact(mask.all(dim=0).numpy()), None
        allowed = mask > torch.finfo(mask.dtype).min / 2
        compact = Mask.compact(allowed.all(dim=0).numpy())
        numbers = mask.masked_fill(~allowed, 0)
        return compact, _numpy(numbers) if bool(numbers.any()) else None


def _whole(tokens: slice | None, vectors: Tensor) -> slice:
    return slice(0, vectors.shape[2]) if tokens is None else tokens


def _numpy(tensor: Tensor) -> Array:
    array: np.ndarray[Any, np.dtype[np.float32]] = tensor.detach().float().cpu().numpy()
    array.setflags(write=False)
    return array
