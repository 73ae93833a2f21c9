"""Teach page: the attention maps at each evaluation during fine-tuning, with a slider."""

from __future__ import annotations

from functools import partial

import streamlit as st

from i18n import _
from probing import fine_tuning_changes
from training.jobs.job import JobStatus
from ui.input.controls import bound_widget, head_name
from ui.pages.teach.changes_files import change_provenance
from ui.pages.teach.changes_results import HeadChanges
from ui.pages.teach.options import TeachOptions
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.state.params import get_params
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.head_maps import head_map
from viz.figures.training import by_step


def draw_snapshots(look: JobStatus, found: HeadChanges, head: tuple[int, int]) -> None:
    """Draw the change of all heads and the map of ``head`` at the chosen step of the training.

    Draw nothing if no snapshots were recorded.
    """
    film = fine_tuning_changes.film(found.folder)
    if film is None:
        return
    st.subheader(_("Training snapshots"))
    steps = film.steps
    frame = min(max(get_params(TeachOptions).frame or len(steps), 1), len(steps)) - 1
    if len(steps) > 1:
        bound_widget(
            TeachOptions,
            "frame",
            st.select_slider,
            options=range(1, len(steps) + 1),
            shown=frame + 1,
            format_func=lambda number: f"{steps[number - 1]:,}",
        )
    values, name = film.bits[found.rows], head_name(*head)
    left, right = st.columns(2)
    title = _("Change by step {step:,}", step=steps[frame])
    limit = max(float(values.max()), 1e-6)
    figure = head_map(values[frame], theme(), title, _("divergence (bits)"), selected=head, limit=limit)
    draw_chart(figure, "changed_film_map", place=left, about=partial(change_provenance, look, found))
    figure = by_step(
        steps, values.mean(axis=(1, 2)), (name, values[:, head[0], head[1]]), theme(), _("Change over training"),
        frame=frame, kept=found.facts.step,
    )  # fmt: skip
    draw_chart(figure, "changed_film_line", place=right, about=partial(change_provenance, look, found))
    seen = found.facts.sentences[found.facts.shown_sentences[0]]
    names = seen.pieces or ()
    maps = film.maps[:, head[0], head[1]].astype("float32")
    about = _("{head} on “{sentence}”", head=name, sentence=seen.text)
    sheet = MatrixSpec(_("Step {step:,}", step=steps[frame]), maps[frame], names, names, about, "sequential",
                  float(maps.max()) or None)  # fmt: skip
    draw_matrices(
        [sheet],
        "changed_film_sheet",
        numbers=False,
        about=(("training", look.job.title), ("head", name), ("step", str(steps[frame])), ("sentence", seen.text)),
    )
    st.caption(
        _(
            "Mean over {n} sentences. Dotted: the kept step.",
            n=len(found.facts.shown_sentences),
        )
    )
