"""Occlusion: the effect on the answer in a blank if other words are hidden, each in turn."""

from __future__ import annotations

import numpy as np

from attention.tokens import of_words
from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.record.batching import MOST_TEXTS, MOST_TOKENS
from inference.runners.blanks import Blanked, hide, mask_of, prepare, text_positions
from inference.runners.masked_words import at_blanks, guess, logs
from inference.tasks.attribution import OcclusionRequest, OcclusionResult
from inference.tasks.predictions import Guess


def answer(loaded: LoadedModel, question: OcclusionRequest) -> OcclusionResult:
    """Return the drop of the answer's log-probability without each word.

    Raise UserError if the text has no blanks.
    """
    blanked = prepare(loaded, question)
    explained, at = target(loaded, blanked, question.blank, question.token)
    words = runs(loaded, blanked)
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


def target(loaded: LoadedModel, blanked: Blanked, blank: int, token: int) -> tuple[Guess, int]:
    """Return the token to explain and the position of its blank; raise UserError if it does not exist."""
    if not 0 <= blank < len(blanked.positions):
        raise UserError(
            gettext_lazy(
                "Blank {blank} was asked about; the text has {blanks}, counted from 0.",
                blank=blank,
                blanks=len(blanked.positions),
            )
        )
    at = blanked.positions[blank]
    [log] = at_blanks(loaded, blanked.reading, [at])
    if token >= len(log):
        raise UserError(
            gettext_lazy(
                "Piece {token} was asked about; {name} knows {pieces}.",
                token=token,
                name=loaded.id.name,
                pieces=len(log),
            )
        )
    return guess(loaded, log, token if token >= 0 else int(log.argmax())), at


def runs(loaded: LoadedModel, blanked: Blanked) -> list[tuple[int, int]]:
    """Return (start, stop) of each word in tokens, without words of a blank and special tokens."""
    row = blanked.reading.row
    there = set(text_positions(row, mask_of(loaded)[1]))
    words = [(row.segments[at], row.words[at]) if at in there else None for at in range(len(row))]
    found, _ = of_words(np.zeros(len(row), np.float32), words)
    return [run for run in found if words[run[0]] is not None]
