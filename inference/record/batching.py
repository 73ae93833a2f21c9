"""Readings to tensors and recorded attention back to traces; several texts of one model in one padded forward pass."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from attention.edits import Edit
from attention.trace import Trace
from inference.errors import Refusal, refusing
from inference.load.loading import Loaded
from inference.request import TraceRequest
from inference.text.next_pieces import begun, continued
from inference.text.reading import Reading
from inference.write import writing

MOST_TOKENS = 4096  # of one padded batch: beyond it a batch gains no speed and only takes memory
MOST_TEXTS = 32
ENDLESS = 10**9  # tokens of a text that is still being written


@dataclass(frozen=True)
class Sample:
    """One request, tokenised. ``target`` is what the decoder of an encoder-decoder reads.

    ``text`` is all that is read, where that is more than the request's text: a prompt and what was written after it.
    """

    key: str
    request: TraceRequest
    source: Reading
    target: Reading | None
    target_text: str | None
    text: str | None = None

    @property
    def size(self) -> int:
        """Tokens of its longer side."""
        return max(len(self.source.ids), len(self.target.ids) if self.target else 0)


def prepare(loaded: Loaded, request: TraceRequest, key: str, forwards: AbstractContextManager[object]) -> Sample:
    """A checked request as the model reads it; ``forwards`` is held while the model writes a target text itself.

    Raises Refusal for a text that is too long, a pair or a target that the model has no use for.
    """
    source = loaded.reader.read(request.text, request.pair, loaded.limit, request.cut)
    if request.written is not None and request.target is not None:
        raise Refusal("A target text came and tokens in its place; leave one of them out.", way_out="text")
    if loaded.id.kind != "encoder-decoder":
        return _checked(loaded, _one_sided(loaded, Sample(key, request, source, None, None)))
    if request.target is not None:
        return _checked(loaded, Sample(key, request, source, *writing.given(loaded, request.target)))
    if request.written is not None:
        return _checked(loaded, Sample(key, request, source, *writing.forced(loaded, request.written)))
    refuse_edits(loaded, request.edits, len(source.ids), None)
    with forwards:
        return Sample(key, request, source, *writing.written(loaded, source, request.edits))


def _one_sided(loaded: Loaded, sample: Sample) -> Sample:
    """The sample with what was written after its text."""
    request, name = sample.request, loaded.id.name
    if request.target is not None:
        raise Refusal(f"{name} writes no second text. Leave the target text empty.", way_out="text")
    if request.written is None:
        return sample
    if loaded.id.kind == "encoder":
        raise Refusal(f"{name} reads whole texts and writes none, so nothing can be written after this one.")
    writing.refuse_tokens(loaded, request.written, before=len(sample.source.ids))
    prompt = begun(sample.source, request.text, request.cut)
    source, text = continued(loaded, sample.source, prompt, request.written)
    return replace(sample, source=source, text=text)


def _checked(loaded: Loaded, sample: Sample) -> Sample:
    """The sample itself; raises Refusal for edits that this model or this text has no place for."""
    written = sample.request.written is not None
    target = len(sample.target.ids) if sample.target else len(sample.source.ids)
    refuse_edits(loaded, sample.request.edits, len(sample.source.ids), None if written else target)
    return sample


def refuse_edits(loaded: Loaded, edits: Sequence[Edit], source: int, target: int | None) -> None:
    """Raises Refusal for edits that there is no place for; ``target`` is None while a text is being written."""
    if edits:
        from inference.record.edits import check

        target = ENDLESS if target is None else target
        looking = {"encoder": source, "decoder": target, "cross": target}
        check(loaded.model, edits, looking, {**looking, "cross": source})


def batches(samples: Sequence[Sample]) -> Iterator[list[Sample]]:
    """Samples of similar length together, each batch within the limits once padded."""
    batch: list[Sample] = []
    for sample in sorted(samples, key=lambda sample: sample.size):
        if batch and (len(batch) >= MOST_TEXTS or (len(batch) + 1) * sample.size > MOST_TOKENS):
            yield batch
            batch = []
        batch.append(sample)
    if batch:
        yield batch


def run(loaded: Loaded, batch: Sequence[Sample]) -> list[Trace]:
    """One forward pass over a batch, as traces in the same order; raises Refusal when the model fails on it."""
    from inference.record import capture

    with refusing(f"{loaded.id.name} failed while reading this text. Change the text or pick another model."):
        inputs = collate(loaded, batch)
        lengths = [len(sample.source.ids) for sample in batch]
        targets = [len(sample.target.ids) for sample in batch if sample.target is not None] or None
        edits = [sample.request.edits for sample in batch]
        parts = capture.record_parts(loaded.model, inputs, lengths, targets, edits)
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
        )
        for sample, recorded in zip(batch, parts, strict=True)
    ]


def collate(loaded: Loaded, batch: Sequence[Sample]) -> dict[str, Any]:
    """Tensors for the model, padded on the right, all (text, token)."""
    pad = _pad_token(loaded)
    ids, mask = _padded([sample.source.ids for sample in batch], pad)
    inputs = {"input_ids": ids, "attention_mask": mask}
    if any(sample.request.pair is not None for sample in batch) and _takes_segments(loaded.model):
        inputs["token_type_ids"] = _padded([sample.source.types for sample in batch], 0)[0]
    if all(sample.target is not None for sample in batch):
        targets = [sample.target.ids for sample in batch if sample.target is not None]
        inputs["decoder_input_ids"], inputs["decoder_attention_mask"] = _padded(targets, pad)
    return inputs


def _padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    """Rows as one int64 tensor (text, token), and 1 where there is a token."""
    import torch

    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row, dtype=torch.long)
        mask[at, : len(row)] = 1
    return ids, mask


def _pad_token(loaded: Loaded) -> int:
    """RoBERTa-like models count positions from the padding number, so it must be the model's own where it has one."""
    stated = getattr(loaded.model.config, "pad_token_id", None)
    stated = loaded.reader.tokenizer.pad_token_id if stated is None else stated
    return stated if isinstance(stated, int) and stated >= 0 else 0


def _takes_segments(model: Any) -> bool:
    """Whether the model has an embedding for which of two texts a token belongs to."""
    parameters = inspect.signature(model.forward).parameters
    return "token_type_ids" in parameters and getattr(model.config, "type_vocab_size", 0) > 1
