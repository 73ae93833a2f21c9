"""Corruption of a text as in BERT's training, and the model's losses at the chosen tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.runners.blanks import as_read, display_pieces, mask_of, text_positions
from inference.runners.masked_words import at_blanks
from inference.tasks.predictions import HIDDEN, KEPT, REPLACED, Chosen, CorruptedText, Corruption

SHARE, HIDE, REPLACE = 0.15, 0.8, 0.1


def answer(loaded: LoadedModel, question: Corruption) -> CorruptedText:
    """Return the sample and its losses; the same seed gives the same sample on every machine."""
    _, token = mask_of(loaded)
    reading, row = as_read(loaded, question.text, question.pair, question.cut)
    every = text_positions(row, token)
    if not every:
        raise UserError(gettext_lazy("The text is nothing but blanks. Type some words beside them."), way_out="text")
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
