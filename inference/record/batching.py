"""Passes over a padded batch of texts: their traces, or their attention maps passed to a callback."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor
from transformers.integrations.sdpa_attention import repeat_kv

from attention.mask import FloatArray
from attention.trace import Trace
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.pictures.image_processing import ProcessedPicture
from inference.record import capture
from inference.record.attention_call import AttentionCall
from inference.record.attention_function import Tape, record_attention, weigh
from inference.record.edit_hooks import HEADS
from inference.record.records import numpy
from inference.request import TraceRequest
from inference.text.encoding import Encoding

MOST_BYTES = 2**23  # bytes of the maps held at a time, unless a single head's maps are larger

Take = Callable[
    [int, int, FloatArray], None
]  # layer, first head, maps (text, head, query, key); padding is meaningless


def stream(
    loaded: LoadedModel, inputs: dict[str, Tensor], lengths: Sequence[int], take: Take, *, maps_only: bool = False
) -> None:
    """Run a forward pass, and call ``take`` with the attention maps of every layer, a few heads at a time.

    The batch is padded on the right. In an encoder-decoder, only the encoder runs. With ``maps_only`` the pass ends
    after its last attention. Raise UserError if the model fails on the batch, or if it is an encoder-decoder that
    reports only attention maps, without queries and keys.
    """
    two = loaded.id.kind == "encoder-decoder"
    if two and not loaded.records:
        raise UserError(
            gettext_lazy(
                "The encoder of {name} cannot run alone. Try BERT, GPT-2 or T5.",
                name=loaded.id.name,
            ),
            way_out="embedded",
        )
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
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


class _LastLayer(Exception):  # not an error: ends a pass early
    """Raised if the maps of the last attention were taken, since the rest of the pass is not needed."""


@dataclass(eq=False, kw_only=True)
class _Stream(Tape):
    """A tape that passes on the maps of every call and stores none.

    With ``maps_only`` it ends the pass at the last attention.
    """

    take: Take
    layers: Sequence[int]  # heads of each layer, 0 for a layer without attention
    maps_only: bool
    layer: int = 0

    def note(self, call: AttentionCall, lse: Tensor | None) -> None:  # noqa: ARG002  # a tape's own signature
        """Pass the maps of a call to ``take`` in blocks of heads."""
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
        """Do nothing: a call with the queries and keys of the call before it has the same maps."""

    def skip(self, texts: int, queries: int, keys: int) -> None:
        """Pass zeros to ``take`` for the layers without attention that come next."""
        while self.layer < len(self.layers) and not self.layers[self.layer]:
            for head in range(max(self.layers)):
                self.take(self.layer, head, np.zeros((texts, 1, queries, keys), np.float32))
            self.layer += 1


def _stream_reported_maps(model: Any, inputs: dict[str, Tensor], lengths: Sequence[int], take: Take) -> None:
    """Pass every layer's maps to ``take`` for an architecture that reports finished maps only."""
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


MOST_TOKENS = 4096  # of a padded batch; a larger batch is not faster and takes more memory
MOST_TEXTS = 32


@dataclass(frozen=True)
class Sample:
    """A tokenised trace request; ``target`` is the decoder's input in an encoder-decoder.

    ``text`` replaces the text of the request if the source is longer than that text, as for a prompt with its
    continuation. ``seen`` is a picture that is read as the source; if a text is read with the picture, this text is the
    ``target``.
    """

    key: str
    request: TraceRequest
    source: Encoding
    target: Encoding | None
    target_text: str | None
    text: str | None = None
    seen: ProcessedPicture | None = None

    @property
    def size(self) -> int:
        """Return the number of tokens of source or target, whichever is longer."""
        return max(len(self.source.ids), len(self.target.ids) if self.target else 0)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return a key; only samples with equal keys may share a batch.

        The key is () for texts, which are padded. For a picture, it has the shape of the pixels, and True if a text is
        read with the picture.
        """
        return () if self.seen is None else (*self.seen.pixels.shape, self.target is not None)


def batches(samples: Sequence[Sample], most_tokens: int = MOST_TOKENS) -> Iterator[list[Sample]]:
    """Yield batches of samples of similar length, with at most ``most_tokens`` tokens after padding.

    A batch has at most MOST_TEXTS samples. A text of more than ``most_tokens`` tokens is a batch by itself.
    """
    batch: list[Sample] = []
    for sample in sorted(samples, key=lambda sample: (sample.shape, sample.size)):
        full = len(batch) >= MOST_TEXTS or (len(batch) + 1) * sample.size > most_tokens
        if batch and (full or batch[0].shape != sample.shape):
            yield batch
            batch = []
        batch.append(sample)
    if batch:
        yield batch


def run(loaded: LoadedModel, batch: Sequence[Sample]) -> list[Trace]:
    """Run a forward pass over a batch; return the traces in the order of the samples.

    Raise UserError if the model fails on the batch.
    """
    from inference.record import capture

    failed = gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    with as_user_error(failed):
        inputs = collate(loaded, batch)
        lengths, targets = _padded_lengths(batch)
        edits = [sample.request.edits for sample in batch]
        parts = capture.record_parts(loaded.model, inputs, lengths, targets, edits)
        _refuse_misplaced(loaded, batch, parts)
    return [
        Trace(
            id=sample.key,
            model=loaded.id,
            text=sample.request.text if sample.text is None else sample.text,
            pair=sample.request.pair,
            source=sample.source.row,
            target=sample.target.row if sample.target else None,
            parts=recorded,
            target_text=sample.target_text,
            picture=sample.request.picture,
            whole=sample.source.whole,
        )
        for sample, recorded in zip(batch, parts, strict=True)
    ]


def _refuse_misplaced(loaded: LoadedModel, batch: Sequence[Sample], parts: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValueError if the model made more or fewer tokens of a picture than its grid has."""
    for sample, recorded in zip(batch, parts, strict=True):
        if sample.seen is not None and any(one.keys != len(sample.source.ids) for one in recorded["encoder"]):
            tokens = recorded["encoder"][0].keys
            raise ValueError(f"{loaded.id.name} made {tokens} tokens of a picture of {len(sample.source.ids)}.")


def _padded_lengths(batch: Sequence[Sample]) -> tuple[list[int] | None, list[int] | None]:
    """Return the number of tokens of each source and of each target that may be padded.

    With pictures, only the texts may be padded; their lengths are the first value, and the second is None.
    """
    targets = [len(sample.target.ids) for sample in batch if sample.target is not None] or None
    if batch[0].seen is not None:
        return targets, None
    return [len(sample.source.ids) for sample in batch], targets


def collate(loaded: LoadedModel, batch: Sequence[Sample]) -> dict[str, Any]:
    """Return the model's inputs: texts (text, token), or pictures (picture, channel, row, column).

    Texts are padded on the right.
    """
    if batch[0].seen is not None:
        return _picture_inputs(loaded, batch)
    pad = _pad_token(loaded)
    ids, mask = _pad_rows([sample.source.ids for sample in batch], pad)
    inputs = {"input_ids": ids, "attention_mask": mask}
    if any(sample.request.pair is not None for sample in batch) and _takes_segments(loaded.model):
        inputs["token_type_ids"] = _pad_rows([sample.source.types for sample in batch], 0)[0]
    if all(sample.target is not None for sample in batch):
        targets = [sample.target.ids for sample in batch if sample.target is not None]
        inputs["decoder_input_ids"], inputs["decoder_attention_mask"] = _pad_rows(targets, pad)
    return inputs


def _picture_inputs(loaded: LoadedModel, batch: Sequence[Sample]) -> dict[str, Any]:
    """Return the inputs of pictures of equal size, with the texts that come with them."""
    import torch

    seen = [sample.seen for sample in batch if sample.seen is not None]
    pixels = torch.from_numpy(np.stack([one.pixels for one in seen])).to(loaded.model.dtype)
    inputs = {"pixel_values": pixels, **seen[0].options}
    texts = [sample.target.ids for sample in batch if sample.target is not None]
    if texts:
        inputs["input_ids"], inputs["attention_mask"] = _pad_rows(texts, _pad_token(loaded))
    return inputs


def _pad_rows(rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    """Return the rows as a padded int64 tensor (text, token), and its mask, 1 for tokens."""
    import torch

    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row, dtype=torch.long)
        mask[at, : len(row)] = 1
    return ids, mask


def _pad_token(loaded: LoadedModel) -> int:
    """Return the id of the padding token, or 0 if neither the model nor its tokenizer has any.

    RoBERTa-like models derive positions from this id, so the model's own id comes first.
    """
    stated = getattr(loaded.model.config, "pad_token_id", None)
    stated = loaded.reader.tokenizer.pad_token_id if stated is None else stated
    return stated if isinstance(stated, int) and stated >= 0 else 0


def _takes_segments(model: Any) -> bool:
    """Return True if the model has segment embeddings for the two texts of a pair."""
    parameters = inspect.signature(model.forward).parameters
    return "token_type_ids" in parameters and getattr(model.config, "type_vocab_size", 0) > 1
