"""Scores of a masked language model: blanks, pseudo-log-likelihood, occlusion, corruption and next sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.tokens import TokenRow, sum_over_words
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.batching import MOST_TEXTS, MOST_TOKENS
from inference.runners.blanks import (
    Blanked,
    as_read,
    display_pieces,
    hide,
    mask_of,
    pieces_of,
    prepare,
    read,
    replace_token,
    tensors,
    text_positions,
)
from inference.tasks.attribution import OcclusionRequest, OcclusionResult
from inference.tasks.predictions import (
    HIDDEN,
    KEPT,
    NEXT,
    ORDER,
    REPLACED,
    Blank,
    Chosen,
    CorruptedText,
    Corruption,
    Filled,
    Guess,
    HiddenWord,
    MaskedWords,
    NextSentence,
    NextSentenceAnswer,
    SurprisalRequest,
    SurprisalScores,
    WordCandidate,
)
from inference.text.encoding import Encoding

MOST_WORDS = 12  # candidate words in a request
UNKNOWN = gettext_lazy("It is not in the vocabulary, nor are its parts.")


def answer(loaded: LoadedModel, question: MaskedWords) -> Filled:
    """Return the most probable tokens of each blank; raise UserError if the text has no blanks."""
    blanked = prepare(loaded, question)
    blanked.check_blank(question.blank)
    found = at_blanks(loaded, blanked.reading, blanked.positions)  # (blank, piece)
    blanks = [_blank(loaded, blanked, log, at, question.top) for log, at in zip(found, blanked.positions, strict=True)]
    mask, token = mask_of(loaded)
    known = dict(zip(blanked.positions, found, strict=True))
    runs = hidden_runs(blanked.row, blanked.positions, token)
    asked = next(run for run in runs if blanked.positions[question.blank] in run)
    words = list(dict.fromkeys(word.strip() for word in question.words if word.strip()))[:MOST_WORDS]
    return Filled(
        row=blanked.row,
        blanks=tuple(blanks),
        hidden=tuple(_score_hidden_word(loaded, question, blanked, run, known) for run in runs),
        candidates=tuple(_candidate(loaded, question, blanked, asked, word, known) for word in words),
        mask=mask,
        vocabulary=found.shape[1],
        text=blanked.text,
        pair=blanked.pair,
        whole=blanked.whole,
    )


def at_blanks(loaded: LoadedModel, reading: Encoding, positions: Sequence[int]) -> Tensor:
    """Return the log-probabilities at some positions of a text, shape (position, vocabulary)."""
    return logs(loaded, [reading])[0, list(positions)]


def logs(loaded: LoadedModel, readings: Sequence[Encoding]) -> Tensor:
    """Return the log-probabilities of several texts from one pass, shape (text, position, vocabulary) float32.

    Texts are padded on the right.
    """
    failed = gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    with as_user_error(failed), torch.inference_mode():
        return torch.log_softmax(loaded.model(**tensors(loaded, *readings)).logits.float(), dim=-1)


def piece_logs(
    loaded: LoadedModel, readings: Sequence[Encoding], places: Sequence[int], pieces: Sequence[int]
) -> list[float]:
    """Return, for each encoding, the log-probability of a token at a position.

    ``places`` and ``pieces`` are the position and the token of each encoding. The encodings have equal lengths, and
    several share a pass.
    """
    size = max(1, min(MOST_TEXTS, MOST_TOKENS // len(readings[0].ids))) if readings else 1
    found: list[float] = []
    for first in range(0, len(readings), size):
        mine = slice(first, first + size)
        told = logs(loaded, readings[mine])
        found += [float(log[at, one]) for log, at, one in zip(told, places[mine], pieces[mine], strict=True)]
    return found


def guess(loaded: LoadedModel, log: Tensor, token: int, begins: bool = False) -> Guess:
    """Return a token as a prediction for a blank (masked token), with its probability and rank.

    ``log`` has the log-probabilities of the vocabulary, (vocabulary,). ``begins`` is True if the blank begins the text.
    """
    [piece] = display_pieces(loaded, [token], begins)
    return Guess(token, piece, float(log[token].exp()), 1 + int((log > log[token]).sum()))


def hidden_runs(row: TokenRow, positions: Sequence[int], mask: int) -> list[range]:
    """Return the token positions of each hidden word: neighbouring blanks of one word, or a typed [MASK].

    ``positions`` are those of the blanks, and ``mask`` is the id of the mask token. A token for a preceding space
    belongs to the word; it has no span in the text, so it is never a blank.

    >>> row = TokenRow(("a", "play", "ing", "it"), (9, 7, 8, 5), (0, 1, 1, 2), (0,) * 4, ((0, 1), (2, 6), (6, 9), None))
    >>> hidden_runs(row, [1, 2, 3], 4), hidden_runs(row, [0, 2], 4)
    ([range(1, 3), range(3, 4)], [range(0, 1), range(2, 3)])
    """
    found: list[range] = []
    for at in positions:
        if found and found[-1].stop == at and row.goes_on(at) and mask not in row.ids[at - 1 : at + 1]:
            found[-1] = range(found[-1].start, at + 1)
            continue
        start = at
        while row.goes_on(start) and row.spans[start - 1] is None:
            start -= 1
        found.append(range(start, at + 1))
    return found


def _blank(loaded: LoadedModel, blanked: Blanked, log: Tensor, at: int, top: int) -> Blank:
    begins = _begins(blanked, at)
    likeliest = torch.topk(log, min(top, len(log))).indices.tolist()
    stood = blanked.row.ids[at]
    return Blank(
        position=at,
        original=None if stood == mask_of(loaded)[1] else guess(loaded, log, stood, begins),
        guesses=tuple(guess(loaded, log, token, begins) for token in likeliest),
        entropy=float(torch.special.entr(log.double().exp()).sum() / torch.log(torch.tensor(2.0))),
    )


def _score_hidden_word(
    loaded: LoadedModel, question: MaskedWords, blanked: Blanked, run: range, known: dict[int, Tensor]
) -> HiddenWord:
    """Return a hidden word, and its score at its own place."""
    blanks = tuple(number for number, at in enumerate(blanked.positions) if at in run)
    pieces = blanked.row.ids[run.start : run.stop]
    if pieces == (mask_of(loaded)[1],):
        return HiddenWord(blanks, None)
    start, end = _place(blanked.row, run)
    word = _segment_text(question, blanked.row.segments[run.start])[start:end].strip()
    if len(pieces) > 1 and loaded.reader.tokenizer.unk_token_id in pieces:
        return HiddenWord(blanks, WordCandidate(word, (), None, None, UNKNOWN))
    return HiddenWord(blanks, _score_candidate(loaded, blanked, run, word, pieces, known))


def _candidate(  # noqa: PLR0913  # all that the score depends on
    loaded: LoadedModel, question: MaskedWords, blanked: Blanked, run: range, word: str, known: dict[int, Tensor]
) -> WordCandidate:
    """Return the score of a candidate word in place of a hidden word."""
    row = _as_one(blanked, run).row
    start, end = _place(blanked.row, run)
    stood = _segment_text(question, row.segments[run.start])[start:end]
    gap = stood[: len(stood) - len(stood.lstrip())]  # some tokens for a space have a span, and are hidden with the word
    texts = [question.text] if question.pair is None else [question.text, question.pair]
    try:
        if question.cut is not None:
            raise UserError(gettext_lazy("Scoring words needs the whole text. Shorten it."))
        pieces = pieces_of(loaded, row, texts, run.start, gap + word)
        if len(row) + len(pieces) - 1 > loaded.limit:
            raise UserError(
                gettext_lazy(
                    "With its {pieces} tokens the text is too long for {name}.",
                    pieces=len(pieces),
                    name=loaded.id.name,
                )
            )
    except UserError as refusal:
        return WordCandidate(word, (), None, None, refusal.message)
    return _score_candidate(loaded, blanked, run, word, pieces, known)


def _score_candidate(  # noqa: PLR0913  # all that the score depends on
    loaded: LoadedModel, blanked: Blanked, run: range, word: str, pieces: Sequence[int], known: dict[int, Tensor]
) -> WordCandidate:
    """Return the score of a word in place of a hidden word.

    ``known`` has the distributions (token,) at the blanks of the current text.
    """
    begins = _place(blanked.row, run)[0] == 0
    names = (*display_pieces(loaded, pieces[:1], begins), *display_pieces(loaded, pieces[1:]))
    places, token = range(run.start, run.start + len(pieces)), mask_of(loaded)[1]
    filled = replace_token(_as_one(blanked, run), run.start, pieces)
    if len(pieces) == 1:
        alone = len(run) == 1  # the number of blanks stays the same
        log = known[run.start] if alone else at_blanks(loaded, hide(filled, places, token), places)[0]
        return WordCandidate(word, names, float(log[pieces[0]]), guess(loaded, log, pieces[0]).rank)
    hidden = [hide(filled, places[done:], token) for done in range(len(pieces))]
    return WordCandidate(word, names, sum(piece_logs(loaded, hidden, places, pieces)), None)


def _as_one(blanked: Blanked, run: range) -> Encoding:
    """Return the text with its blanks, and a single token in place of a whole hidden word."""
    kept = [at for at in range(len(blanked.row)) if at not in run[1:]]
    one = replace(blanked.reading, row=replace(blanked.row, ids=blanked.reading.ids)).pick(kept)
    spans = (*one.row.spans[: run.start], _place(blanked.row, run), *one.row.spans[run.start + 1 :])
    return replace(one, row=replace(one.row, spans=spans))


def _place(row: TokenRow, run: range) -> tuple[int, int]:
    """Return (start, end) of a hidden word in its text."""
    spans = [span for span in row.spans[run.start : run.stop] if span is not None]
    return spans[0][0], spans[-1][1]


def _segment_text(question: MaskedWords, segment: int) -> str:
    return question.pair or "" if segment else question.text


def _begins(blanked: Blanked, at: int) -> bool:
    span = blanked.row.spans[at]
    return span is not None and span[0] == 0


def score_tokens(loaded: LoadedModel, question: SurprisalRequest) -> SurprisalScores:
    """Return the log-probability of each requested token, with the token and the rest of its word masked.

    Raise UserError if the text has only blanks.
    """
    mask, token = mask_of(loaded)
    reading, row = as_read(loaded, question.text, question.pair, question.cut)
    every = text_positions(row, token)
    if not every and question.start < question.stop:
        raise UserError(gettext_lazy("The text has only blanks. Add some words."), way_out="text")
    places = every[question.start : question.stop]
    words = [(row.segments[at], row.words[at]) for at in range(len(row))]
    hidden = [
        hide(reading, {other for other in every if other >= at and words[other] == words[at]}, token) for at in places
    ]
    values = np.array(piece_logs(loaded, hidden, places, [row.ids[at] for at in places]), dtype=np.float32)
    values.setflags(write=False)
    return SurprisalScores(row, tuple(places), values, len(every), mask)


def occlude(loaded: LoadedModel, question: OcclusionRequest) -> OcclusionResult:
    """Return the fall of the prediction's log-probability when each word is hidden in turn.

    Raise UserError if the text has no blanks.
    """
    blanked = prepare(loaded, question)
    explained, at = explained_guess(loaded, blanked, question.blank, question.token)
    words = word_runs(loaded, blanked)
    mine = words[question.start : question.stop]
    token = mask_of(loaded)[1]
    hidden = [hide(blanked.reading, range(*run), token) for run in mine]
    size = max(1, min(MOST_TEXTS, MOST_TOKENS // len(blanked.row)))
    found: list[float] = []
    for first in range(0, len(hidden), size):
        told = logs(loaded, hidden[first : first + size])
        found += told[:, at, explained.token].tolist()
    drops = np.log(explained.probability) - np.array(found, dtype=np.float32)
    drops = drops.astype(np.float32)
    drops.setflags(write=False)
    return OcclusionResult(blanked.row, tuple(mine), drops, explained, len(words))


def explained_guess(loaded: LoadedModel, blanked: Blanked, blank: int, token: int) -> tuple[Guess, int]:
    """Return the prediction to explain for blank number ``blank``, and the position of this blank.

    The prediction is ``token``, or the most probable token if ``token`` is negative. Raise UserError if the blank or
    the token does not exist.
    """
    blanked.check_blank(blank)
    at = blanked.positions[blank]
    [log] = at_blanks(loaded, blanked.reading, [at])
    if token >= len(log):
        raise UserError(
            gettext_lazy("There is no token {token}; tokens are 0 to {last}.", token=token, last=len(log) - 1)
        )
    return guess(loaded, log, token if token >= 0 else int(log.argmax())), at


def word_runs(loaded: LoadedModel, blanked: Blanked) -> list[tuple[int, int]]:
    """Return the token run (start, stop) of each word without a blank; special tokens are left out."""
    row = blanked.reading.row
    there = set(text_positions(row, mask_of(loaded)[1]))
    words = [(row.segments[at], row.words[at]) if at in there else None for at in range(len(row))]
    found, _ = sum_over_words(np.zeros(len(row), np.float32), words)
    return [run for run in found if words[run[0]] is not None]


SHARE, HIDE, REPLACE = 0.15, 0.8, 0.1


def corrupt(loaded: LoadedModel, question: Corruption) -> CorruptedText:
    """Corrupt a text as in BERT's training; return it with the loss of each token to predict.

    The same seed gives the same text on every machine.
    """
    _, token = mask_of(loaded)
    reading, row = as_read(loaded, question.text, question.pair, question.cut)
    every = text_positions(row, token)
    if not every:
        raise UserError(gettext_lazy("The text has only blanks. Add some words."), way_out="text")
    random = np.random.default_rng(question.seed)
    places = sorted(random.permutation(every)[: max(1, round(SHARE * len(every)))].tolist())
    draws = random.random(len(places))
    ids, ways = list(reading.ids), []
    for at, draw in zip(places, draws, strict=True):
        ways.append(HIDDEN if draw < HIDE else REPLACED if draw < HIDE + REPLACE else KEPT)
        if ways[-1] == HIDDEN:
            ids[at] = token
        elif ways[-1] == REPLACED:
            ids[at] = _any_piece(loaded, random)
    logs = at_blanks(loaded, replace(reading, row=replace(reading.row, ids=tuple(ids))), places)
    seen = display_pieces(loaded, [ids[at] for at in places])
    found = [float(log[reading.ids[at]]) for log, at in zip(logs, places, strict=True)]
    chosen = [
        Chosen(at, piece, how, float(np.exp(log)), -log)
        for at, piece, how, log in zip(places, seen, ways, found, strict=True)
    ]
    return CorruptedText(row, tuple(chosen))


def _any_piece(loaded: LoadedModel, random: np.random.Generator) -> int:
    """Return a random token of the vocabulary that is not a special token."""
    special = set(loaded.reader.tokenizer.all_special_ids)
    size = min(loaded.reader.vocabulary, len(loaded.reader.tokenizer))
    return int(random.choice([token for token in range(size) if token not in special]))


def judge_next_sentence(loaded: LoadedModel, question: NextSentence) -> NextSentenceAnswer:
    """Return the probability that the second text follows the first, from the next-sentence head.

    Raise UserError if a text is empty or the model reads no pairs.
    """
    reading = read(loaded, question.text, question.pair, question.cut)
    failed = gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    with as_user_error(failed), torch.inference_mode():
        output = loaded.model(**tensors(loaded, reading))
        scores = judgements(output)[0]
        yes, no = scores.tolist()
        probability = float(torch.softmax(scores, dim=-1)[0])
    return NextSentenceAnswer(probability, (yes, no), ORDER if "sop_logits" in output else NEXT, reading.row)


def judgements(output: Any) -> Tensor:
    """Return the logits that the second text follows, and that it does not, from the next-sentence head, (text, 2).

    Model classes store these logits under different names in their output.
    """
    found: Tensor = output.sop_logits if "sop_logits" in output else output.logits
    return found.float()
