"""Fills blanks: the head's distribution at each, and the words that the reader asks about."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from inference.answers.inputs import tensors
from inference.blanks import Blanked, hide, mask_of, pieces_of, prepare, put, shown
from inference.errors import Refusal, refusing
from inference.loading import Loaded
from inference.questions.masked import Blank, Candidate, Filled, Guess, MaskedWords
from inference.reading import Reading

MOST_WORDS = 12  # that are asked about at once


def answer(loaded: Loaded, question: MaskedWords) -> Filled:
    """The likeliest pieces of each blank; raises Refusal for a text that has none."""
    blanked = prepare(loaded, question)
    if not 0 <= question.blank < len(blanked.positions):
        raise Refusal(f"Blank {question.blank} was asked about; the text has {len(blanked.positions)}, counted from 0.")
    found = at_blanks(loaded, blanked.reading, blanked.positions)  # (blank, piece)
    blanks = [_blank(loaded, blanked, log, at, question.top) for log, at in zip(found, blanked.positions, strict=True)]
    words = list(dict.fromkeys(word.strip() for word in question.words if word.strip()))[:MOST_WORDS]
    return Filled(
        row=blanked.row,
        blanks=tuple(blanks),
        candidates=tuple(_candidate(loaded, question, blanked, word, found[question.blank]) for word in words),
        mask=mask_of(loaded)[0],
        vocabulary=found.shape[1],
        text=blanked.text,
        pair=blanked.pair,
        whole=blanked.whole,
    )


def at_blanks(loaded: Loaded, reading: Reading, positions: Sequence[int]) -> Tensor:
    """Natural logarithms of the probabilities at some positions of one text, (position, piece)."""
    return logs(loaded, [reading])[0, list(positions)]


def logs(loaded: Loaded, readings: Sequence[Reading]) -> Tensor:
    """The same for every position of several texts in one pass, (text, token, piece) float32, padded on the right."""
    sentence = f"{loaded.id.name} failed while reading this text. Change the text or pick another model."
    with refusing(sentence), torch.inference_mode():
        return torch.log_softmax(loaded.model(**tensors(loaded, *readings)).logits.float(), dim=-1)


def guess(loaded: Loaded, log: Tensor, token: int, begins: bool = False) -> Guess:
    """One piece of a distribution (piece,) of logarithms."""
    [piece] = shown(loaded, [token], begins)
    return Guess(token, piece, float(log[token].exp()), 1 + int((log > log[token]).sum()))


def _blank(loaded: Loaded, blanked: Blanked, log: Tensor, at: int, top: int) -> Blank:
    begins = _begins(blanked, at)
    likeliest = torch.topk(log, min(top, len(log))).indices.tolist()
    stood = blanked.row.ids[at]
    return Blank(
        position=at,
        original=None if stood == mask_of(loaded)[1] else guess(loaded, log, stood, begins),
        guesses=tuple(guess(loaded, log, token, begins) for token in likeliest),
        entropy=float(torch.special.entr(log.double().exp()).sum() / torch.log(torch.tensor(2.0))),
    )


def _candidate(loaded: Loaded, question: MaskedWords, blanked: Blanked, word: str, log: Tensor) -> Candidate:
    at = blanked.positions[question.blank]
    texts = [question.text] if question.pair is None else [question.text, question.pair]
    try:
        if question.cut is not None:
            raise Refusal("Only the beginning of the text is read; words can be asked about when all of it is.")
        pieces = pieces_of(loaded, blanked.row, texts, at, word)
        if len(blanked.reading.ids) + len(pieces) - 1 > loaded.limit:
            raise Refusal(f"It has {len(pieces)} pieces, and the text is then too long for {loaded.id.name}.")
    except Refusal as refusal:
        return Candidate(word, (), None, None, refusal.message)
    names = tuple(shown(loaded, pieces, _begins(blanked, at)))
    if len(pieces) == 1:
        return Candidate(word, names, float(log[pieces[0]]), guess(loaded, log, pieces[0]).rank)
    places, token = range(at, at + len(pieces)), mask_of(loaded)[1]
    filled = put(blanked.reading, at, pieces)
    told = logs(loaded, [hide(filled, places[done:], token) for done in range(len(pieces))])
    total = sum(float(told[done, places[done], piece]) for done, piece in enumerate(pieces))
    return Candidate(word, names, total, None)


def _begins(blanked: Blanked, at: int) -> bool:
    span = blanked.row.spans[at]
    return span is not None and span[0] == 0
