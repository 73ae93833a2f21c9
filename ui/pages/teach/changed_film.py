"""How the heads came to change: every evaluation of the training, with a slider."""

from __future__ import annotations

import streamlit as st

from probing import changed
from training.jobs.job import Look
from ui.input.head_picking import head_name
from ui.input.picking import control
from ui.pages.teach.changed_measured import Measured
from ui.pages.teach.options import Teach
from ui.show.chart import draw_chart, theme
from ui.show.matrices import draw_matrices
from ui.state.options import own
from ui.state.session import current
from viz.components.matrices.matrices import Sheet
from viz.figures.drift import by_step
from viz.figures.head_map import head_map
from wording import _


def draw_film(look: Look, found: Measured, head: tuple[int, int]) -> None:
    """All heads and the chosen one's map at one step of the training; nothing where it was not filmed."""
    film, base = changed.film(found.folder), current().count
    if film is None:
        return
    st.subheader(_("On the way"))
    steps = film.steps
    frame = min(max(own(Teach).frame or len(steps), 1), len(steps)) - 1
    if len(steps) > 1:
        control(Teach, "frame", st.select_slider, _("Step of the training"), range(1, len(steps) + 1), shown=frame + 1,
                format_func=lambda number: f"{steps[number - 1]:,}",
                help=_("The evaluations on the way; the maps are those that the model had then"))  # fmt: skip
    values, name = film.bits[found.rows], head_name(*head, base)
    left, right = st.columns(2)
    title = _("Moved by step {step:,}", step=steps[frame])
    limit = max(float(values.max()), 1e-6)
    figure = head_map(values[frame], theme(), title, _("divergence (bits)"), selected=head, base=base, limit=limit)
    draw_chart(figure, "changed_film_map", place=left)
    figure = by_step(
        steps, values.mean(axis=(1, 2)), (name, values[:, head[0], head[1]]), theme(), _("From step to step"),
        frame=frame, kept=found.facts.step,
    )  # fmt: skip
    draw_chart(figure, "changed_film_line", place=right)
    seen = found.facts.sentences[found.facts.shown[0]]
    names = seen.pieces or ()
    maps = film.maps[:, head[0], head[1]].astype("float32")
    about = _("{head} on “{sentence}”", head=name, sentence=seen.text)
    sheet = Sheet(_("Step {step:,}", step=steps[frame]), maps[frame], names, names, about, "sequential",
                  float(maps.max()) or None)  # fmt: skip
    draw_matrices(
        [sheet],
        "changed_film_sheet",
        numbers=False,
        about=(("training", look.job.title), ("head", name), ("step", str(steps[frame])), ("sentence", seen.text)),
    )
    st.caption(
        _(
            "Mean over {n} of the sentences, against the start. The dotted line is the step whose weights were kept.",
            n=len(found.facts.shown),
        )
    )
