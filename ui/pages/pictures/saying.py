"""What the model says of the picture: its classes, or how well texts fit it, and on which patches and words that rests.

Asked of models that were trained for it: with a head for classes, or with a tower for texts beside that for pictures.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from attention.picture import Picture
from inference import Refusal
from inference.pictures.families import BOTH
from inference.questions.question import Answer, PredictRequest
from inference.questions.seeing import PictureLabels, PictureTexts, Rests, RestsOn, Seen
from ui.input.picking import control
from ui.pages.pictures.options import Pictures
from ui.pages.pictures.reading import of_picture
from ui.run.refusals import show
from ui.run.shelf import backend
from ui.show.chart import draw_chart, theme
from ui.show.csv_table import csv_table
from ui.show.plain import plain
from ui.show.provenance import answers, model_provenance
from ui.show.saving import save
from viz.components.picture.photo import dimmed
from viz.components.strip import strip
from viz.components.strip.strip import Chip
from viz.figures.bars import bars
from wording import _

MOST = 8  # classes shown


def saying(options: Pictures, picture: Picture, model: str) -> None:
    """Draw what the model says of the picture."""
    asked = of_picture(options, picture, model)
    answers(model, options.revision or None)
    try:
        if backend().reads(model, options.revision or None) == BOTH:
            _texts(options, asked)
        else:
            _labels(asked)
    except Refusal as refusal:
        show(refusal)


def _texts(options: Pictures, asked: dict[str, Any]) -> None:
    """How well each line fits the picture, and what the best one rests on."""
    control(Pictures, "texts", st.text_area, _("Texts, one a line"), height=120,
            help=_("The model says how well each of them fits the picture."))  # fmt: skip
    lines = lines_of(options)
    if not lines:
        return
    said = _asked(PictureTexts(**asked, texts=lines))
    best = _bars(said, _("How well the texts fit the picture"))
    _rests(_asked(RestsOn(**asked, text=best)), asked["picture"])


def lines_of(options: Pictures) -> tuple[str, ...]:
    """The texts that are compared, each once."""
    return tuple(dict.fromkeys(line.strip() for line in options.texts.splitlines() if line.strip()))


def _labels(asked: dict[str, Any]) -> None:
    """The likeliest classes, and what the likeliest rests on."""
    said = _asked(PictureLabels(**asked))
    _bars(said, _("What is in the picture, as the model tells"))
    _rests(_asked(RestsOn(**asked)), asked["picture"])


def _asked(question: PredictRequest[Answer]) -> Answer:
    with st.spinner(_("The model looks at the picture"), show_time=True):
        return backend().predict(question)


def _bars(said: Seen, title: str) -> str:
    """The likeliest, a bar each, and all of them as a file; the name of the likeliest."""
    unit = _("logit") if said.probabilities is None else _("probability")
    found = said.likeliest(MOST)
    names, values = [name for name, _value in found], [value for _name, value in found]
    draw_chart(bars(names, values, theme(), title, unit, marked=(0,)), "picture_says")
    every = said.likeliest(len(said.names))
    save(
        _("Save as CSV"),
        csv_table(["name", "logit" if said.probabilities is None else "probability"], every),
        "headlight-picture-says.csv",
        _("Every name with its number"),
        provenance=model_provenance(),
    )
    return found[0][0]


def _rests(rests: Rests, picture: Picture) -> None:
    """The photo, bright where the number rests on, and the words beside it."""
    grid = rests.row.grid
    if grid is None:
        return
    st.markdown(_("**What this rests on**"))
    st.image(
        dimmed(picture, grid, rests.patches),
        caption=_(
            "Patches that “{name}” rests on: attention times its gradient, through all layers", name=plain(rests.name)
        ),
        width=420,
    )
    if rests.text_row is not None and rests.words is not None:
        top = max(float(rests.words.max()), 1e-12)
        pieces = zip(rests.text_row.pieces, rests.text_row.words, rests.words, strict=True)
        chips = [Chip(piece, float(size) / top, special=word is None) for piece, word, size in pieces]
        strip.mount(chips, "picture_words", title=_("Words that it rests on"))
    st.caption(
        _(
            "Chefer, Gur and Wolf ([arXiv:2103.15679](https://arxiv.org/abs/2103.15679)): what is positive in weights "
            "times gradients is added up through the layers. It tells what this number rests on, not what a head looks "
            "at."
        )
    )
