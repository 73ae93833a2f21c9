"""Pictures page: class or text predictions of a vision model, with their attributions.

Class predictions need a classification head, text predictions a text tower such as CLIP's.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from attention.pictures import Picture
from i18n import _
from inference import UserError
from inference.pictures.image_processing import BOTH
from inference.tasks.model_request import Answer, PredictRequest
from inference.tasks.picture_outputs import (
    AttributionOfPatches,
    PatchAttribution,
    PictureLabels,
    PictureOutput,
    PictureTexts,
)
from ui.input.controls import bound_widget
from ui.pages.pictures.options import PicturesOptions
from ui.pages.pictures.reading import of_picture
from ui.run.notices import show_error
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, model_provenance, set_answering_model
from ui.show.text import escape_markdown
from viz.components.picture.content import dim_patches
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.figures.token_bars import bars

MOST = 8  # The number of names in the figure.


def draw_prediction(options: PicturesOptions, picture: Picture, model: str) -> None:
    """Draw the predictions of the model for the picture; show an error if the backend refuses."""
    asked = of_picture(options, picture, model)
    set_answering_model(model, options.revision or None)
    try:
        if get_backend().reads(model, options.revision or None) == BOTH:
            _texts(options, asked)
        else:
            _labels(asked)
    except UserError as refusal:
        show_error(refusal)


def _texts(options: PicturesOptions, asked: dict[str, Any]) -> None:
    """Draw the scores of the typed texts for the picture, and the attribution of the best text."""
    bound_widget(
        PicturesOptions,
        "texts",
        st.text_area,
        height=120,
        help=_("The model scores how well each fits the image."),
    )
    lines = lines_of(options)
    if not lines:
        return
    said = _ask_model(PictureTexts(**asked, texts=lines))
    best = _bars(said, _("Text match"))
    _draw_attribution(_ask_model(AttributionOfPatches(**asked, text=best)), asked["picture"])


def lines_of(options: PicturesOptions) -> tuple[str, ...]:
    """Return the typed texts without duplicates and empty lines."""
    return tuple(dict.fromkeys(line.strip() for line in options.texts.splitlines() if line.strip()))


def _labels(asked: dict[str, Any]) -> None:
    """Draw the likeliest classes, and the attribution of the likeliest."""
    said = _ask_model(PictureLabels(**asked))
    _bars(said, _("Predicted classes"))
    _draw_attribution(_ask_model(AttributionOfPatches(**asked)), asked["picture"])


def _ask_model(question: PredictRequest[Answer]) -> Answer:
    with st.spinner(_("Running the model"), show_time=True):
        return get_backend().predict(question)


def _bars(said: PictureOutput, title: str) -> str:
    """Draw the MOST likeliest names as bars with a CSV export of all; return the likeliest name."""
    unit = _("logit") if said.probabilities is None else _("probability")
    found = said.likeliest(MOST)
    names, values = [name for name, _value in found], [value for _name, value in found]
    draw_chart(bars(names, values, theme(), title, unit, marked=(0,)), "picture_says", about=model_provenance)
    every = said.likeliest(len(said.names))
    download_button(
        _("Save as CSV"),
        csv_table(["name", "logit" if said.probabilities is None else "probability"], every),
        "headlight-picture-says.csv",
        _("All names and values"),
        provenance=model_provenance(),
    )
    return found[0][0]


def _draw_attribution(rests: PatchAttribution, picture: Picture) -> None:
    """Draw the picture with dimmed patches, and the words if a text was scored.

    The method is that of arXiv:2103.15679.
    """
    grid = rests.row.grid
    if grid is None:
        return
    st.markdown(_("**Attribution**"))
    st.image(
        dim_patches(picture, grid, rests.patches),
        caption=_(
            "Attribution of “{name}”: attention × gradient, all layers",
            name=escape_markdown(rests.name),
        ),
        width=420,
    )
    if rests.text_row is not None and rests.words is not None:
        top = max(float(rests.words.max()), 1e-12)
        pieces = zip(rests.text_row.pieces, rests.text_row.words, rests.words, strict=True)
        chips = [TokenChip(piece, float(size) / top, special=word is None) for piece, word, size in pieces]
        token_strip.mount(chips, "picture_words", title=_("Attributed words"))
    st.caption(
        _(
            "Chefer et al. ([arXiv:2103.15679](https://arxiv.org/abs/2103.15679)): positive weights × "
            "gradients, accumulated through the layers. It explains this value, not a head."
        )
    )
