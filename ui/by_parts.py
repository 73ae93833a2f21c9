"""Many short questions in a row: how far it is, and a way to stop that loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TypeVar

import streamlit as st

from inference.questions.question import Answer, PredictRequest
from ui.refusals import say
from ui.shelf import backend

Told = TypeVar("Told")
STOPPED, DONE = "stopped_questions", "answered_questions"
PATIENCE = 0.5  # seconds before the bar is shown


def by_parts(questions: Sequence[PredictRequest[Answer]], doing: str) -> list[Answer]:
    """The answers in order; fewer when the reader has stopped, which is said with a way to go on. Raises Refusal."""
    return one_by_one(questions, doing, lambda question: backend().predict(question))


def one_by_one(
    questions: Sequence[PredictRequest[Answer]], doing: str, ask: Callable[[PredictRequest[Answer]], Told]
) -> list[Told]:
    """The same with what ``ask`` makes of each question.

    What was answered is kept by the backend, so that going on, or coming back, asks for the rest only.
    """
    if not questions:
        return []
    mark = f"{questions[0].key}:{len(questions)}"
    most = st.session_state.setdefault(STOPPED, {}).get(mark, len(questions))
    place, begun, bar = st.empty(), monotonic(), None
    found: list[Told] = []
    for at, question in enumerate(questions[:most]):
        if bar is None and monotonic() - begun > PATIENCE:
            with place.container(horizontal=True, vertical_alignment="center"):
                bar = st.progress(0.0)
                st.button("Stop", key=f"stop_{mark}", on_click=_stop, args=(mark,), help="What is done is kept")
        if bar is not None:
            bar.progress(at / len(questions), text=f"{doing}: {at} of {len(questions)}")
        found.append(ask(question))
        st.session_state[DONE] = (mark, at + 1)
    place.empty()
    if most < len(questions):
        say(f"Stopped after {most} of {len(questions)} steps; this is what is known so far.", "status")
        st.button("Go on", key=f"go_on_{mark}", on_click=_go_on, args=(mark,), help="Continue where it was")
    return found


def _stop(mark: str) -> None:
    done_mark, done = st.session_state.get(DONE, (mark, 0))
    st.session_state[STOPPED][mark] = done if done_mark == mark else 0


def _go_on(mark: str) -> None:
    st.session_state[STOPPED].pop(mark, None)
