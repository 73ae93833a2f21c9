"""One head of a taught model on one sentence: before, after, and what the twin's does."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from probing import changed
from training.jobs.job import CHARACTERS, Look
from ui.input.head_picking import head_name
from ui.input.picking import control
from ui.pages.teach.changed_measured import Measured
from ui.pages.teach.options import Teach
from ui.show.chart import theme
from ui.show.explore_link import explore_link
from ui.show.matrices import draw_matrices
from ui.state.choice import Choice, fits, to_query
from ui.state.options import choose_own, own
from ui.state.session import NEW_MODEL, current
from viz.components.matrices.matrices import Sheet
from viz.figures.head_map import picked
from viz.figures.labels import cut
from viz.figures.palette import sides
from wording import _, told

LONGEST = 80  # characters of a sentence in the list


def draw_head(look: Look, found: Measured, head: tuple[int, int]) -> None:
    """The maps of the chosen sentence, and the ways to see more of it."""
    facts, base = found.facts, current().count
    shown = facts.shown
    at = min(max(own(Teach).example, 1), len(shown))
    control(
        Teach, "example", st.selectbox, _("Sentence"), range(1, len(shown) + 1), shown=at,
        format_func=lambda number: f"{cut(facts.sentences[shown[number - 1]].text, LONGEST)}",
        help=_("Test rows that no train row has the text of"),
    )  # fmt: skip
    seen = facts.sentences[shown[at - 1]]
    draw_matrices(
        sheets(found, head, shown[at - 1]),
        "changed_sheets",
        numbers=False,
        about=(("training", look.job.title), ("head", head_name(*head, base)), ("sentence", seen.text)),
    )
    there = {**NEW_MODEL, "pair": "", "text": seen.text, "layer": head[0], "head": head[1]}
    _links(look, replace(current(), **there))


def keep(width: int, key: str) -> None:
    """In the callback of a figure of heads, ``width`` in a layer: the one that was clicked is looked at from now on."""
    place = picked(st.session_state[key])
    if place is not None:
        choose_own(Teach, moved=place[0] * width + place[1])


def sheets(found: Measured, head: tuple[int, int], sentence: int) -> list[Sheet]:
    """The head's map before and after on one scale, and what the task and the twin changed on another."""
    before, task, twin = (changed.maps(found.folder, side, sentence)[head] for side in changed.SIDES)
    less, more = sides(theme())
    names = found.facts.sentences[sentence].pieces or ()
    most = float(max(before.max(), task.max())) or None
    change = float(max(abs(task - before).max(), abs(twin - before).max())) or None
    return [
        Sheet(_("Before"), before, names, names, _("Rows look at columns."), "sequential", most),
        Sheet(_("After"), task, names, names, _("On the same scale."), "sequential", most),
        Sheet(
            _("After − before"),
            task - before,
            names,
            names,
            _(
                "{one}: more than before. {other}: less.",
                one=told(more).capitalize(),
                other=told(less).capitalize(),
            ),
            limit=change,
        ),
        Sheet(_("Twin − before"), twin - before, names, names, _("With nothing to learn; same scale."), limit=change),
    ]


def _links(look: Look, there: Choice) -> None:
    """Ways to this sentence and head on other pages; to compare, the start must be a model that can be opened."""
    job = look.job
    after = replace(there, model=job.name, revision="")
    with st.container(horizontal=True):
        explore_link(after)
        before = replace(there, model=job.model, revision=job.revision or "")
        if job.model != CHARACTERS and fits(before):
            beside = {"differs": "model", "beside": job.name}
            st.page_link(
                "../../pages/compare.py",
                label=_("Open side by side"),
                icon=":material/compare:",
                query_params={**to_query(before), **beside},
                help=_("The model before and after, word by word, on this sentence and this head"),
            )
