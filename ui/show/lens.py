"""The logit lens: predictions from the hidden state of a masked token after each layer."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from i18n import _
from inference.tasks.predictions import Filled, Layers, Lens, MaskedWords
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.show.chart import About, draw_chart, theme
from ui.show.tables import csv_table, download_button
from ui.show.text import join_sentences
from viz.figures.layers import layer_names, lens_curves, lens_map
from viz.paper.notebook import Computation

MOST = 6  # Maximum number of curves.
TOP = 5


def layers(request: MaskedWords, filled: Filled, at: int, about: About) -> None:
    """Compute and draw the logit lens of a masked token: the model's predictions after each layer.

    ``at`` is the number of the masked token in the text. ``about`` returns the provenance of the prediction.
    """
    blank = filled.blanks[at]
    tokens = [guess.token for guess in (blank.guesses[0], *([blank.original] if blank.original else []))]
    tokens = list(dict.fromkeys([*tokens, *(guess.token for guess in blank.guesses)]))[: min(MOST, 3)]
    question = Lens(
        model=request.model,
        revision=request.revision,
        text=request.text,
        pair=request.pair,
        hidden=request.hidden,
        cut=request.cut,
        blank=at,
        tokens=tuple(tokens),
        top=TOP,
    )
    found = ask_model(question, _("Running the model"))
    computation = Computation("found = backend.predict(request)", request=question)
    draw(found, _("the blank's state"), computation, lambda: {**about(), "token": f"{blank.position} “{filled.mask}”"})


def draw(found: Layers, state: str, computation: Computation, about: About) -> None:
    """Draw the logit lens ``found`` as figures, with a summary and a download.

    ``state`` names the hidden state that the lens reads. ``computation`` is notebook code that computes ``found``.
    ``about`` returns the provenance of the hidden state: the model, the text and the token.
    """
    show_notice(summary(found), role="status")
    pieces = [[guess.piece for guess in row] for row in found.guesses]
    chances = np.array([[guess.probability for guess in row] for row in found.guesses], np.float32)
    names = [guess.piece for guess in found.followed]
    left, right = st.columns(2)
    best = computation.then("numbers = [[guess.probability for guess in row] for row in found.guesses]")
    figure = lens_map(pieces, chances, theme())
    draw_chart(figure, "lens_map", place=left, about=partial(_provenance, found, about), computation=best)
    followed = computation.then("numbers = np.transpose(found.probabilities)")
    about_curves = partial(_provenance, found, about, followed_tokens=[f"“{name}”" for name in names])
    figure = lens_curves(found.probabilities, names, theme())
    draw_chart(figure, "lens_curves", place=right, about=about_curves, computation=followed)
    st.caption(join_sentences(*_how_to_read(found.normed, state)))
    rows = [
        (
            layer,
            *(
                value
                for place in range(len(names))
                for value in (found.probabilities[at][place], found.ranks[at][place])
            ),
        )
        for at, layer in enumerate(layer_names(len(found.guesses)))
    ]
    columns = [_("After")]
    for name in names:
        columns += [_("probability of {piece}", piece=name), _("rank of {piece}", piece=name)]
    download_button(
        _("Save as CSV"),
        csv_table(columns, rows),
        "headlight-layers.csv",
        _("All digits"),
        provenance=about_curves(),
    )


def _provenance(found: Layers, about: About, **settings: Any) -> dict[str, Any]:
    """Return the provenance of a logit lens: that of its hidden state, the states it reads, and ``settings``."""
    reader = "final norm and output head" if found.normed else "output head"
    lens = f"logit lens ({reader} on the embedding and the outputs of {len(found.guesses) - 1} layers)"
    return {**about(), "lens": lens, **settings}


def _how_to_read(normed: bool, state: str) -> list[str]:
    """Return sentences about the lens and its limits.

    ``normed`` is True if the final norm is applied first.
    """
    read = _(
        "Rows: {state}, read with the head of the last layer. Colour: 0 to 1.",
        state=state,
    )
    beware = _("Rows of early layers can mislead ([arXiv:2303.08112](https://arxiv.org/abs/2303.08112)).")
    return [read, *([_("The final norm comes first.")] if normed else []), beware]


def summary(found: Layers) -> str:
    """Return a sentence with the first layer from which the followed token keeps rank 1.

    The followed token is the first of ``found.followed``. If it does not have rank 1 after the last layer, the sentence
    states its rank there.
    """
    first = found.ranks[:, 0] == 1
    rows = len(first)
    stays = next(row for row in range(rows) if first[row:].all()) if first[-1] else None
    names = layer_names(rows)
    piece = found.followed[0].piece
    if stays is None:
        return _("“{piece}” has rank {rank:,} after the last layer.", piece=piece, rank=found.ranks[-1, 0])
    return _(
        "“{piece}” is first from {layer} on, with probability {probability:.2f} there.",
        piece=piece,
        layer=names[stays],
        probability=found.probabilities[stays, 0],
    )
