"""Many questions in a row: in order, stoppable, and what was answered is not asked again."""

from __future__ import annotations

from ast import literal_eval
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inference.settings import Settings
from ui.run import many_questions, progress


def page() -> None:
    import streamlit as st

    from inference.tasks.next_sentence import NextSentence
    from ui.run.many_questions import ask_many

    questions = [NextSentence(text=str(at), pair="b") for at in range(7)]
    st.text(f"answers: {ask_many(questions, 'Judging')}")
    st.text(f"none: {ask_many([], 'Judging')}")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    def predict(question: SimpleNamespace) -> str:
        text: str = question.text
        asked.append(text)
        return text

    monkeypatch.setattr(many_questions, "get_backend", lambda: SimpleNamespace(predict=predict))
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    return asked


@pytest.mark.usefixtures("asked")
def test_all_answers_in_order() -> None:
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert app.text[0].value == f"answers: {[str(at) for at in range(7)]}"
    assert app.text[1].value == "none: []"
    assert not app.button, "nothing to stop any more"


@pytest.mark.usefixtures("asked")
def test_stopped_and_gone_on() -> None:
    app = AppTest.from_function(page).run()
    mark, done = app.session_state[progress.DONE]
    assert done == 7
    app.session_state[progress.DONE] = (mark, 3)
    app.session_state[progress.STOPPED][mark] = 3  # what the button's callback writes in the middle of a run
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


@pytest.mark.usefixtures("asked")
def test_where_work_goes_on_only_so_long_it_waits_for_its_reader_and_always_gets_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = count()  # one passes whenever the clock is read
    monkeypatch.setattr(progress, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(progress, "get_backend", lambda: SimpleNamespace(settings=Settings(at_a_stretch=5.5)))
    app = AppTest.from_function(page).run()
    seen = [len(literal_eval(app.text[0].value.removeprefix("answers: ")))]
    while app.button:
        app.button[0].click().run()
        seen.append(len(literal_eval(app.text[0].value.removeprefix("answers: "))))
    assert not app.exception
    assert seen == sorted(set(seen))
    assert (len(seen) > 1, seen[-1]) == (True, 7)
