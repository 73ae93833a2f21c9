"""The effect of ablating a head of an atlas, compared with other heads of its layer."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from attention.edits import similarity
from attention.mask import FloatArray
from i18n import _
from inference.errors import UserError
from probing.atlas.heads import ablation_questions
from probing.atlas.store import Atlas, mean_interval
from ui.run.notices import show_error, show_notice
from ui.run.progress import map_questions
from ui.run.services import get_backend
from ui.show.atlases import atlas_computation, atlas_provenance
from ui.show.chart import draw_chart, theme
from ui.show.sections import open_section
from viz.figures.token_bars import bars

KEY = "atlas_ablation"
WINDOWS = 16  # random windows on which the effect is measured
CODE = """\
questions = ablation_questions(atlas, layer, part, windows)[:most]
vectors = [backend.inspect(question).values for question in questions]
numbers = np.mean([1 - similarity(found)[1:] for found in vectors], axis=0)"""  # code of a notebook


def draw_ablation(atlas: Atlas, head: int) -> None:
    """Draw the effect of ablating a head, next to the other heads of its layer.

    ``head`` is an index of ``atlas.heads``. Nothing is computed while the panel is closed; there is no panel for heads
    outside the first stack.
    """
    name = atlas.heads[head]
    if name.part != next(iter(atlas.manifest["stacks"])):
        return  # the sentence vector is that of the first stack
    section = open_section(_("Ablation"), KEY)
    if section is None:
        return
    with section:
        try:
            changes = layer_changes(atlas, name.layer, name.part)
        except UserError as refusal:
            show_error(refusal)
            return
        if len(changes) == 0:
            return
        mean, low, high = mean_interval(changes)
        show_notice(
            _(
                "Ablating head {head} changes the text vector by {mean:.4f} ({low:.4f} to {high:.4f}), rank {rank} of"
                " {heads} in its layer; n = {n} random windows.",
                head=name.label,
                mean=float(mean[name.head]),
                low=float(low[name.head]),
                high=float(high[name.head]),
                rank=1 + int((mean > mean[name.head]).sum()),
                heads=len(mean),
                n=len(changes),
            ),
            "status",
        )
        labels = [f"{name.layer}-{other}" for other in range(len(mean))]
        intervals = list(zip(low.tolist(), high.tolist(), strict=True)) if len(changes) > 1 else []
        figure = bars(
            labels,
            mean.tolist(),
            theme(),
            _("Ablation effect"),
            _("1 − cosine"),
            marked=[name.head],
            intervals=intervals,
        )
        about = partial(atlas_provenance, atlas, f"{len(changes)} random windows")
        computation = atlas_computation(
            atlas, CODE, layer=name.layer, part=name.part, windows=WINDOWS, most=len(changes),
            ablation_questions=ablation_questions, similarity=similarity)  # fmt: skip
        draw_chart(figure, "atlas_ablation_bars", about=about, computation=computation)
        st.caption(_("Change: 1 − cosine of the text vector, with 95% interval."))


def layer_changes(atlas: Atlas, layer: int, part: str) -> FloatArray:
    """Return the change of the text vector by ablating each head of a layer, shape (window, head).

    A window is a piece of the atlas' texts. The change is 1 − cosine. There are fewer windows if the visitor stops.
    Raise UserError if the model cannot be run.
    """
    questions = ablation_questions(atlas, layer, part, WINDOWS)
    answers = map_questions(questions, _("Ablating each head"), lambda question: get_backend().inspect(question))
    return np.array([1 - similarity(answer.values)[1:] for answer in answers], np.float32)
