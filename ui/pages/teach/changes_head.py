"""Teach page: the attention maps of a single head before and after fine-tuning, and in a control."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from i18n import _, translate
from probing import fine_tuning_changes
from training.jobs.job import CHARACTERS, JobStatus
from ui.input.controls import bound_widget, head_name
from ui.pages.teach.changes_results import HeadChanges
from ui.pages.teach.options import TeachOptions
from ui.show.chart import theme
from ui.show.microscope import draw_matrices, explore_link
from ui.show.views import link_to_view
from ui.state.params import get_params, set_params
from ui.state.session import NEW_MODEL, get_view_state
from ui.state.view_state import ViewState, fits, to_query
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.head_maps import picked_head
from viz.figures.theme import sides, truncate

LONGEST = 80  # The list cuts a sentence after so many characters.


def draw_head(look: JobStatus, found: HeadChanges, head: tuple[int, int]) -> None:
    """Draw the maps of ``head`` for the chosen sentence, with a selector and links to other pages."""
    facts = found.facts
    shown = facts.shown_sentences
    at = min(max(get_params(TeachOptions).example, 1), len(shown))
    bound_widget(
        TeachOptions,
        "example",
        st.selectbox,
        options=range(1, len(shown) + 1),
        shown=at,
        format_func=lambda number: f"{truncate(facts.sentences[shown[number - 1]].text, LONGEST)}",
    )
    seen = facts.sentences[shown[at - 1]]
    draw_matrices(
        head_matrices(found, head, shown[at - 1]),
        "changed_sheets",
        numbers=False,
        about=(("training", look.job.title), ("head", head_name(*head)), ("sentence", seen.text)),
    )
    there = {**NEW_MODEL, "pair": "", "text": seen.text, "layer": head[0], "head": head[1]}
    _links(look, replace(get_view_state(), **there))


def on_head_click(width: int, key: str) -> None:
    """Select the clicked head of the figure ``key``, which has ``width`` heads in each layer."""
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(TeachOptions, moved=place[0] * width + place[1])


def head_matrices(found: HeadChanges, head: tuple[int, int], sentence: int) -> list[MatrixSpec]:
    """Return the head's maps before and after fine-tuning, and the changes by the task and a control.

    Both maps share a colour scale, and so do both changes.
    """
    before, task, twin = (
        fine_tuning_changes.maps(found.folder, side, sentence)[head] for side in fine_tuning_changes.SIDES
    )
    less, more = sides(theme())
    names = found.facts.sentences[sentence].pieces or ()
    most = float(max(before.max(), task.max())) or None
    change = float(max(abs(task - before).max(), abs(twin - before).max())) or None
    return [
        MatrixSpec(_("Before"), before, names, names, _("Rows attend to columns."), "sequential", most),
        MatrixSpec(_("After"), task, names, names, _("Same scale."), "sequential", most),
        MatrixSpec(
            _("After − before"),
            task - before,
            names,
            names,
            _(
                "{one}: more than before. {other}: less.",
                one=translate(more).capitalize(),
                other=translate(less).capitalize(),
            ),
            limit=change,
        ),
        MatrixSpec(_("Control − before"), twin - before, names, names, _("Shuffled labels; same scale."), limit=change),
    ]


def _links(look: JobStatus, there: ViewState) -> None:
    """Draw links to this sentence and head on the pages Explore and Compare.

    Compare is offered only if the initial model can be opened.
    """
    job = look.job
    after = replace(there, model=job.name, revision="")
    with st.container(horizontal=True):
        explore_link(after)
        before = replace(there, model=job.model, revision=job.revision or "")
        if job.model != CHARACTERS and fits(before):
            beside = {"differs": "model", "beside": job.name}
            link_to_view(
                "compare",
                _("Compare models"),
                icon=":material/compare:",
                query={**to_query(before), **beside},
            )
