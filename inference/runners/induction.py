"""Induction heads on repeated random tokens, with a control pass over texts without repeats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attention import roles
from attention.mask import FloatArray
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.batching import MOST_TOKENS, stream
from inference.record.edit_hooks import HEADS
from inference.record.patching import replacing_output
from inference.tasks.heads import InductionHeads, InductionScores

Ids = npt.NDArray[np.int64]
Score = Callable[[FloatArray], FloatArray]  # (text, head, query, key) -> (text, head)


def answer(loaded: LoadedModel, question: InductionHeads) -> InductionScores:
    """Return the scores of every head; raise UserError if texts are too long or the vocabulary too small."""
    front = _prefix_tokens(loaded)
    _check(loaded, question, len(front))
    repeated, other = texts(ordinary_tokens(loaded), question, front)
    start, length = len(front), question.length
    losses: list[FloatArray] = []

    def surprise(_model: Any, output: Any) -> None:
        losses.append(_losses(output.logits, repeated, start, length))

    with replacing_output(loaded.model, surprise):
        found = _head_scores(
            loaded,
            repeated,
            [lambda maps: roles.prefix_matching_score(maps, start, length), roles.previous, roles.first],
        )
    [control] = _head_scores(loaded, other, [lambda maps: roles.prefix_matching_score(maps, start, length)])
    for array in (*found, control, *losses):
        array.setflags(write=False)
    matching, previous, first = found
    return InductionScores(
        matching=matching,
        control=control,
        previous=previous,
        first=first,
        even=roles.uniform_matching_score(repeated.shape[1], start, length),
        losses=losses[0],
        row=loaded.reader.from_ids(repeated[0].tolist(), [at < start for at in range(repeated.shape[1])])[0].row,
        start=start,
    )


def ordinary_tokens(loaded: LoadedModel) -> Ids:
    """Return the ids of text tokens, ascending, without added tokens and tokens that the model lacks."""
    tokenizer = loaded.reader.tokenizer
    added = {*tokenizer.all_special_ids, *getattr(tokenizer, "added_tokens_decoder", {})}
    known = {token for token in tokenizer.get_vocab().values() if token < loaded.reader.vocabulary}
    return np.array(sorted(known - added), dtype=np.int64)


def texts(tokens: Ids, question: InductionHeads, front: Sequence[int]) -> tuple[Ids, Ids]:
    """Return texts of repeated tokens, and as many of the same length without repeats, each (text, token)."""
    noise = np.random.default_rng(question.seed)
    size = question.length * question.repeats
    drawn = np.stack([noise.choice(tokens, size, replace=False) for _ in range(question.count)])
    others = np.stack([noise.choice(tokens, size, replace=False) for _ in range(question.count)])
    copies = np.tile(drawn[:, : question.length], (1, question.repeats))
    before = np.tile(np.array(front, dtype=np.int64), (question.count, 1))
    return np.concatenate([before, copies], axis=1), np.concatenate([before, others], axis=1)


def _prefix_tokens(loaded: LoadedModel) -> tuple[int, ...]:
    """Return the tokens that the tokenizer puts before a text: a start token, or none."""
    reading = loaded.reader.read("a", None, None)
    pairs = zip(reading.ids, reading.row.words, strict=True)
    return tuple(token for token, _ in takewhile(lambda pair: pair[1] is None, pairs))


def _check(loaded: LoadedModel, question: InductionHeads, start: int) -> None:
    """Raise UserError if the model cannot run a request of this size."""
    if question.length < 2 or question.repeats < 2 or question.count < 1:
        raise UserError(gettext_lazy("Give sequences of two tokens or more, two copies or more, and one text or more."))
    size = question.length * question.repeats
    limit = min(loaded.limit, MOST_TOKENS // question.count)
    if start + size > limit:
        raise UserError(
            gettext_lazy(
                "{repeats} copies of {length} tokens are {tokens:,} with what stands in front;"
                " {name} reads at most {limit:,} here. Ask for at most"
                " {longest:,} tokens in a copy.",
                repeats=question.repeats,
                length=question.length,
                tokens=start + size,
                name=loaded.id.name,
                limit=limit,
                longest=max(0, (limit - start) // question.repeats),
            )
        )
    known = len(ordinary_tokens(loaded))
    if size > known:
        raise UserError(
            gettext_lazy(
                "A text of {size:,} different tokens was asked for; {name} knows {known:,}. Ask for less.",
                size=size,
                name=loaded.id.name,
                known=known,
            )
        )


def _head_scores(loaded: LoadedModel, ids: Ids, scores: Sequence[Score]) -> list[FloatArray]:
    """Return each score's mean over the texts, (layer, head) float32, from a single pass.

    Layers without attention are NaN.
    """
    layers: list[list[list[FloatArray]]] = []  # indexed by layer, block of heads and score

    def take(layer: int, _head: int, maps: FloatArray) -> None:
        if layer == len(layers):
            layers.append([])
        layers[layer].append([score(maps).mean(axis=0) for score in scores])

    given: dict[str, Tensor] = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.ones(ids.shape).long()}
    stream(loaded, given, [ids.shape[1]] * len(ids), take)
    with as_user_error(
        gettext_lazy("{name} has layers of different numbers of heads, which fit in no table.", name=loaded.id.name)
    ):
        found = [
            np.stack([np.concatenate([block[at] for block in blocks]) for blocks in layers]).astype(np.float32)
            for at in range(len(scores))
        ]
    heads = [many for part in getattr(loaded.model, HEADS, {}).values() for many in part]
    for score in found:
        score[[layer for layer, many in enumerate(heads) if not many]] = np.nan
    return found


def _losses(logits: Tensor, ids: Ids, start: int, length: int) -> FloatArray:
    """Return the mean loss of each copy, (copy,) float32, without its first token, which is unpredictable."""
    logs = logits[:, :-1].float().log_softmax(-1)
    right = torch.from_numpy(ids)[:, 1:, None]
    by_token = -logs.gather(-1, right)[..., 0].mean(0).numpy()  # begins with the second token of the text
    seconds = range(start, ids.shape[1], length)  # index of each copy's second token
    return np.array([by_token[at : at + length - 1].mean() for at in seconds], dtype=np.float32)
