"""The answer of a model (a prediction or a vector) under many edit sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attention.tokens import TokenRow
from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.record.records import numpy
from inference.runners.answers import read_span, span_logits
from inference.runners.blanks import display_pieces, pieces_of, prepare, read, tensors
from inference.runners.decoding import refuse_odd_tokens
from inference.runners.edit_batches import MOST_NUMBERS, ModelInput, one_text, outputs, refuse_sets
from inference.runners.labels import log_probabilities, logits_there, names, refuse_absent, sort
from inference.runners.masked_words import judgements
from inference.tasks.edit_effects import (
    AnyEffects,
    BlankEffects,
    Effect,
    LabelEffects,
    NextTokenEffects,
    SpanEffects,
    VectorEffects,
    WrittenEffects,
)
from inference.text.encoding import Encoding
from inference.write import target_text
from inference.write.decoding import Writing

TOP = 5
Top = tuple[tuple[str, float], ...]  # names with probabilities


@dataclass(frozen=True, eq=False)
class WatchedAnswer:
    """The input of a model, and the functions that read an answer from the model's output.

    The answer is compared under edit sets. It is a prediction or a vector, such as the logits of two words.
    """

    given: ModelInput
    row: TokenRow
    extract: Callable[[Any], Tensor]  # from an output to its numbers, (set, number)
    names: tuple[str, ...] = ()
    reduce: Callable[[Tensor], Tensor] = lambda found: found  # from these numbers to those of the answer
    likeliest: Callable[[Tensor], Top] | None = None  # from the numbers of a set to its most probable names
    at: int | None = None  # the token at which the head is evaluated; None for an answer about the whole text


def answer(loaded: LoadedModel, question: AnyEffects) -> Effect:
    """Return the model's answer (a prediction or a vector) under each edit set.

    Raise UserError if edits or words do not fit the model.
    """
    refuse_sets(question.edits)
    watched = _watched_answer(loaded, question)
    other = None if question.other is None else _watched_answer(loaded, question.other).given
    values: list[Tensor] = []
    top: list[Top] = []
    for output in outputs(loaded, watched.given, question.edits, other, watched.at):
        found = watched.extract(output)
        if watched.likeliest is not None:
            top += map(watched.likeliest, found)
        values.append(watched.reduce(found))
    return Effect(numpy(torch.cat(values)), watched.names, tuple(top), watched.row)


def _make_top_pieces(loaded: LoadedModel) -> Callable[[Tensor], Top]:
    def top_pieces(logs: Tensor) -> Top:
        best = logs.topk(min(TOP, len(logs)))
        return tuple(zip(display_pieces(loaded, best.indices.tolist()), best.values.exp().tolist(), strict=True))

    return top_pieces


def _watched_answer(loaded: LoadedModel, question: AnyEffects) -> WatchedAnswer:
    if isinstance(question, WrittenEffects):
        return _watched_translation(loaded, question)
    if isinstance(question, BlankEffects):
        return _blank(loaded, question)
    if isinstance(question, LabelEffects):
        return _label(loaded, question)
    if isinstance(question, SpanEffects):
        reading = read_span(loaded, question)
        ends = (gettext_lazy("start"), gettext_lazy("end"))
        both = partial(span_logits, first=question.first, last=question.last)
        return WatchedAnswer(one_text(loaded, reading), reading.row, both, ends)
    if isinstance(question, NextTokenEffects):
        reading = read(loaded, question.text, cut=question.cut)
        asked = tuple(_next_piece(loaded, reading, question.text, word) for word in question.words)
        return _watched_token(
            loaded, one_text(loaded, reading), reading.row, len(reading.ids) - 1, question.words, asked
        )
    reading = read(loaded, question.text, question.pair, question.cut)
    given = one_text(loaded, reading)
    if isinstance(question, VectorEffects):
        return WatchedAnswer(given, reading.row, lambda output: output.last_hidden_state.float().mean(dim=1))
    names = (gettext_lazy("follows"), gettext_lazy("does not follow"))
    return WatchedAnswer(given, reading.row, lambda output: judgements(output).log_softmax(-1), names)


def _blank(loaded: LoadedModel, question: BlankEffects) -> WatchedAnswer:
    blanked = prepare(loaded, question)
    blanked.check_blank(question.blank)
    at = blanked.positions[question.blank]
    texts = [question.text] if question.pair is None else [question.text, question.pair]
    asked = tuple(_one_piece(word, pieces_of(loaded, blanked.row, texts, at, word)) for word in question.words)
    return _watched_token(loaded, one_text(loaded, blanked.reading), blanked.reading.row, at, question.words, asked)


def _watched_translation(loaded: LoadedModel, question: WrittenEffects) -> WatchedAnswer:
    source = read(loaded, question.text, cut=question.cut)
    refuse_odd_tokens(loaded, Writing(source.ids, loaded.limit), (*question.written, *question.words))
    target, _ = target_text.target_of(loaded, question.written)
    ids = torch.tensor([target.ids])
    inputs = {**tensors(loaded, source), "decoder_input_ids": ids, "decoder_attention_mask": torch.ones_like(ids)}
    looking = {"encoder": len(source.ids), "decoder": len(target.ids), "cross": len(target.ids)}
    given = ModelInput(inputs, looking, {**looking, "cross": len(source.ids)})
    names = tuple(display_pieces(loaded, question.words))
    return _watched_token(loaded, given, target.row, len(target.ids) - 1, names, question.words)


def _label(loaded: LoadedModel, question: LabelEffects) -> WatchedAnswer:
    reading = read(loaded, question.text, question.pair, question.cut)
    refuse_absent(question, reading)
    called, how = names(loaded.model.config), sort(loaded.model)
    if len(called) * len(question.edits) > MOST_NUMBERS:
        raise UserError(f"{loaded.id.name} has {len(called):,} labels; ask about fewer sets of edits at once.")

    def likeliest(logits: Tensor) -> Top:
        logs = log_probabilities(logits, how)
        if logs is None:
            return ()
        best = logs.topk(min(TOP, len(logs)))
        return tuple((called[at], float(log.exp())) for log, at in zip(*best, strict=True))

    found = partial(logits_there, at=question.at)
    return WatchedAnswer(one_text(loaded, reading), reading.row, found, called, likeliest=likeliest)


def _watched_token(  # noqa: PLR0913  # the input, the token and the words of the answer
    loaded: LoadedModel, given: ModelInput, row: TokenRow, at: int, names: tuple[str, ...], pieces: tuple[int, ...]
) -> WatchedAnswer:
    """Return the watched answer at a single token: the log-probabilities of ``pieces``."""

    def log_probabilities_at(output: Any) -> Tensor:
        logits: Tensor = output.logits
        return (logits[:, 0] if logits.shape[1] == 1 else logits[:, at]).float().log_softmax(-1)

    return WatchedAnswer(
        given,
        row,
        log_probabilities_at,
        names,
        lambda log_probabilities_at: log_probabilities_at[:, pieces],
        _make_top_pieces(loaded),
        at,
    )


def _one_piece(word: str, pieces: Sequence[int]) -> int:
    if len(pieces) != 1:
        raise UserError(
            gettext_lazy(
                "“{word}” has {pieces} tokens in this vocabulary; expected one. Pick another word.",
                word=word,
                pieces=len(pieces),
            ),
            way_out="text",
        )
    return pieces[0]


def _next_piece(loaded: LoadedModel, reading: Encoding, text: str, word: str) -> int:
    """Return the first token of a word that continues the text, if both are tokenised together.

    Raise UserError if the text's own tokens change.
    """
    for joined in (f"{text} {word}", f"{text}{word}"):
        longer = read(loaded, joined)
        if longer.ids[: len(reading.ids)] == reading.ids and len(longer.ids) > len(reading.ids):
            return longer.ids[len(reading.ids)]
    raise UserError(
        gettext_lazy("The model cannot read “{word}” as the next token. Pick another word.", word=word),
        way_out="text",
    )
