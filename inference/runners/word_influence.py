"""Attribution of a word's last vector to each word of the text, by several methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.agreement import shares, with_residual
from attention.edits import Edit, MaskKey
from attention.record import attending_records
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record import capture
from inference.record.edit_hooks import HEADS, attention_layers
from inference.record.records import numpy
from inference.runners import influence
from inference.runners.blanks import read, tensors
from inference.runners.edit_batches import one_text, outputs
from inference.runners.influence import from_vectors, path_from_zero, word_vectors
from inference.tasks.attribution import (
    MOST_TOKENS,
    AnyFocus,
    FlowToWord,
    Run,
    WithoutWords,
    WordGradients,
    WordPath,
    WordScores,
    ZeroedValues,
)
from inference.text.encoding import Encoding

BATCH = 4096  # tokens of a pass with gradients, summed over its samples
SEED = 0


def answer(loaded: LoadedModel, question: AnyFocus) -> WordScores:
    """Return the attribution of each token or word; raise UserError if the text or the model does not fit."""
    reading = _read(loaded, question)
    if isinstance(question, WithoutWords):
        return WordScores(_ablation_effects(loaded, reading, question.focus, question.words))
    failed = gettext_lazy(
        "{name} failed while it was asked about this text. Change the text or pick another model.", name=loaded.id.name
    )
    with as_user_error(failed, way_out=None):
        one = tensors(loaded, reading)
        if isinstance(question, FlowToWord):
            return WordScores(_flow(loaded, one, question.focus))
        if isinstance(question, ZeroedValues):
            return WordScores(numpy(influence.distances(loaded.model, one, question.layer)))
        if isinstance(question, WordGradients):
            return WordScores(gradients(loaded.model, one, question.focus, question.directions))
        return _path(loaded.model, one, question)


def _read(loaded: LoadedModel, question: AnyFocus) -> Encoding:
    if loaded.id.kind == "encoder-decoder":
        raise UserError(
            gettext_lazy(
                "{name} reads one text and writes another; pick an encoder or a decoder here.", name=loaded.id.name
            )
        )
    reading = read(loaded, question.text, question.pair, question.cut)
    refuse_long(reading)
    tokens, (start, stop) = len(reading.ids), question.focus
    if not 0 <= start < stop <= tokens:
        raise UserError(
            gettext_lazy(
                "Tokens {start} to {stop} were asked about; the text has {tokens}.",
                start=start,
                stop=stop,
                tokens=tokens,
            ),
            way_out="text",
        )
    return reading


def refuse_long(reading: Encoding) -> None:
    """Raise UserError if a text has more tokens than these requests allow."""
    tokens = len(reading.ids)
    if tokens > MOST_TOKENS:
        raise UserError(
            gettext_lazy(
                "The text has {tokens} tokens; these questions are asked about at most {most}. Shorten it.",
                tokens=tokens,
                most=MOST_TOKENS,
            ),
            way_out="cut",
            details={"limit": MOST_TOKENS, "tokens": tokens},
        )


def _ablation_effects(loaded: LoadedModel, reading: Encoding, focus: Run, words: Sequence[Run]) -> Any:
    """Return 1 - cosine of the focus's vector with and without each word, (word,)."""
    model = loaded.model
    layers = attention_layers(model, next(iter(getattr(model, HEADS, None) or [""])))
    sets: list[Sequence[Edit]] = [()]
    sets += [[MaskKey(layer, key) for layer in layers for key in range(*word)] for word in words]
    passes = outputs(loaded, one_text(loaded, reading), sets)
    found = torch.cat([_vector(output, focus) for output in passes])  # (set, channel)
    return numpy(1 - torch.cosine_similarity(found[1:], found[:1], dim=-1))


def _flow(loaded: LoadedModel, one: dict[str, Tensor], focus: Run) -> Any:
    tokens = one["input_ids"].shape[1]
    if tokens > influence.MOST_TOKENS:
        raise UserError(
            gettext_lazy(
                "Attention flow is computed for at most {most} tokens; this text has {tokens}.",
                most=influence.MOST_TOKENS,
                tokens=tokens,
            ),
            way_out="text",
        )
    [parts] = capture.record_parts(loaded.model, one)
    records = attending_records(next(iter(parts.values())))
    maps = np.stack([sum(record.weights(head) for head in range(record.heads)) for record in records])
    mixed = with_residual(shares(maps))
    found = np.mean([influence.flow(mixed, query) for query in range(*focus)], axis=0).astype(np.float32)
    found.setflags(write=False)
    return found


def gradients(model: Any, one: dict[str, Tensor], focus: Run, directions: int) -> Any:
    """Return estimated Frobenius norms of the Jacobian, (token,).

    The estimate is the root of the mean square over directions, times the number of channels.
    """
    embeddings = word_vectors(model, one)
    tokens = embeddings.shape[1]
    with torch.inference_mode():
        width = _vector(model(**one), focus).shape[-1]
    basis = _directions(width, min(directions, width))
    total = torch.zeros(tokens)
    for some in basis.split(max(1, BATCH // tokens)):
        vectors = embeddings.expand(len(some), -1, -1).clone().requires_grad_()
        found = _vector(from_vectors(model, one, vectors), focus)
        [gradient] = torch.autograd.grad((found * some).sum(), vectors)
        total += gradient.float().square().sum(dim=(0, 2))
    return numpy((total * width / len(basis)).sqrt())


def _directions(width: int, many: int) -> Tensor:
    """Return orthonormal directions, (direction, channel), the same in every run."""
    generator = torch.Generator().manual_seed(SEED)
    basis, _ = torch.linalg.qr(torch.randn(width, many, generator=generator))
    rows: Tensor = basis.T.contiguous()
    return rows


def _path(model: Any, one: dict[str, Tensor], question: WordPath) -> WordScores:
    embeddings = word_vectors(model, one)
    with torch.no_grad():
        goal = _vector(model(**one), question.focus)

    def alike(vectors: Tensor) -> Tensor:
        found = _vector(from_vectors(model, one, vectors), question.focus)
        return torch.cosine_similarity(found, goal, dim=-1)

    return path_from_zero(alike, embeddings, question.steps, BATCH)


def _vector(output: Any, focus: Run) -> Tensor:
    """Return the focus's mean vector in the last layer, (sample, channel)."""
    vectors: Tensor = output.last_hidden_state[:, slice(*focus)].float().mean(dim=1)
    return vectors
