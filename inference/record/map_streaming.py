"""Attention maps of a batch of texts, one layer after the other: nothing of the pass is kept but what is taken from it.

A trace keeps every layer's queries, keys and values, because nobody knows yet what will be looked at. Who knows it
takes it here while the model runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor
from transformers.integrations.sdpa_attention import repeat_kv

from attention.mask import FloatArray
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record import capture
from inference.record.attention_call import AttentionCall
from inference.record.attention_function import Tape, record_attention, weigh
from inference.record.edit_hooks import HEADS
from inference.record.to_numpy import numpy

MOST_BYTES = 2**23  # of the maps that are held at once, where one head's do not take more

Take = Callable[
    [int, int, FloatArray], None
]  # layer, first head, maps (text, head, query, key); padding is meaningless


def stream(
    loaded: LoadedModel, inputs: dict[str, Tensor], lengths: Sequence[int], take: Take, *, maps_only: bool = False
) -> None:
    """Pass every layer's maps to ``take``, some heads at a time, in one forward pass over a right-padded batch.

    Of an encoder-decoder, the encoder runs. With ``maps_only`` the pass ends at its last attention. Raises Refusal if
    the model fails on it, or if a model with two sides gives finished maps only.
    """
    two = loaded.id.kind == "encoder-decoder"
    if two and not loaded.records:
        raise UserError(
            gettext_lazy(
                "The encoder of {name} cannot be read alone. Pick an encoder such as BERT, a decoder such as"
                " GPT-2, or an encoder–decoder such as T5.",
                name=loaded.id.name,
            ),
            way_out="embedded",
        )
    with as_user_error(
        gettext_lazy("{name} failed while reading these texts. Change them or pick another model.", name=loaded.id.name)
    ):
        if not loaded.records:
            _stream_reported_maps(loaded.model, inputs, lengths, take)
            return
        model = loaded.model.get_encoder() if two else loaded.model
        heads = getattr(loaded.model, HEADS)
        layers = heads["encoder"] if two else [many for part in heads.values() for many in part]
        tape = _Stream(take=take, layers=layers, maps_only=maps_only)
        with suppress(_LastLayer), record_attention(tape):
            model(**inputs)
        tape.skip(len(lengths), max(lengths), max(lengths))


class _LastLayer(Exception):  # ends a pass, no fault
    """Raised when the last attention's maps were taken, since the rest of the pass changes none of them."""


@dataclass(eq=False, kw_only=True)
class _Stream(Tape):
    """A tape that hands every attention on and keeps none; for maps only, it ends the pass after the last one."""

    take: Take
    layers: Sequence[int]  # heads of each layer, 0 for one without attention
    maps_only: bool
    layer: int = 0

    def note(self, call: AttentionCall, lse: Tensor | None) -> None:  # noqa: ARG002  # a tape's own signature
        """One layer's maps, in blocks of heads."""
        texts, heads, queries, _ = call.query.shape
        self.skip(texts, queries, call.key.shape[2])
        step = max(1, MOST_BYTES // (4 * texts * queries * call.key.shape[2]))
        groups = heads // call.key.shape[1]
        key = repeat_kv(call.key, groups)
        for first in range(0, heads, step):
            some = slice(first, first + step)
            bias = call.bias if call.bias is None or call.bias.shape[1] == 1 else call.bias[:, some]
            mask = call.mask if call.mask is None or call.mask.shape[1] == 1 else call.mask[:, some]
            sinks = None if call.sinks is None else call.sinks.reshape(-1, heads)[:, some]
            part = replace(call, query=call.query[:, some], key=key[:, some], bias=bias, mask=mask, sinks=sinks)
            self.take(self.layer, first, numpy(weigh(part)))
        self.layer += 1
        if self.maps_only and not any(self.layers[self.layer :]):
            raise _LastLayer

    def widen(self, call: AttentionCall) -> None:
        """Do nothing: a call that repeats the last one has its maps."""

    def skip(self, texts: int, queries: int, keys: int) -> None:
        """Hand on zeros for the layers without attention that come next."""
        while self.layer < len(self.layers) and not self.layers[self.layer]:
            for head in range(max(self.layers)):
                self.take(self.layer, head, np.zeros((texts, 1, queries, keys), np.float32))
            self.layer += 1


def _stream_reported_maps(model: Any, inputs: dict[str, Tensor], lengths: Sequence[int], take: Take) -> None:
    """The same from an architecture that gives its finished maps only."""
    samples = capture.record_parts(model, inputs, list(lengths))
    [part] = samples[0]
    width = max(lengths)
    for layer in range(len(samples[0][part])):
        records = [sample[part][layer] for sample in samples]
        maps = np.zeros((len(records), records[0].heads, width, width), dtype=np.float32)
        for text, record in enumerate(records):
            for head in range(record.heads):
                maps[text, head, : record.queries, : record.keys] = record.weights(head)
        take(layer, 0, maps)
