"""A run of scoring on a page: begun where it is short or asked for, in steps that can be stopped and gone on with."""

from __future__ import annotations

from contextlib import nullcontext

import streamlit as st

from i18n import _
from inference import UserError, cancellation
from probing.score import ScoringRun, ScoringState, score
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend

STATES = "scoring_states"
ASKED = "scoring_asked"
UNASKED = 300  # texts that are scored without being asked
MOST_STATES = 8  # kept in a session; one is some hundred kilobytes, of thousands of sentences a few megabytes


def may_begin(key: str, many: int, label: str) -> bool:
    """Whether a run over so many texts may begin: a short one does, a long one when the reader presses this button."""
    asked: set[str] = st.session_state.setdefault(ASKED, set())
    if many <= UNASKED or key in asked:
        return True
    help = _("It can be stopped, and goes on where it was.")
    st.button(label, type="primary", on_click=asked.add, args=(key,), help=help)
    return False


def run_scoring(run: ScoringRun, doing: str) -> ScoringState:
    """Return the run's state at its end, or at the place where the reader has stopped it.

    Raise Refusal, also if the model does not know the words of most texts.

    What was counted is kept, so that going on, or coming back, costs only the rest.
    """
    states: dict[str, ScoringState] = st.session_state.setdefault(STATES, {})
    state = states.pop(run.key, None) or ScoringState(run.key)
    states[run.key] = state  # the newest last
    while len(states) > MOST_STATES:
        states.pop(next(iter(states)))
    steps = score(get_backend(), run, state, get_backend().settings.forwards)
    loaded = get_backend().status(run.model, run.revision) == "loaded"
    first = _("Scoring the first sentences") if loaded else _("Loading the model, then scoring the first sentences")
    for at in stoppable_steps(run.key, len(run.batches()), doing):
        while state.done <= at:  # what another drawing of the page has counted meanwhile is not counted again
            in_time = cancellation.limit_request(get_backend().settings.answer_seconds)
            with nullcontext() if at else st.spinner(first, show_time=True), in_time:
                next(steps)
    if state.unreadable:
        raise UserError(state.unreadable)
    return state


def finished_state(run: ScoringRun) -> ScoringState | None:
    """A run's state where this session has brought it to its end; nothing is computed."""
    state: ScoringState | None = st.session_state.get(STATES, {}).get(run.key)
    return state if state is not None and state.done == len(run.batches()) else None
