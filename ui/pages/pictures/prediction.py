"""Predictions of a vision model, their attributions, and numbers by which the effect of edits is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attention.edits import EditSet, similarity
from attention.mask import FloatArray
from attention.pictures import Picture
from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.pictures.image_processing import BOTH
from inference.tasks.labels import log_probabilities
from inference.tasks.model_request import Answer, PredictRequest
from inference.tasks.picture_outputs import (
    AttributionOfPatches,
    PatchAttribution,
    PictureEffects,
    PictureLabels,
    PictureOutput,
    PictureTexts,
    PictureVector,
)
from probing.edit_answers import answers_under
from ui.ablation.effects import measure_changes
from ui.input.controls import bound_widget
from ui.pages.pictures.options import PicturesOptions
from ui.pages.pictures.source import of_picture, request_computation
from ui.run.notices import show_error
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, model_provenance, set_answering_model
from ui.show.text import escape_markdown
from viz.components.picture.content import dim_patches
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation

FITS = gettext_lazy("How well each fits the image.")
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
        help=translate(FITS),
    )
    lines = lines_of(options)
    if not lines:
        return
    best = _bars(PictureTexts(**asked, texts=lines), _("Text match"))
    _draw_attribution(_ask_model(AttributionOfPatches(**asked, text=best)), asked["picture"])


def lines_of(options: PicturesOptions) -> tuple[str, ...]:
    """Return the typed texts without duplicates and empty lines."""
    return tuple(dict.fromkeys(line.strip() for line in options.texts.splitlines() if line.strip()))


def _labels(asked: dict[str, Any]) -> None:
    """Draw the likeliest classes, and the attribution of the likeliest."""
    _bars(PictureLabels(**asked), _("Predictions"))
    _draw_attribution(_ask_model(AttributionOfPatches(**asked)), asked["picture"])


def _ask_model(question: PredictRequest[Answer]) -> Answer:
    with st.spinner(_("Running the model"), show_time=True):
        return get_backend().predict(question)


def _bars(question: PictureEffects, title: str) -> str:
    """Draw the MOST likeliest names as bars with a CSV export of all; return the likeliest name."""
    said = _ask_model(question)
    unit = _("Logit") if said.probabilities is None else _("Probability")
    found = said.likeliest(MOST)
    names, values = [name for name, _value in found], [value for _name, value in found]
    figure = bars(names, values, theme(), title, unit, marked=(0,))
    computation = None
    if question.picture is not None:
        code = f"numbers = [value for _name, value in backend.predict(request).likeliest({MOST})]"
        computation = request_computation(question, question.picture, code)
    draw_chart(figure, "picture_says", about=model_provenance, computation=computation)
    every = said.likeliest(len(said.names))
    download_button(
        _("Save as CSV"),
        csv_table(["name", "logit" if said.probabilities is None else "probability"], every),
        "headlight-picture-says.csv",
        _("All digits"),
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
    title = _("Attribution of “{name}”: attention × gradient", name=rests.name)
    st.image(
        dim_patches(picture, grid, rests.patches),
        caption=escape_markdown(title),
        width=420,
    )
    if rests.text_row is not None and rests.words is not None:
        top = max(float(rests.words.max()), 1e-12)
        pieces = zip(rests.text_row.pieces, rests.text_row.words, rests.words, strict=True)
        chips = [TokenChip(piece, float(size) / top, special=word is None) for piece, word, size in pieces]
        token_strip.mount(chips, "picture_words", title=title)
    st.caption(
        _(
            "Positive weights × gradients through the layers "
            "([arXiv:2103.15679](https://arxiv.org/abs/2103.15679)): explains this value, not a head."
        )
    )


AT_ONCE = 4096  # Tokens in a request, fewer than for texts, so that the reader can stop soon.


@dataclass(frozen=True, eq=False)
class PictureMetric:
    """A number that measures the model's output: the score of a class or text, or a cosine of the output vector.

    ``name`` is the class or text, and "" for the vector.
    """

    question: PictureEffects
    at: int = 0
    name: str = ""

    def ask(self, sets: Sequence[EditSet]) -> PictureOutput:
        """Return the model's output under each edit set; ``sets[0]`` must be empty (no edits).

        The output without edits is requested separately, so that its cached result can be used. May raise UserError.
        """
        own = get_backend().predict(self.question)
        if len(sets) == 1:
            return own
        said = get_backend().predict(replace(self.question, edits=tuple(sets[1:])))
        return replace(said, values=np.concatenate([own.values, said.values]))

    def numbers(self, said: PictureOutput) -> FloatArray:
        """Return the metric for each edit set, shape (set,); the first set must be empty.

        The metric is the log-probability of a class, or the logit of a text: the cosine similarity times CLIP's learned
        scale. For an output vector, it is the cosine with the vector of the first set.
        """
        if not self.name:
            return similarity(said.values)
        logs = log_probabilities(said.values, said.sort) if isinstance(self.question, PictureLabels) else None
        found: FloatArray = (said.values if logs is None else logs)[:, self.at]
        return found

    def changes(self, sets: Sequence[EditSet], tokens: int, doing: str) -> FloatArray:
        """Return the change of the metric by each edit set, shape (set,).

        If the metric is the output vector, the change is 1 − the cosine of the edited and the original vector.
        If the reader stops the computation, the array has only the sets that were measured.
        """
        mark = f"{self.question.key}:{self.at}"
        found = measure_changes(mark, sets, tokens, doing, lambda some: self.numbers(self.ask(some)), AT_ONCE)
        return found if self.name else np.maximum(-found, 0)

    def computation(self, sets: str, numbers: str, tokens: int, **names: Any) -> Computation | None:
        """Return notebook code that evaluates ``numbers``, an expression of ``changes``; None without a picture.

        ``sets`` is an expression for a list of edit sets, and ``changes`` are their changes of the metric, shape
        (set,). ``tokens`` is the number of the picture's tokens, and ``names`` are the names that both expressions use.
        """
        picture = self.question.picture
        if picture is None:
            return None
        number, change = f"values[:, {self.at}]", "number[1:] - number[0]"
        if not self.name:
            number, change = "similarity(values)", "np.maximum(number[0] - number[1:], 0)"
        elif isinstance(self.question, PictureLabels):
            kind = get_backend().predict(self.question).sort
            if log_probabilities(np.zeros((1, 2), np.float32), kind) is not None:
                number = f"log_probabilities(values, {kind!r})[:, {self.at}]"
        code = (
            f"values = answers_under(backend, request, [(), *{sets}], {tokens})\n"
            f"number = {number}\nchanges = {change}\nnumbers = {numbers}"
        )
        used = (answers_under, similarity, log_probabilities)
        names |= {one.__name__: one for one in used}
        return request_computation(self.question, picture, code, **names)

    @property
    def effect(self) -> str:
        """Return the name of the metric's change as an axis label."""
        if not self.name:
            return _("1 − cosine")
        if isinstance(self.question, PictureLabels):
            return _("change of the log-probability")
        return _("change of the logit")


def pick_metric(options: PicturesOptions, picture: Picture, model: str) -> PictureMetric | None:
    """Draw the widgets that select the metric, and return it; None if no text is given. Raise UserError on refusal."""
    both = get_backend().loaded(model, options.revision or None).reads == BOTH
    names = ("vector", "text") if both else ("vector", "class")
    watched = options.watch if options.watch in names else "vector"
    bound_widget(PicturesOptions, "watch", st.segmented_control, options=list(names), shown=watched, required=True)
    asked = of_picture(options, picture, model)
    if watched == "text":
        bound_widget(PicturesOptions, "texts", st.text_area, height=100, help=translate(FITS))
        lines = lines_of(options)
        return _likeliest_metric(PictureTexts(**asked, texts=lines)) if lines else None
    return _likeliest_metric(PictureLabels(**asked)) if watched == "class" else PictureMetric(PictureVector(**asked))


def _likeliest_metric(question: PictureEffects) -> PictureMetric:
    """Return the metric for the likeliest name without edits."""
    said = get_backend().predict(question)
    at = int(said.values[0].argmax())
    return PictureMetric(question, at, said.names[at])
