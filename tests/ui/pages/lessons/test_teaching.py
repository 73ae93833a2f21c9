"""The teacher's page names the models of its numbers, and is saved as a page to print."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from inference import EMBEDDED
from lessons.library import ORDER, come_along, pack_lesson
from tests.support.asking import asked, notes, press
from tests.support.savedfiles import Saved


def computed(page: AppTest) -> list[str]:
    """Return the sentences of a key that name the models of its answers."""
    return [one.value.replace("\\", "") for one in page.markdown if one.value.startswith("Computed by ")]


@pytest.mark.slow
def test_the_key_names_its_model_and_is_saved_with_its_answers(saved: Saved) -> None:
    page = asked("lessons", lesson="attention", show="teacher")
    assert not page.exception
    [said] = computed(page)
    assert EMBEDDED in said
    assert "6, 8 and 9" in said  # the others are typed, or need no model
    paper = saved(page, "Page to print")
    assert "<blockquote>animal" in paper
    assert paper.count("<h2>") == len(page.subheader)
    assert "print()" in paper
    choices = [
        text for step in come_along()["attention"].steps if step.question for _key, text in step.question.choices
    ]
    assert all(f"<li>{text.in_language('en')}" in paper for text in choices)
    assert "<th>it →</th>" in paper, "the tables of the worksheet"


def test_a_step_says_that_other_models_give_other_numbers() -> None:
    page = asked("lessons", lesson="attention", step=5)
    (caption,) = (one for one in page.caption if EMBEDDED in one.value.replace("\\", ""))
    assert caption.help


@pytest.mark.slow
def test_a_lesson_without_notes_has_a_key_to_print(saved: Saved) -> None:
    page = asked("lessons", lesson="claims_attention")
    press(page, "For the teacher")
    assert [one.value for one in page.subheader] == ["Expected answers"]
    asked_steps = [step for step in come_along()["claims_attention"].steps if step.question is not None]
    paper = saved(page, "Page to print")
    assert paper.count("<blockquote>") == len(asked_steps)


@pytest.mark.slow
def test_the_template_has_a_key() -> None:
    page = asked("lessons", lesson="own", show="write")
    press(page, "Play it")
    press(page, "For the teacher")
    assert not page.exception
    assert "To one, in every row" in notes(page)
    assert any("45.8%" in said for said in notes(page))


TYPED = """title = "One"
minutes = 5
[[step]]
title = "First"
text = "Look."
[step.view]
link = "/explore?model=all-MiniLM-L6-v2&text=The cat."
[step.question]
kind = "word"
ask = "Which animal?"
right = "cat"
"""


def test_no_model_computes_typed_answers() -> None:
    page = asked("lessons", lesson="own", carried=pack_lesson(TYPED), show="teacher")
    assert "cat" in notes(page)
    assert computed(page) == []


@pytest.mark.slow
def test_the_key_names_the_steps_that_a_model_computes() -> None:
    check = '[[step]]\ntitle = "Next"\ntext = "A"\n[step.question]\nkind = "number"\nask = "How many?"\n'
    text = TYPED + check + '[step.question.check]\nname = "tokens"\ntext = "The cat."\n'
    [said] = computed(asked("lessons", lesson="own", carried=pack_lesson(text), show="teacher"))
    assert "(step numbers: 2)" in said


def test_every_lesson_offers_its_key() -> None:
    keys = {button.key for button in asked("lessons").button}
    assert {f"private_teach_{name}" for name in ORDER} <= keys


@pytest.mark.slow
def test_a_lesson_without_questions_or_notes_has_no_key() -> None:
    text = 'title = "One"\nminutes = 5\n[[step]]\ntitle = "First"\ntext = "Look."\n'
    page = asked("lessons", lesson="own", carried=pack_lesson(text), show="teacher")
    assert not page.exception
    assert "For the teacher" not in {button.label for button in page.button}
    assert "First" in {one.value for one in page.subheader}
