"""Pseudo-log-likelihood of a text: each token is hidden and predicted, several texts in a pass."""

from __future__ import annotations

import numpy as np

from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.runners.blanks import as_read, hide, mask_of, text_positions
from inference.runners.masked_words import piece_logs
from inference.tasks.predictions import SurprisalRequest, SurprisalScores


def answer(loaded: LoadedModel, question: SurprisalRequest) -> SurprisalScores:
    """Return the log-probabilities of some tokens; raise UserError if the text has no tokens to score."""
    mask, token = mask_of(loaded)
    reading, row = as_read(loaded, question.text, question.pair, question.cut)
    every = text_positions(row, token)
    if not every and question.start < question.stop:
        raise UserError(gettext_lazy("The text is nothing but blanks. Type some words beside them."), way_out="text")
    places = every[question.start : question.stop]
    words = [(row.segments[at], row.words[at]) for at in range(len(row))]
    hidden = [
        hide(reading, {other for other in every if other >= at and words[other] == words[at]}, token) for at in places
    ]
    values = np.array(piece_logs(loaded, hidden, places, [row.ids[at] for at in places]), dtype=np.float32)
    values.setflags(write=False)
    return SurprisalScores(row, tuple(places), values, len(every), mask)
