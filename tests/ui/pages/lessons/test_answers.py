"""A reload keeps the answers to a lesson."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, press
from ui.run.current_lesson import OWN
from ui.state import visitor_values


@pytest.mark.slow
def test_a_reload_keeps_answers_until_they_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor_values, "cookie", lambda: "r" * 22)
    field, query = "lesson_attention_1_number", {"lesson": "attention", "step": 1}
    page = asked("lessons", **query)
    page.text_input(key=field).set_value("5")
    press(page, "Check")
    page = asked("lessons", **query)  # A new session of the same browser.
    assert page.text_input(key=field).value == "5"
    assert page.session_state["lesson_answers"]["attention", 1].right
    page.session_state["worksheet"] = True  # The button is in a part that opens on a click.
    page.run().button(key="lesson_forget").click().run()
    assert page.text_input(key=field).value == ""
    assert asked("lessons", **query).text_input(key=field).value == ""


@pytest.mark.slow
def test_answers_to_the_own_lesson_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The own lesson may change, and an answer is stored by its step."""
    monkeypatch.setattr(visitor_values, "cookie", lambda: "o" * 22)
    page = asked("lessons", lesson=OWN, step=1)
    page.text_input(key=f"lesson_{OWN}_1_number").set_value("5")
    press(page, "Check")
    assert (OWN, 1) in page.session_state["lesson_answers"]
    assert not asked("lessons", lesson=OWN, step=1).session_state["lesson_answers"]


@pytest.mark.slow
def test_a_draft_that_was_not_kept_is_back_on_its_step() -> None:
    page = asked("lessons", lesson="attention", step=9)
    page.text_area(key="lesson_attention_9_text").set_value("Head 3-1.").run()
    assert not page.session_state["lesson_answers"]["attention", 9].tries
    assert any(one.label.startswith("Worksheet: 1 of") for one in page.expander)
    page.button(key="lesson_next").click().run()
    page.radio(key="lesson_attention_10_choice").set_value("value").run()
    page.button(key="lesson_back").click().run()
    assert page.text_area(key="lesson_attention_9_text").value == "Head 3-1."
    page.button(key="lesson_next").click().run()
    assert page.radio(key="lesson_attention_10_choice").value == "value"
