"""Long work on a page: progress, and a stop that loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _
from inference import UserError, cancellation
from inference.cancellation import GONE, Cancelled
from inference.tasks.model_request import Answer, PredictRequest
from probing.score import ScoringRun, ScoringState, score
from ui.run import visitors
from ui.run.notices import show_notice
from ui.run.services import get_backend

STOPPED, DONE = "stopped_steps", "done_steps"
PATIENCE = 0.5  # seconds before the bar is shown


def stoppable_steps(mark: str, total: int, doing: str) -> Iterator[int]:
    """Counts 0 to ``total`` while a bar says how far it is; ends early where the reader has stopped, and says so.

    ``mark`` tells one piece of work from another: what it asks must be all in it. The questions asked in the steps are
    kept by the backend, so that going on, or coming back, costs only the rest. Where the operator lets work go on only
    so long at a stretch, it stops then as if the reader had said so, a step further at least.
    """
    most = st.session_state.setdefault(STOPPED, {}).get(mark, total)
    place, begun, bar = st.empty(), monotonic(), None
    stretch, before = get_backend().settings.at_a_stretch, _steps_done(mark)
    for at in range(min(most, total)):
        if stretch is not None and at > before and monotonic() - begun > stretch:
            most = st.session_state[STOPPED][mark] = at
            break
        if bar is None and monotonic() - begun > PATIENCE:
            with place.container(horizontal=True, vertical_alignment="center"):
                bar = st.progress(0.0)
                st.button(_("Stop"), key=f"stop_{mark}", on_click=stop, args=(mark,), help=_("What is done is kept"))
        if bar is not None:
            bar.progress(at / total, text=_("{doing}: {at} of {total}", doing=doing, at=at, total=total))
        yield at
        st.session_state[DONE] = (mark, at + 1)
    place.empty()
    if most < total:
        with place.container():  # in the bar's place, so that it is gone as soon as the work goes on
            show_notice(
                _("Stopped after {most} of {total} steps; this is what is known so far.", most=most, total=total),
                "status",
            )
            st.button(_("Go on"), key=f"go_on_{mark}", on_click=go_on, args=(mark,), help=_("Continue where it was"))


def stop(mark: str) -> None:
    """The work ends where it is now, the next time the page is drawn."""
    st.session_state[STOPPED][mark] = _steps_done(mark)


def go_on(mark: str) -> None:
    """The work goes on from there."""
    st.session_state[STOPPED].pop(mark, None)


def _steps_done(mark: str) -> int:
    """How many steps of that work were done when it was last drawn."""
    done_mark, done = st.session_state.get(DONE, (mark, 0))
    return done if done_mark == mark else 0


class PassProgress:
    """What is told of a pass: nothing at first, then a bar with a button, whose press ends the pass."""

    def __init__(self, place: DeltaGenerator, mark: str, doing: str) -> None:
        self.place, self.mark, self.doing = place, mark, doing
        self.begun = monotonic()
        self.bar: DeltaGenerator | None = None

    def __call__(self, done: int, of: int) -> None:
        """So many layers are done; of 0 where that is not known."""
        if self.bar is not None or monotonic() - self.begun > PATIENCE:
            cancellation.run_in_calling_thread(lambda: self._update(done, of))

    def _update(self, done: int, of: int) -> None:
        if visitors.is_pressed(_key(self.mark)):
            raise Cancelled(GONE)
        self.bar = self.bar or self._draw_bar()
        told = _("{doing}: {at} of {total}", doing=self.doing, at=done, total=of) if of else self.doing
        self.bar.progress(done / of if of else 0.0, text=told)

    def _draw_bar(self) -> DeltaGenerator:
        with self.place.container(horizontal=True, vertical_alignment="center"):
            bar = st.progress(0.0)
            help = _("What was computed of it is lost")
            st.button(_("Stop"), key=_key(self.mark), on_click=stop, args=(self.mark,), help=help)
        return bar


@contextmanager
def show_pass_progress(mark: str, doing: str) -> Iterator[None]:
    """What is asked of the backend inside the block is followed on the page. Raises Stopped where its reader says so.

    ``mark`` tells one piece of work from another, as for ui.run.progress.
    """
    place = st.empty()
    st.session_state.setdefault(STOPPED, {})
    try:
        with cancellation.limit_request(get_backend().settings.answer_seconds, PassProgress(place, mark, doing)):
            yield
    except UserError:
        place.empty()
        raise
    place.empty()


def was_stopped(mark: str) -> bool:
    """Whether its reader has stopped it, and not said since that it may go on."""
    return mark in st.session_state.get(STOPPED, {})


def offer_again(mark: str) -> None:
    """Says that it was stopped, and how to begin again."""
    st.session_state.setdefault(STOPPED, {})
    show_notice(_("Reading this text was stopped."), role="status")
    help = _("Begins at the first layer")
    st.button(_("Read it now"), key=f"again_{mark}", on_click=go_on, args=(mark,), help=help)


def _key(mark: str) -> str:
    return f"stop_{mark}"


Told = TypeVar("Told")


def ask_many(questions: Sequence[PredictRequest[Answer]], doing: str) -> list[Answer]:
    """The answers in order; fewer when the reader has stopped, which is said with a way to go on. Raises Refusal."""
    return map_questions(questions, doing, lambda question: get_backend().predict(question))


def map_questions(
    questions: Sequence[PredictRequest[Answer]], doing: str, ask: Callable[[PredictRequest[Answer]], Told]
) -> list[Told]:
    """The same with what ``ask`` makes of each question."""
    if not questions:
        return []
    mark = f"{questions[0].key}:{len(questions)}"
    return [ask(questions[at]) for at in stoppable_steps(mark, len(questions), doing)]


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
