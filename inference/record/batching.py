"""Readings to tensors and recorded attention back to traces; several texts of one model in one padded forward pass."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.trace import Trace
from i18n import gettext_lazy
from inference.errors import as_user_error
from inference.loaded_model import LoadedModel
from inference.pictures.image_processing import ProcessedPicture
from inference.request import TraceRequest
from inference.text.encoding import Encoding

MOST_TOKENS = 4096  # of one padded batch: beyond it a batch gains no speed and only takes memory
MOST_TEXTS = 32


@dataclass(frozen=True)
class Sample:
    """One request, tokenised. ``target`` is what the decoder of an encoder-decoder reads.

    ``text`` is all that is read, where that is more than the request's text: a prompt and what was written after it.
    ``seen`` is the picture that is the source; a text beside it stands in ``target``.
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
        """Tokens of its longer side."""
        return max(len(self.source.ids), len(self.target.ids) if self.target else 0)

    @property
    def shape(self) -> tuple[int, ...]:
        """Samples of one shape can be read together: the size of a picture, and whether a text is beside it."""
        return () if self.seen is None else (*self.seen.pixels.shape, self.target is not None)


def batches(samples: Sequence[Sample], most_tokens: int = MOST_TOKENS) -> Iterator[list[Sample]]:
    """Yield samples of similar length together, each batch within the limits if padded; a longer text is alone."""
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
    """One forward pass over a batch, as traces in the same order; raises Refusal when the model fails on it."""
    from inference.record import capture

    failed = (
        gettext_lazy(
            "{name} failed while reading this text. Change the text or pick another model.", name=loaded.id.name
        )
        if batch[0].seen is None
        else gettext_lazy(
            "{name} failed while reading this picture. Give it another size, or pick another model.",
            name=loaded.id.name,
        )
    )
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
    """Raises ValueError where a model made another number of tokens of a picture than its grid has."""
    for sample, recorded in zip(batch, parts, strict=True):
        if sample.seen is not None and any(one.keys != len(sample.source.ids) for one in recorded["encoder"]):
            tokens = recorded["encoder"][0].keys
            raise ValueError(f"{loaded.id.name} made {tokens} tokens of a picture of {len(sample.source.ids)}.")


def _padded_lengths(batch: Sequence[Sample]) -> tuple[list[int] | None, list[int] | None]:
    """Tokens of each source and of each target that may be padded; a text beside a picture is all that may be."""
    targets = [len(sample.target.ids) for sample in batch if sample.target is not None] or None
    if batch[0].seen is not None:
        return targets, None
    return [len(sample.source.ids) for sample in batch], targets


def collate(loaded: LoadedModel, batch: Sequence[Sample]) -> dict[str, Any]:
    """Tensors for the model, padded on the right, all (text, token); pictures (picture, channel, row, column)."""
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
    """Pictures of one size, and the texts beside them."""
    import torch

    seen = [sample.seen for sample in batch if sample.seen is not None]
    pixels = torch.from_numpy(np.stack([one.pixels for one in seen])).to(loaded.model.dtype)
    inputs = {"pixel_values": pixels, **seen[0].options}
    texts = [sample.target.ids for sample in batch if sample.target is not None]
    if texts:
        inputs["input_ids"], inputs["attention_mask"] = _pad_rows(texts, _pad_token(loaded))
    return inputs


def _pad_rows(rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    """Rows as one int64 tensor (text, token), and 1 where there is a token."""
    import torch

    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row, dtype=torch.long)
        mask[at, : len(row)] = 1
    return ids, mask


def _pad_token(loaded: LoadedModel) -> int:
    """RoBERTa-like models count positions from the padding number, so it must be the model's own where it has one."""
    stated = getattr(loaded.model.config, "pad_token_id", None)
    stated = loaded.reader.tokenizer.pad_token_id if stated is None else stated
    return stated if isinstance(stated, int) and stated >= 0 else 0


def _takes_segments(model: Any) -> bool:
    """Whether the model has an embedding for which of two texts a token belongs to."""
    parameters = inspect.signature(model.forward).parameters
    return "token_type_ids" in parameters and getattr(model.config, "type_vocab_size", 0) > 1
