"""The files that help to write a lesson: they are valid, and name everything that a lesson file may contain."""

from __future__ import annotations

import re

import pytest

from i18n import available_languages, gettext_lazy, translate, use_language
from inference import EMBEDDED
from lessons import library
from lessons.answer_key import CheckedAnswer
from lessons.checks import CHECKS
from lessons.reading import Unreadable, lesson_of
from lessons.schema import KINDS
from lessons.steps import RESULTS, describe_answer, withheld_part


@pytest.mark.parametrize("language", available_languages())
def test_the_template_is_a_lesson_with_right_answers(language: str) -> None:
    with use_language(language):
        text = library.template()
    lesson = lesson_of(text)
    assert {step.question.kind for step in lesson.steps if step.question} == {"choice", "number"}
    assert len(text.splitlines()) < 40
    assert library.is_bundled(text)
    assert not library.is_bundled(f"{text} ")


@pytest.mark.parametrize("language", available_languages())
def test_the_template_s_first_step_holds_before_and_after_its_answer(language: str) -> None:
    """Weights are not shaded before the answer, so the step asks for the answer first; its links name their model."""
    with use_language(language):
        first, last = lesson_of(library.template()).steps
    assert withheld_part(first, "explore") == RESULTS
    text = first.text.in_language(language)
    assert text.index({"en": "Answer first", "zh": "先回答"}[language]) < text.index("**it**")
    assert first.view is not None
    assert last.view is not None
    assert dict(first.view.query)["model"] == dict(last.view.query)["model"] == EMBEDDED


@pytest.mark.parametrize("language", available_languages())
@pytest.mark.parametrize("place", ["", "[[step]]", "[step.view]", "[step.question]", "[teacher]"])
def test_the_format_help_names_every_field(language: str, place: str) -> None:
    with use_language(language):
        said = library.format_help()
    head = 'title = "A"\nminutes = 1\n' if place else ""
    step = '[[step]]\ntitle = "A"\ntext = "A"\n' if place.startswith("[step") else ""
    with pytest.raises(Unreadable) as error:
        lesson_of(f"{head}{step}{place}\nnobody = 1\n")
    (known,) = (
        values["known"] for fault in error.value.faults if (values := fault.reason.values).get("name") == "nobody"
    )
    names = set(re.findall(r"\w+", str(known))) - {"claim", "step", "teacher", "view", "question", "check", "plan"}
    assert names
    assert all(f"`{name}" in said for name in (*names, *KINDS)), names


@pytest.mark.parametrize("language", available_languages())
def test_each_check_has_a_short_help(language: str) -> None:
    with use_language(language):
        found = library.check_help()
    assert found.keys() == CHECKS.keys()
    assert all(found.values())
    assert max(len(said.split()) for said in found.values()) <= 17  # the limit of a tooltip
    for name, said in found.items():
        parameters = {*CHECKS[name].needs, "target"}
        named = set(re.findall(r"`(\w+)`", said))
        assert named <= parameters or name == "positions_are", (name, named)


@pytest.mark.parametrize("language", available_languages())
def test_the_exit_question_does_not_state_an_earlier_answer(language: str) -> None:
    """The answer of step 6 of "attention" is "animal"; a student may open the last step first."""
    last = library.come_along()["attention"].steps[-1]
    assert last.question is not None
    shown = (last.title, last.text, last.question.ask, *(text for _key, text in last.question.choices))
    said = " ".join(text.in_language(language) for text in shown)
    assert re.search("[Ss]tep 6|第 6 步", said)
    assert not re.search("animal|动物", said)


@pytest.mark.parametrize("language", available_languages())
def test_an_answer_ends_in_a_single_full_stop(language: str) -> None:
    questions = [step.question for lesson in library.come_along().values() for step in lesson.steps if step.question]
    with use_language(language):
        for question in questions:
            for key, _text in question.choices:
                said = translate(describe_answer(question, CheckedAnswer(key, gettext_lazy(""))))
                assert not re.search(r"[.。]{2}", said), said


@pytest.mark.parametrize("language", available_languages())
def test_a_question_for_a_mean_states_the_words_that_count(language: str) -> None:
    """A class sees the question without its hints."""
    questions = [step.question for lesson in library.come_along().values() for step in lesson.steps if step.question]
    means = [question for question in questions if question.check is not None and question.check.check == "usual"]
    assert means
    for question in means:
        assert question.check is not None
        ask, given = question.ask.in_language(language), dict(question.check.given)
        assert all(word in ask for word in ("[CLS]", "[SEP]", f"“{given['word']}”", f"“{given['to']}”"))
