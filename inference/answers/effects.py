"""One watched answer of a model under many sets of edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attention.tokens import TokenRow
from inference.answers.blanks import pieces_of, prepare, shown
from inference.answers.decoding import refuse_odd_tokens
from inference.answers.inputs import read, tensors
from inference.answers.labels import log_probabilities, logits_there, names, refuse_absent, sort
from inference.answers.many_sets import MOST_NUMBERS, Given, one_text, outputs, refuse_sets
from inference.answers.sentence import judgements
from inference.errors import Refusal
from inference.loaded import Loaded
from inference.questions.effects import (
    AnyEffects,
    BlankEffects,
    Effect,
    LabelEffects,
    NextTokenEffects,
    VectorEffects,
    WrittenEffects,
)
from inference.record.records import numpy
from inference.text.reading import Reading
from inference.write import writing
from inference.write.decoding import Writing
from wording import sentence

TOP = 5
Top = tuple[tuple[str, float], ...]  # names with their probabilities


@dataclass(frozen=True, eq=False)
class Watched:
    """A watched answer: what is read, and what of the model's output is looked at."""

    given: Given
    row: TokenRow
    found: Callable[[Any], Tensor]  # of an output, (set, number)
    names: tuple[str, ...] = ()
    told: Callable[[Tensor], Tensor] = lambda found: found  # of these numbers, those of the answer
    likeliest: Callable[[Tensor], Top] | None = None  # of one set's numbers, the few that are named with them
    at: int | None = None  # the token at which the head is read; None for an answer about the whole text


def answer(loaded: Loaded, question: AnyEffects) -> Effect:
    """The watched answer under each set; raises Refusal for edits or words that do not fit the model."""
    refuse_sets(question.edits)
    watched = _watched(loaded, question)
    other = None if question.other is None else _watched(loaded, question.other).given
    values: list[Tensor] = []
    top: list[Top] = []
    for output in outputs(loaded, watched.given, question.edits, other, watched.at):
        found = watched.found(output)
        if watched.likeliest is not None:
            top += map(watched.likeliest, found)
        values.append(watched.told(found))
    return Effect(numpy(torch.cat(values)), watched.names, tuple(top), watched.row)


def _likeliest(loaded: Loaded) -> Callable[[Tensor], Top]:
    def told(logs: Tensor) -> Top:
        best = logs.topk(min(TOP, len(logs)))
        return tuple(zip(shown(loaded, best.indices.tolist()), best.values.exp().tolist(), strict=True))

    return told


def _watched(loaded: Loaded, question: AnyEffects) -> Watched:
    if isinstance(question, WrittenEffects):
        return _written(loaded, question)
    if isinstance(question, BlankEffects):
        return _blank(loaded, question)
    if isinstance(question, LabelEffects):
        return _label(loaded, question)
    if isinstance(question, NextTokenEffects):
        reading = read(loaded, question.text, cut=question.cut)
        asked = tuple(_next_piece(loaded, reading, question.text, word) for word in question.words)
        return _at(loaded, one_text(loaded, reading), reading.row, len(reading.ids) - 1, question.words, asked)
    reading = read(loaded, question.text, question.pair, question.cut)
    given = one_text(loaded, reading)
    if isinstance(question, VectorEffects):
        return Watched(given, reading.row, lambda output: output.last_hidden_state.float().mean(dim=1))
    names = (sentence("follows"), sentence("does not follow"))
    return Watched(given, reading.row, lambda output: judgements(output).log_softmax(-1), names)


def _blank(loaded: Loaded, question: BlankEffects) -> Watched:
    blanked = prepare(loaded, question)
    if not 0 <= question.blank < len(blanked.positions):
        has = len(blanked.positions)
        raise Refusal(
            sentence(
                "Blank {blank} was asked about; the text has {blanks}, counted from 0.",
                blank=question.blank,
                blanks=has,
            )
        )
    at = blanked.positions[question.blank]
    texts = [question.text] if question.pair is None else [question.text, question.pair]
    asked = tuple(_one_piece(word, pieces_of(loaded, blanked.row, texts, at, word)) for word in question.words)
    return _at(loaded, one_text(loaded, blanked.reading), blanked.reading.row, at, question.words, asked)


def _written(loaded: Loaded, question: WrittenEffects) -> Watched:
    source = read(loaded, question.text, cut=question.cut)
    refuse_odd_tokens(loaded, Writing(source.ids, loaded.limit), (*question.written, *question.words))
    target, _ = writing.target_of(loaded, question.written)
    ids = torch.tensor([target.ids])
    inputs = {**tensors(loaded, source), "decoder_input_ids": ids, "decoder_attention_mask": torch.ones_like(ids)}
    looking = {"encoder": len(source.ids), "decoder": len(target.ids), "cross": len(target.ids)}
    given = Given(inputs, looking, {**looking, "cross": len(source.ids)})
    names = tuple(shown(loaded, question.words))
    return _at(loaded, given, target.row, len(target.ids) - 1, names, question.words)


def _label(loaded: Loaded, question: LabelEffects) -> Watched:
    reading = read(loaded, question.text, question.pair, question.cut)
    refuse_absent(question, reading)
    called, how = names(loaded.model.config), sort(loaded.model)
    if len(called) * len(question.edits) > MOST_NUMBERS:
        raise Refusal(
            sentence(
                "{name} has {labels:,} labels; ask about fewer sets of edits at once.",
                name=loaded.id.name,
                labels=len(called),
            )
        )

    def likeliest(logits: Tensor) -> Top:
        logs = log_probabilities(logits, how)
        if logs is None:
            return ()
        best = logs.topk(min(TOP, len(logs)))
        return tuple((called[at], float(log.exp())) for log, at in zip(*best, strict=True))

    found = partial(logits_there, at=question.at)
    return Watched(one_text(loaded, reading), reading.row, found, called, likeliest=likeliest)


def _at(  # noqa: PLR0913  # what is read, where, and what of it is asked about
    loaded: Loaded, given: Given, row: TokenRow, at: int, names: tuple[str, ...], pieces: tuple[int, ...]
) -> Watched:
    """What the model says at one token, as logarithms of probabilities."""

    def found(output: Any) -> Tensor:
        logits: Tensor = output.logits
        return (logits[:, 0] if logits.shape[1] == 1 else logits[:, at]).float().log_softmax(-1)

    return Watched(given, row, found, names, lambda found: found[:, pieces], _likeliest(loaded), at)


def _one_piece(word: str, pieces: Sequence[int]) -> int:
    if len(pieces) != 1:
        raise Refusal(
            sentence(
                "“{word}” is {pieces} pieces in this model's vocabulary; only words of one piece are compared here."
                " Pick another word.",
                word=word,
                pieces=len(pieces),
            ),
            way_out="text",
        )
    return pieces[0]


def _next_piece(loaded: Loaded, reading: Reading, text: str, word: str) -> int:
    """The first piece of a word that goes on from the text, as the tokenizer reads both together."""
    for joined in (f"{text} {word}", f"{text}{word}"):
        longer = read(loaded, joined)
        if longer.ids[: len(reading.ids)] == reading.ids and len(longer.ids) > len(reading.ids):
            return longer.ids[len(reading.ids)]
    raise Refusal(
        sentence("“{word}” does not go on from the text as this model reads it. Pick another word.", word=word),
        way_out="text",
    )
