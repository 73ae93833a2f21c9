"""Progress bars for long computations, which the visitor can stop and continue without losing results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _
from inference import UserError, cancellation
from inference.cancellation import GONE, Cancelled
from inference.tasks.model_request import Answer, ModelRequest, PredictRequest
from probing.score import ScoringRun, ScoringState, score
from ui import streamlit_internals
from ui.run.notices import show_notice
from ui.run.services import get_backend

STOPPED, DONE = "stopped_steps", "done_steps"
PATIENCE = 0.5  # Seconds before the progress bar appears.


def stoppable_steps(mark: str, total: int, doing: str) -> Iterator[int]:
    """Yield 0 to ``total`` - 1 with a progress bar; end early if the visitor stops the work.

    ``mark`` identifies the work and must depend on all its inputs; ``doing`` is the label of the progress bar. The
    backend caches the answers of the steps. If the work continues, only the missing steps are therefore computed. If
    the operator limits the time of continuous work (settings.at_a_stretch), the loop ends after that time, but makes at
    least one new step.
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
                st.button(_("Stop"), key=f"stop_{mark}", on_click=stop, args=(mark,), help=_("Completed work is kept"))
        if bar is not None:
            bar.progress(at / total, text=_("{doing}: {at} of {total}", doing=doing, at=at, total=total))
        yield at
        st.session_state[DONE] = (mark, at + 1)
    place.empty()
    if most < total:
        with place.container():  # The container of the bar, so that the notice disappears when the work continues.
            show_notice(
                _("Stopped after {most} of {total} steps; results so far are shown.", most=most, total=total),
                "status",
            )
            st.button(_("Go on"), key=f"go_on_{mark}", on_click=go_on, args=(mark,), help=_("Continue where it was"))


def stop(mark: str) -> None:
    """Stop the computation ``mark`` after its current step, until the visitor continues it."""
    st.session_state[STOPPED][mark] = _steps_done(mark)


def go_on(mark: str) -> None:
    """Continue the computation ``mark`` at the step where it was stopped."""
    st.session_state[STOPPED].pop(mark, None)


def _steps_done(mark: str) -> int:
    """Return the number of completed steps of the work in its last run."""
    done_mark, done = st.session_state.get(DONE, (mark, 0))
    return done if done_mark == mark else 0


class PassProgress:
    """A callback that shows the progress of a forward pass after PATIENCE seconds, with a stop button."""

    def __init__(self, place: DeltaGenerator, mark: str, doing: str) -> None:
        self.place, self.mark, self.doing = place, mark, doing
        self.begun = monotonic()
        self.bar: DeltaGenerator | None = None

    def __call__(self, done: int, of: int) -> None:
        """Show that ``done`` of ``of`` layers are computed; ``of`` is 0 if the number of layers is unknown."""
        if self.bar is not None or monotonic() - self.begun > PATIENCE:
            cancellation.run_in_calling_thread(lambda: self._update(done, of))

    def _update(self, done: int, of: int) -> None:
        if streamlit_internals.is_pressed(_key(self.mark)):
            raise Cancelled(GONE)
        self.bar = self.bar or self._draw_bar()
        told = _("{doing}: {at} of {total}", doing=self.doing, at=done, total=of) if of else self.doing
        self.bar.progress(done / of if of else 0.0, text=told)

    def _draw_bar(self) -> DeltaGenerator:
        with self.place.container(horizontal=True, vertical_alignment="center"):
            bar = st.progress(0.0)
            help = _("Computed results are lost")
            st.button(_("Stop"), key=_key(self.mark), on_click=stop, args=(self.mark,), help=help)
        return bar


@contextmanager
def show_pass_progress(mark: str, doing: str) -> Iterator[None]:
    """Inside the block, show the progress of backend requests; raise Cancelled if the visitor stops them.

    ``mark`` identifies the work and must depend on all its inputs. ``doing`` is the label of the progress bar.
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
    """Return True if the visitor has stopped the work ``mark`` and has not continued it."""
    return mark in st.session_state.get(STOPPED, {})


def offer_again(mark: str) -> None:
    """Show that the work ``mark`` was stopped, with a button that starts it again."""
    st.session_state.setdefault(STOPPED, {})
    show_notice(_("Stopped."), role="status")
    help = _("Begins at the first layer")
    st.button(_("Run now"), key=f"again_{mark}", on_click=go_on, args=(mark,), help=help)


def _key(mark: str) -> str:
    return f"stop_{mark}"


Told = TypeVar("Told")
Question = TypeVar("Question", bound=ModelRequest[Any])


def ask_many(questions: Sequence[PredictRequest[Answer]], doing: str) -> list[Answer]:
    """Return the backend's answers to ``questions``, in order; fewer if the visitor stops the work.

    ``doing`` is the label of the progress bar. May raise UserError.
    """
    return map_questions(questions, doing, lambda question: get_backend().predict(question))


def map_questions(questions: Sequence[Question], doing: str, ask: Callable[[Question], Told]) -> list[Told]:
    """Return the results of ``ask`` for each of ``questions``, in order; fewer if the visitor stops.

    ``doing`` is the label of the progress bar.
    """
    if not questions:
        return []
    mark = f"{questions[0].key}:{len(questions)}"
    return [ask(questions[at]) for at in stoppable_steps(mark, len(questions), doing)]


STATES = "scoring_states"
ASKED = "scoring_asked"
UNASKED = 300  # Maximum number of texts that are scored without confirmation.
MOST_STATES = 8  # Maximum number in a session; a state takes about 100 kB, or a few MB for thousands of sentences.


def may_begin(key: str, many: int, label: str) -> bool:
    """Return True if a computation with ``many`` texts may start; otherwise draw a start button.

    It may start if it has at most UNASKED texts, or if the visitor has clicked the button. ``key`` identifies the
    computation, and ``label`` is the text of the button.
    """
    asked: set[str] = st.session_state.setdefault(ASKED, set())
    if many <= UNASKED or key in asked:
        return True
    help = _("The run can be stopped and continued.")
    st.button(label, type="primary", on_click=asked.add, args=(key,), help=help)
    return False


def run_scoring(run: ScoringRun, doing: str) -> ScoringState:
    """Score heads on a corpus with a progress bar; return the state, incomplete if the visitor stops.

    ``doing`` is the label of the progress bar. Raise UserError if a request fails, or if the model does not know the
    words of most texts. The session stores the state, so that only the rest is computed if the work continues.
    """
    states: dict[str, ScoringState] = st.session_state.setdefault(STATES, {})
    state = states.pop(run.key, None) or ScoringState(run.key)
    states[run.key] = state  # Dictionaries keep insertion order: the newest is last.
    while len(states) > MOST_STATES:
        states.pop(next(iter(states)))
    steps = score(get_backend(), run, state, get_backend().settings.forwards)
    loaded = get_backend().status(run.model, run.revision) == "loaded"
    first = _("Scoring every head") if loaded else _("Loading the model")
    for at in stoppable_steps(run.key, len(run.batches()), doing):
        while state.done <= at:  # Another run of the page may have completed this step meanwhile.
            in_time = cancellation.limit_request(get_backend().settings.answer_seconds)
            with nullcontext() if at else st.spinner(first, show_time=True), in_time:
                next(steps)
    if state.unreadable:
        raise UserError(state.unreadable)
    return state


def finished_state(run: ScoringRun) -> ScoringState | None:
    """Return the completed state of a scoring run of this session, or None; compute nothing."""
    state: ScoringState | None = st.session_state.get(STATES, {}).get(run.key)
    return state if state is not None and state.done == len(run.batches()) else None
