"""All lessons completed without a browser, in both languages, with wrong and right answers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from i18n import _, translate, use_language
from lessons.checks import truth
from lessons.library import ORDER, come_along
from lessons.schema import Answer, LessonQuestion, LessonStep
from lessons.steps import right_answer
from tests.support.asking import asked, notes, press
from tests.support.words import english
from ui.pages.lessons.answers import NOT_YET
from ui.pages.lessons.views import empty_view
from ui.state.session import CHOICE
from ui.state.view_state import EXAMPLES

READ = [text for example in EXAMPLES for text in (example["text"], example.get("pair", "")) if text]
NUMBERED = next(  # a question whose answer is the index of a token
    at
    for at, step in enumerate(come_along()["attention"].steps)
    if step.question is not None and step.question.kind == "token"
)
WRONG: dict[str, Any] = {"number": 987.0, "word": "zzz", "head": (0, 0), "token": 1, "text": "I do not know."}


def pressed(page: AppTest, slot: str) -> None:
    """Press the button of that key, in any language."""
    (button,) = (button for button in page.button if button.key == slot)
    button.click().run()


def answer(page: AppTest, slot: str, question: LessonQuestion, given: Any) -> None:
    """Fill in the control of a question and check the answer."""
    if question.kind == "choice":
        page.radio(key=f"{slot}_choice").set_value(given)
    elif question.kind == "number":
        page.text_input(key=f"{slot}_number").set_value(str(given))
    elif question.kind in ("head", "token"):
        boxes = [box for box in page.selectbox if str(box.key).startswith(slot)]
        for box, value in zip(boxes, given if isinstance(given, tuple) else (given,), strict=True):
            box.set_value(value)
    elif question.kind == "word":
        page.text_input(key=f"{slot}_word").set_value(given)
    else:
        page.text_area(key=f"{slot}_text").set_value(given)
    pressed(page, f"{slot}_check")


def right(step: LessonStep) -> Answer | None:
    question = step.question
    if question is None or question.check is None:
        return None if question is None else question.right
    return truth(question.check, empty_view(step.view).asked).answer


def wrong(question: LessonQuestion, correct: Answer | None) -> Answer:
    if question.kind == "choice":
        return next(key for key, _text in question.choices if key != correct)
    other: Answer = WRONG[question.kind]
    return other if other != correct else (1, 1) if question.kind == "head" else 0


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ORDER)
def test_a_lesson_is_played_to_its_end(name: str, language: str) -> None:
    with use_language(language):  # AppTest reads the names of options outside the page's run.
        play(name, language)


def play(name: str, language: str) -> None:
    """Complete all steps with a wrong answer, then the hints, then the right answer."""
    yes, not_yet, kept = _("Right."), translate(NOT_YET), _("Kept for your worksheet.")
    lesson = come_along()[name]
    page = asked("lessons", lang=language, lesson=name)
    for at, step in enumerate(lesson.steps):
        assert not page.exception
        assert notes(page, "refusal") == []
        assert language == "en" or english(page, *READ, *dict(step.view.query if step.view else ()).values()) == []
        assert page.subheader[0].value == step.title.in_language(language).replace("![", "!\\[")
        if (question := step.question) is not None:
            slot, correct = f"lesson_{name}_{at}", right(step)
            answer(page, slot, question, wrong(question, correct))
            assert (kept if correct is None else not_yet) in notes(page)
            for hint in question.hints:
                pressed(page, f"{slot}_hint")
                assert any(hint.in_language(language) in one.value for one in page.markdown)
            if correct is not None:
                assert question.reveal.in_language(language) not in [one.value for one in page.markdown]
                answer(page, slot, question, correct)
                assert yes in notes(page)
            if question.reveal:
                assert question.reveal.in_language(language) in [one.value for one in page.markdown]
            assert not page.exception
        if at < len(lesson.steps) - 1:
            onward = next(button for button in page.button if button.proto.shortcut == "alt+pagedown")
            onward.click().run()
            assert page.query_params["step"] == [str(at + 1)] or page.query_params["step"] == str(at + 1)
    sheet = next(one.label for one in page.expander if one.label.startswith(("Worksheet", "学习单")))
    questions = sum(step.question is not None for step in lesson.steps)
    assert [int(number) for number in re.findall(r"\d+", sheet)] == [questions, questions]


@pytest.mark.slow
def test_only_check_gives_a_verdict() -> None:
    page, verdicts = asked("lessons", lesson="attention", step="1"), {str(NOT_YET), "Right."}
    for typed, verdict in (("7", str(NOT_YET)), ("5", "Right.")):
        page.text_input(key="lesson_attention_1_number").set_value(typed).run()  # The reader leaves the field.
        assert not verdicts & set(notes(page))
        pressed(page, "lesson_attention_1_check")
        assert verdicts & set(notes(page)) == {verdict}
        assert any(expander.label.startswith("Worksheet: 1 of") for expander in page.expander)  # A wrong answer, too.
    pressed(page, "lesson_attention_1_check")
    assert verdicts & set(notes(page)) == {"Right."}
    assert page.session_state["lesson_answers"]["attention", 1].tries == 2  # The same answer is not another try.


@pytest.mark.slow
def test_a_solved_question_stays_solved_after_a_wrong_answer() -> None:
    page, question = asked("lessons", lesson="attention", step="1"), come_along()["attention"].steps[1].question
    assert question is not None
    for typed in ("5", "7"):
        page.text_input(key="lesson_attention_1_number").set_value(typed)
        pressed(page, "lesson_attention_1_check")
        assert question.reveal.in_language("en") in [one.value for one in page.markdown]
    assert "Not right." in notes(page), "the answer is below, so there is nothing to try again"
    assert str(NOT_YET) not in notes(page)


@pytest.mark.slow
def test_a_percentage_is_accepted_for_a_share() -> None:
    name, at = next(
        (name, at)
        for name, lesson in come_along().items()
        for at, step in enumerate(lesson.steps)
        if step.question is not None and step.question.kind == "number" and _is_share(step)
    )
    page = asked("lessons", lesson=name, step=str(at))
    share = _number(come_along()[name].steps[at])
    page.text_input(key=f"lesson_{name}_{at}_number").set_value(f"{100 * share:g}")
    pressed(page, f"lesson_{name}_{at}_check")
    assert "Right." in notes(page)
    assert any(f"{share:g}." in note for note in notes(page))


@pytest.mark.slow
def test_a_percentage_is_refused_for_a_number_of_bits() -> None:
    name, at = "claims_attention", 3
    assert come_along()[name].steps[at].question.check.check == "mean_entropy"  # type: ignore[union-attr]
    page = asked("lessons", lesson=name, step=str(at))
    page.text_input(key=f"lesson_{name}_{at}_number").set_value("7")  # 0.07 would be within the tolerance.
    pressed(page, f"lesson_{name}_{at}_check")
    assert str(NOT_YET) in notes(page)


def _number(step: LessonStep) -> float:
    correct = right(step)
    return correct if isinstance(correct, float) else 0.0


def _is_share(step: LessonStep) -> bool:
    assert step.question is not None
    found = right_answer(step.question, empty_view(step.view).asked)
    return found is not None and found.is_share


@pytest.mark.slow
def test_the_last_step_leads_to_the_next_lesson() -> None:
    names = list(come_along())
    first = come_along()[names[0]]
    page = asked("lessons", lesson=names[0], step=str(len(first.steps) - 2))
    pressed(page, "lesson_end_next")
    assert any(len(re.findall(r"\d+", note)) == 2 for note in notes(page))
    pressed(page, "lesson_following")
    assert page.query_params["lesson"] in (names[1], [names[1]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "at", "changed"),
    [
        ("translation", 4, {"part": "encoder"}),
        ("claims_translation", 2, {"part": "decoder"}),
        ("attention", NUMBERED, {"words": True, "special": False}),
    ],
)
def test_another_view_leaves_the_answer_to_the_question(name: str, at: int, changed: dict[str, Any]) -> None:
    step, slot = come_along()[name].steps[at], f"lesson_{name}_{at}"
    page = asked("lessons", lesson=name, step=str(at))
    page.session_state[CHOICE] = replace(page.session_state[CHOICE], **changed)
    page.run()
    assert step.question is not None
    assert {name: getattr(page.session_state[CHOICE], name) for name in changed} == changed
    answer(page, slot, step.question, right(step))
    assert "Right." in notes(page)


@pytest.mark.slow
def test_another_choice_removes_the_verdict() -> None:
    page = asked("lessons", lesson="attention", step="3")
    choice = page.radio(key="lesson_attention_3_choice")
    choice.set_value("same")
    pressed(page, "lesson_attention_3_check")
    assert str(NOT_YET) in notes(page)
    choice.set_value("larger").run()
    assert str(NOT_YET) not in notes(page)


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDER)
def test_the_teacher_s_page_answers_every_question(name: str) -> None:
    page = asked("lessons", lesson=name, show="teacher")
    assert not page.exception
    assert notes(page, "refusal") == []
    lesson = come_along()[name]
    checked = sum(step.question is not None and right(step) is not None for step in lesson.steps)
    assert len(notes(page)) == checked


@pytest.mark.slow
@pytest.mark.parametrize("query", [{}, {"lesson": "own", "show": "write"}, {"lesson": ORDER[0], "show": "teacher"}])
def test_nothing_is_left_in_english(query: dict[str, str]) -> None:
    page = asked("lessons", lang="zh", **query)
    read = [str(one.value) for one in page.text_area]
    assert english(page, *read) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "typed"), [(6, "100%"), (6, "1"), (6, "100"), (2, "0,849"), (2, "84.9 %"), (2, "３/4 + "), (2, "0,849x")]
)
def test_numbers_are_read_as_they_are_written(at: int, typed: str) -> None:
    page = asked("lessons", lesson="attention", step=str(at))
    page.text_input(key=f"lesson_attention_{at}_number").set_value(typed)
    pressed(page, f"lesson_attention_{at}_check")
    if typed[-1] in "0123456789%":
        assert "Right." in notes(page)
        return
    (refusal,) = notes(page, "refusal")
    assert "is not a number" in refusal
    assert page.text_input(key=f"lesson_attention_{at}_number").value == typed
    assert not page.session_state["lesson_answers"]["attention", at].tries


@pytest.mark.slow
def test_a_verdict_is_on_the_answer_in_the_field() -> None:
    page = asked("lessons", lesson="attention", step="2")
    key = ("attention", 2)
    page.text_input(key="lesson_attention_2_number").set_value("0.849")
    pressed(page, "lesson_attention_2_check")
    assert "Right." in notes(page)
    page.session_state["lesson_answers"][key] = replace(page.session_state["lesson_answers"][key], revealed=True)
    for typed, is_right in (("abc", False), ("0.849", True)):
        page = page.text_input(key="lesson_attention_2_number").set_value(typed).run()
        assert ("Right." in notes(page)) is is_right, typed


@pytest.mark.slow
def test_a_percentage_with_its_sign_answers_a_question_in_per_cent() -> None:
    name, at = next(
        (name, at)
        for name, lesson in come_along().items()
        for at, step in enumerate(lesson.steps)
        if step.question is not None and step.question.check is not None and step.question.check.check == "guess_chance"
    )
    page = asked("lessons", lesson=name, step=str(at))
    chance = _number(come_along()[name].steps[at])
    page.text_input(key=f"lesson_{name}_{at}_number").set_value(f"{chance:g}%")
    pressed(page, f"lesson_{name}_{at}_check")
    assert "Right." in notes(page)


@pytest.mark.slow
def test_a_head_that_nobody_chose_is_not_an_answer() -> None:
    page, slot = asked("lessons", lesson="it_and_animal", step=2), "lesson_it_and_animal_2"

    def picked() -> list[Any]:
        return [box.value for box in page.selectbox if str(box.key).startswith(slot)]

    press(page, "Check")
    assert "Answer first: pick or type." in notes(page)
    assert (picked(), translate(NOT_YET) in notes(page)) == ([None, None], False)
    next(box for box in page.selectbox if str(box.key).endswith("_layer")).set_value(0).run()
    assert picked() == [0, 0], "the view's own head is an answer, too"
    press(page, "Check")
    assert translate(NOT_YET) in notes(page)


@pytest.mark.slow
def test_links_to_views_of_equal_title_have_different_names() -> None:
    at = next(
        at for at, step in enumerate(come_along()["claims_families"].steps) if step.view and len(step.view.also) > 1
    )
    page = asked("lessons", lesson="claims_families", step=at)
    page.radio(key=f"lesson_claims_families_{at}_choice").set_value("formula")
    press(page, "Check")
    links = [one.proto.label for one in page.main.get("page_link") if one.proto.page == "tokens"]
    assert len(set(links)) == len(links) >= 3
