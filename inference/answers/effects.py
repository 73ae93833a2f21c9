"""One text under many sets of edits, as few passes as its length allows: each sample of a batch has its own set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from attention.edits import Edit
from inference.answers.blanks import pieces_of, prepare, shown
from inference.answers.inputs import read, tensors
from inference.answers.sentence import judgements
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.questions.effects import (
    AnyEffects,
    BlankEffects,
    Effect,
    FollowsEffects,
    NextTokenEffects,
    VectorEffects,
)
from inference.record import edits, growing
from inference.record.batching import MOST_TOKENS
from inference.record.records import numpy
from inference.text.reading import Reading

MOST_SETS = 2048  # in one question
TOP = 5


def answer(loaded: Loaded, question: AnyEffects) -> Effect:
    """The watched answer under each set; raises Refusal for edits or words that do not fit the model."""
    refuse_sets(question.edits)
    if isinstance(question, VectorEffects):
        return _vectors(loaded, question)
    if isinstance(question, FollowsEffects):
        return _follows(loaded, question)
    return _words(loaded, question)


def refuse_sets(sets: Sequence[Sequence[Edit]]) -> None:
    """Raises Refusal for no set of edits, or for more than one question takes."""
    if not 1 <= len(sets) <= MOST_SETS:
        raise Refusal(
            f"{len(sets)} sets of edits were asked for; at least one and at most {MOST_SETS} fit one question."
        )


def outputs(loaded: Loaded, reading: Reading, sets: Sequence[Sequence[Edit]]) -> Iterator[Any]:
    """The model's output for every set in turn, several sets a pass, each (set, ...)."""
    if loaded.id.kind == "encoder-decoder":
        raise Refusal(f"{loaded.id.name} reads one text and writes another; pick an encoder or a decoder here.")
    tokens = len(reading.ids)
    here = dict.fromkeys(("encoder", "decoder"), tokens)
    for mine in sets:
        edits.check(loaded.model, mine, here, here)
    step = max(1, MOST_TOKENS // tokens)
    one = tensors(loaded, reading)
    failed = f"{loaded.id.name} failed while reading this text. Change the text or pick another model."
    for start in range(0, len(sets), step):
        with refusing(failed), torch.inference_mode():
            yield one_pass(loaded.model, one, sets[start : start + step])


def one_pass(model: Any, one: dict[str, Tensor], sets: Sequence[Sequence[Edit]]) -> Any:
    """One pass over a text under several sets; its output has them in their order."""
    layers = getattr(model, growing.GROWS, None)
    if layers is None:
        many = {name: tensor.expand(len(sets), *tensor.shape[1:]) for name, tensor in one.items()}
        with edits.editing(model, sets):
            return model(**many)
    first = [min((edit.layer for edit in mine), default=0) for mine in sets]
    order = sorted(range(len(sets)), key=first.__getitem__)
    joining = [sum(first[at] == layer for at in order[1:]) for layer in range(layers)]
    with edits.editing(model, [sets[at] for at in order]), growing.growing(joining):
        output = model(**one)
    back = torch.tensor(order).argsort()
    return type(output)(**{name: value[back] for name, value in output.items() if isinstance(value, Tensor)})


def _vectors(loaded: Loaded, question: VectorEffects) -> Effect:
    reading = read(loaded, question.text, question.pair, question.cut)
    found = [output.last_hidden_state.float().mean(dim=1) for output in outputs(loaded, reading, question.edits)]
    return Effect(numpy(torch.cat(found)), row=reading.row)


def _follows(loaded: Loaded, question: FollowsEffects) -> Effect:
    reading = read(loaded, question.text, question.pair, question.cut)
    passes = outputs(loaded, reading, question.edits)
    found = [judgements(output).log_softmax(-1) for output in passes]
    return Effect(numpy(torch.cat(found)), ("follows", "does not follow"), row=reading.row)


def _words(loaded: Loaded, question: BlankEffects | NextTokenEffects) -> Effect:
    if isinstance(question, BlankEffects):
        blanked = prepare(loaded, question)
        if not 0 <= question.blank < len(blanked.positions):
            has = len(blanked.positions)
            raise Refusal(f"Blank {question.blank} was asked about; the text has {has}, counted from 0.")
        reading, at = blanked.reading, blanked.positions[question.blank]
        texts = [question.text] if question.pair is None else [question.text, question.pair]
        asked = [_one_piece(word, pieces_of(loaded, blanked.row, texts, at, word)) for word in question.words]
    else:
        reading = read(loaded, question.text, cut=question.cut)
        at = len(reading.ids) - 1
        asked = [_next_piece(loaded, reading, question.text, word) for word in question.words]
    found, top = [], []
    for output in outputs(loaded, reading, question.edits):
        logs = output.logits[:, at].float().log_softmax(-1)  # (set, piece)
        found.append(logs[:, asked])
        best = logs.topk(min(TOP, logs.shape[-1]))
        top += [
            tuple(zip(shown(loaded, tokens), (log.exp().tolist()), strict=True))
            for tokens, log in zip(best.indices.tolist(), best.values, strict=True)
        ]
    return Effect(numpy(torch.cat(found)), question.words, tuple(top), reading.row)


def _one_piece(word: str, pieces: Sequence[int]) -> int:
    if len(pieces) != 1:
        raise Refusal(
            f"“{word}” is {len(pieces)} pieces in this model's vocabulary; only words of one piece are compared here."
            " Pick another word.",
            way_out="text",
        )
    return pieces[0]


def _next_piece(loaded: Loaded, reading: Reading, text: str, word: str) -> int:
    """The first piece of a word that goes on from the text, as the tokenizer reads both together."""
    for joined in (f"{text} {word}", f"{text}{word}"):
        longer = read(loaded, joined)
        if longer.ids[: len(reading.ids)] == reading.ids and len(longer.ids) > len(reading.ids):
            return longer.ids[len(reading.ids)]
    raise Refusal(f"“{word}” does not go on from the text as this model reads it. Pick another word.", way_out="text")
