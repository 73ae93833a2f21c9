"""Scalar metrics of a vision model's output, used to measure the effect of edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attention.edits import EditSet, similarity
from attention.mask import FloatArray
from attention.pictures import Picture
from i18n import _
from inference.pictures.image_processing import BOTH
from inference.tasks.labels import log_probabilities
from inference.tasks.picture_outputs import PictureEffects, PictureLabels, PictureOutput, PictureTexts, PictureVector
from ui.ablation.effects import measure_changes
from ui.input.controls import bound_widget
from ui.pages.pictures.options import PicturesOptions
from ui.pages.pictures.prediction import lines_of
from ui.pages.pictures.reading import of_picture
from ui.run.services import get_backend

AT_ONCE = 4096  # Tokens in a request, fewer than for texts, so that the reader can stop soon.


@dataclass(frozen=True, eq=False)
class PictureMetric:
    """A scalar metric of the model's output; ``name`` is the class or text, "" for the output vector."""

    question: PictureEffects
    at: int = 0
    name: str = ""

    def ask(self, sets: Sequence[EditSet]) -> PictureOutput:
        """Return the output for each edit set; the first set must be empty. Raise UserError on refusal.

        The output without edits is a separate request, so that the backend can reuse its cached result.
        """
        own = get_backend().predict(self.question)
        if len(sets) == 1:
            return own
        said = get_backend().predict(replace(self.question, edits=tuple(sets[1:])))
        return replace(said, values=np.concatenate([own.values, said.values]))

    def numbers(self, said: PictureOutput) -> FloatArray:
        """Return the metric for each edit set, shape (set,); the first set must be empty.

        The metric is the cosine with the first vector, the log-probability of a class, or the logit of a text.
        That logit is CLIP's score times the learned scale.
        """
        if not self.name:
            return similarity(said.values)
        logs = log_probabilities(said.values, said.sort) if isinstance(self.question, PictureLabels) else None
        found: FloatArray = (said.values if logs is None else logs)[:, self.at]
        return found

    def changes(self, sets: Sequence[EditSet], tokens: int, doing: str) -> FloatArray:
        """Return the change of the metric by each edit set, shape (set,); 1 − cosine for vectors.

        The array is shorter if the reader stopped the computation.
        """
        mark = f"{self.question.key}:{self.at}"
        found = measure_changes(mark, sets, tokens, doing, lambda some: self.numbers(self.ask(some)), AT_ONCE)
        return found if self.name else np.maximum(-found, 0)

    @property
    def effect(self) -> str:
        """Return a phrase that names the change of the metric."""
        if not self.name:
            return _("1 − cosine")
        if isinstance(self.question, PictureLabels):
            return _("change of the log-probability")
        return _("change of the logit")


def pick_metric(options: PicturesOptions, picture: Picture, model: str) -> PictureMetric | None:
    """Draw the controls and return the metric; None if no text is given. Raise UserError on refusal."""
    both = get_backend().loaded(model, options.revision or None).reads == BOTH
    names = ("vector", "text") if both else ("vector", "class")
    watched = options.watch if options.watch in names else "vector"
    bound_widget(PicturesOptions, "watch", st.segmented_control, options=list(names), shown=watched, required=True)
    asked = of_picture(options, picture, model)
    if watched == "text":
        bound_widget(PicturesOptions, "texts", st.text_area, height=100, help=_("The best-fitting text is the metric."))
        lines = lines_of(options)
        return _likeliest_metric(PictureTexts(**asked, texts=lines)) if lines else None
    return _likeliest_metric(PictureLabels(**asked)) if watched == "class" else PictureMetric(PictureVector(**asked))


def _likeliest_metric(question: PictureEffects) -> PictureMetric:
    """Return the metric for the likeliest name without edits."""
    said = get_backend().predict(question)
    at = int(said.values[0].argmax())
    return PictureMetric(question, at, said.names[at])
