"""Many questions in a row: in order, stoppable, and what was answered is not asked again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from ui import by_parts, counted


def page() -> None:
    import streamlit as st

    from inference.questions.sentence import NextSentence
    from ui.by_parts import by_parts

    questions = [NextSentence(text=str(at), pair="b") for at in range(7)]
    st.text(f"answers: {by_parts(questions, 'Judging')}")
    st.text(f"none: {by_parts([], 'Judging')}")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    def predict(question: SimpleNamespace) -> str:
        asked.append(question.text)
        return question.text

    monkeypatch.setattr(by_parts, "backend", lambda: SimpleNamespace(predict=predict))
    monkeypatch.setattr(counted, "PATIENCE", -1.0)
    return asked


def test_all_answers_in_order(asked: list[str]) -> None:
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert app.text[0].value == f"answers: {[str(at) for at in range(7)]}"
    assert app.text[1].value == "none: []"
    assert not app.button, "nothing to stop any more"


def test_stopped_and_gone_on(asked: list[str]) -> None:
    app = AppTest.from_function(page).run()
    mark, done = app.session_state[counted.DONE]
    assert done == 7
    app.session_state[counted.DONE] = (mark, 3)
    app.session_state[counted.STOPPED][mark] = 3  # what the button's callback writes in the middle of a run
    app.run()
    assert app.text[0].value == "answers: ['0', '1', '2']"
    assert [button.label for button in app.button] == ["Go on"]
    app.button[0].click().run()
    assert app.text[0].value == f"answers: {[str(at) for at in range(7)]}"


def test_the_stop_button_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    state = {counted.DONE: ("m", 4), counted.STOPPED: {}}
    monkeypatch.setattr(counted, "st", SimpleNamespace(session_state=state))
    counted._stop("m")
    assert state[counted.STOPPED] == {"m": 4}
    counted._stop("another")
    assert state[counted.STOPPED]["another"] == 0
    counted._go_on("m")
    assert "m" not in state[counted.STOPPED]
