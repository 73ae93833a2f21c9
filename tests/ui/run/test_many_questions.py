"""Sequences of queries: order, cancellation, and reuse of answers."""

from __future__ import annotations

from ast import literal_eval
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inference.settings import Settings
from ui.run import progress


def page() -> None:
    import streamlit as st

    from inference.tasks.predictions import NextSentence
    from ui.run.progress import ask_many

    questions = [NextSentence(text=str(at), pair="b") for at in range(7)]
    st.text(f"answers: {ask_many(questions, 'Judging')}")
    st.text(f"none: {ask_many([], 'Judging')}")


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    def predict(question: SimpleNamespace) -> str:
        text: str = question.text
        return text

    backend = SimpleNamespace(predict=predict, settings=Settings())
    monkeypatch.setattr(progress, "get_backend", lambda: backend)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    return backend


@pytest.mark.usefixtures("backend")
def test_all_answers_in_order() -> None:
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert app.text[0].value == f"answers: {[str(at) for at in range(7)]}"
    assert app.text[1].value == "none: []"
    assert not app.button, "nothing to stop any more"


@pytest.mark.usefixtures("backend")
def test_stopped_and_gone_on() -> None:
    app = AppTest.from_function(page).run()
    mark, done = app.session_state[progress.DONE]
    assert done == 7
    app.session_state[progress.DONE] = (mark, 3)
    app.session_state[progress.STOPPED][mark] = 3  # The callback of the button writes this state during a run.
    app.run()
    assert app.text[0].value == "answers: ['0', '1', '2']"
    assert [button.label for button in app.button] == ["Go on"]
    app.button[0].click().run()
    assert app.text[0].value == f"answers: {[str(at) for at in range(7)]}"


def test_the_stop_button_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {progress.DONE: ("m", 4), progress.STOPPED: {}}
    monkeypatch.setattr(progress, "st", SimpleNamespace(session_state=state))
    progress.stop("m")
    assert state[progress.STOPPED] == {"m": 4}
    progress.stop("another")
    assert state[progress.STOPPED]["another"] == 0
    progress.go_on("m")
    assert "m" not in state[progress.STOPPED]


def test_where_work_goes_on_only_so_long_it_waits_for_its_reader_and_always_gets_further(
    monkeypatch: pytest.MonkeyPatch, backend: SimpleNamespace
) -> None:
    seconds = count()  # The clock advances by a second at each reading.
    monkeypatch.setattr(progress, "monotonic", lambda: next(seconds))
    backend.settings = Settings(at_a_stretch=5.5)
    app = AppTest.from_function(page).run()
    seen = [len(literal_eval(app.text[0].value.removeprefix("answers: ")))]
    while app.button:
        app.button[0].click().run()
        seen.append(len(literal_eval(app.text[0].value.removeprefix("answers: "))))
    assert not app.exception
    assert seen == sorted(set(seen))
    assert (len(seen) > 1, seen[-1]) == (True, 7)
