"""Answers of bundled lessons, absent from the page before the reader answers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from i18n import translate
from lessons.answer_key import CheckContext, CheckedAnswer
from lessons.checks import truth
from lessons.library import ORDER, come_along, pack_lesson
from lessons.schema import LessonStep
from lessons.steps import RESULTS, STRONGEST, VIEW
from tests.support.asking import asked, go, notes, press
from tests.support.cases import loop_over
from tests.support.clicking import picture
from ui.pages.lessons.views import empty_view, is_drawn, offers_head, shows_answer, withheld_part

QUESTIONS = [
    (name, at)
    for name in ORDER
    for at, step in enumerate(come_along()[name].steps)
    if step.question is not None and step.question.kind != "text"
]
MAPS = ("headlight_explore",)


def step_of(name: str, at: int) -> LessonStep:
    return come_along()[name].steps[at]


def right(step: LessonStep) -> CheckedAnswer | None:
    """Return the computed answer, or None if the lesson's file states it."""
    question = step.question
    assert question is not None
    return truth(question.check, reading(step)) if question.check is not None else None


def reading(step: LessonStep) -> CheckContext:
    return empty_view(step.view).asked


def maps(page: AppTest) -> dict[str, Any] | None:
    """Return the data of the attention component, or None if the page has none."""
    names = [part.proto.component_name for part in page.get("bidi_component")]
    return picture(page) if any(name in MAPS for name in names) else None


def links(page: AppTest) -> list[str]:
    """Return the labels of the links to a state of a view."""
    return [link.proto.label for link in page.get("page_link") if link.proto.query_string]


def said(page: AppTest) -> str:
    """Return all texts of the page except the question's own choices."""
    texts = [one.value for kind in (page.markdown, page.caption, page.header, page.subheader) for one in kind]
    return "\n".join([*texts, *notes(page), *notes(page, "refusal")])


@pytest.mark.slow
def questions_of(name: str) -> list[int]:
    """Return the steps of a lesson that have a question."""
    return [at for lesson, at in QUESTIONS if lesson == name]


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDER)
def test_an_answer_is_not_on_the_page_before_it_is_given(subtests: pytest.Subtests, name: str) -> None:
    for at in questions_of(name):
        with subtests.test(name=name, at=at):
            step, page = step_of(name, at), asked("lessons", lesson=name, step=at)
            question, found = step.question, right(step_of(name, at))
            assert question is not None
            assert not page.exception
            text = said(page)
            assert question.reveal.in_language("en") not in text
            assert "Show the answer" not in [button.label for button in page.button]
            seen = maps(page)
            if question.kind == "head":
                assert found is not None
                assert seen is not None
                assert (seen["selection"]["layer"], seen["selection"]["head"]) != found.answer
                assert seen["asks_head"], "the strongest head is not offered"
                assert "Open Attention heads" not in links(page), "it offers this head"
                continue
            if seen is not None:
                assert seen["quiet"], "no sentence, no shades, no list of links"
                assert seen["selection"]["target"] is None
            if found is None:
                continue
            assert translate(found.said) not in text
            if question.kind == "number":
                given = step.text.in_language("en") + question.ask.in_language("en")
                for number in set(re.findall(r"\d+\.\d+", text)) - set(re.findall(r"\d+\.\d+", given)):
                    assert abs(float(number) - float(found.answer)) > 0.005, number  # type: ignore[arg-type]
            if step.view is not None and step.view.page == "masked_words" and question.check.check != "dropout_values":  # type: ignore[union-attr]
                assert page.get("plotly_chart") == []


def test_no_step_asks_for_clicks_that_show_nothing(subtests: pytest.Subtests) -> None:
    """A click on a word shows nothing while results are withheld, and answers a question for a token."""
    for name, at in QUESTIONS:
        with subtests.test(name=name, at=at):
            step = step_of(name, at)
            assert step.question is not None
            if withheld_part(step) == RESULTS:
                assert "click" not in step.text.in_language("en").lower().split()
                assert "点" not in step.text.in_language("zh")


def test_a_view_that_prints_the_sought_number_is_withheld() -> None:
    assert [withheld_part(step_of("break_head", at)) for at in range(4)] == [VIEW] * 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDER)
def test_the_view_is_whole_after_the_first_answer(subtests: pytest.Subtests, name: str) -> None:
    for at in [at for at in questions_of(name) if withheld_part(step_of(name, at))]:
        with subtests.test(name=name, at=at):
            step, page = step_of(name, at), asked("lessons", lesson=name, step=at)
            held, slot = withheld_part(step), f"lesson_{name}_{at}"
            assert step.question is not None
            kind = step.question.kind
            waits = any("opens after your first answer" in note for note in notes(page))
            assert step.view is not None
            assert waits is (held == VIEW and is_drawn(step.view))
            assert held != VIEW or not links(page)
            if kind == "choice":
                page.radio(key=f"{slot}_choice").set_value(step.question.choices[0][0])
            elif kind == "number":
                page.text_input(key=f"{slot}_number").set_value("987")
            elif kind == "word":
                page.text_input(key=f"{slot}_word").set_value("zzz")
            else:
                next(box for box in page.selectbox if str(box.key).startswith(slot)).set_value(1)
            press(page, "Check")
            if kind in ("head", "token") and "Show the answer" in [button.label for button in page.button]:
                hidden = "asks_head" if kind == "head" else "quiet"
                assert hidden in (maps(page) or hidden), "a wrong answer does not open the right head or token"
                press(page, "Show the answer")
            assert not page.exception
            assert not any("opens after your first answer" in note for note in notes(page))
            seen = maps(page)
            assert seen is None or "quiet" not in seen
            assert seen is None or ("asks_head" in seen) is asks_later(name, at)
            # A view that the lesson does not draw opens by its link.
            assert seen is not None or held == RESULTS or page.get("plotly_chart") or links(page)


def asks_later(name: str, at: int) -> bool:
    """Return True if a later step asks for a head of the maps of this step."""
    steps = come_along()[name].steps
    return any(offers_head(steps[at], step) for step in steps[at + 1 :] if withheld_part(step) == STRONGEST)


@pytest.mark.slow
def test_earlier_steps_do_not_offer_the_head_of_a_later_question() -> None:
    sought = next(at for at, step in enumerate(come_along()["it_and_animal"].steps) if withheld_part(step) == STRONGEST)
    assert sought == 2
    page = asked("lessons", lesson="it_and_animal", step=sought)
    for at in range(sought):
        go(page, "lessons", lesson="it_and_animal", step=str(at))
        assert (maps(page) or {}).keys() & {"asks_head", "quiet"}, at
    go(page, "lessons", lesson="it_and_animal", step=str(sought))
    for name, value in {"layer": 3, "head": 1}.items():
        next(box for box in page.selectbox if str(box.key).endswith(f"_{name}")).set_value(value).run()
    press(page, "Check")
    assert "Right." in notes(page)
    assert not (maps(page) or {}).keys() & {"asks_head", "quiet"}
    assert "asks_head" not in (maps(go(page, "lessons", lesson="it_and_animal", step="0")) or {"asks_head": True})


@pytest.mark.slow
@loop_over("name", ORDER)
def test_no_step_opens_on_a_head_that_is_still_to_be_found(name: str) -> None:
    steps = come_along()[name].steps
    sought = {at: right(step).answer for at, step in enumerate(steps) if step.question and step.question.kind == "head"}  # type: ignore[union-attr]
    for at in range(max(sought, default=-1) + 1):
        seen = maps(asked("lessons", lesson=name, step=at))
        if seen is not None:
            opened = (seen["selection"]["layer"], seen["selection"]["head"])
            assert opened not in {answer for later, answer in sought.items() if later >= at}, at


@pytest.mark.slow
def test_no_step_opens_on_the_row_that_a_later_step_asks_about() -> None:
    pairs = [
        (name, at, later)
        for name, lesson in come_along().items()
        for later, asking in enumerate(lesson.steps)
        for at, step in enumerate(lesson.steps[:later])
        if shows_answer(step, asking)
    ]
    assert pairs == []
    assert shows_answer(step_of("attention", 6), step_of("attention", 5)), "the same row of the same head"


@pytest.mark.parametrize("name", ORDER)
def test_no_lesson_divides_by_the_length_of_a_vector(name: str) -> None:
    for step in come_along()[name].steps:
        assert "vectors' length" not in step.text.in_language("en")
        assert "向量长度的平方根" not in step.text.in_language("zh")


GAP = """
title = "Gap"
minutes = 5
[[step]]
title = "Guess"
text = "Read the sentence and guess."
[step.view]
link = "/masked_words?text=The cat drank the [MASK] at noon."
[step.question]
kind = "word"
ask = "Which word does the model guess?"
right = "milk"
"""


@pytest.mark.slow
def test_the_text_of_a_withheld_view_is_on_the_page() -> None:
    page = asked("lessons", lesson="own", carried=str(pack_lesson(GAP)))
    text = "The cat drank the [MASK] at noon."
    assert notes(page).count(text) == 1
    assert any("opens after your first answer" in note for note in notes(page))
    assert page.get("plotly_chart") == []
    own = GAP.replace("[step.question]", "yours = true\n[step.question]")
    page = asked("lessons", lesson="own", carried=str(pack_lesson(own)))
    assert text not in notes(page), "the box of the reader's own text has it"
