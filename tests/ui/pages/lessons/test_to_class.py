"""Questions of a lesson sent to a class, with the computed answer of the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from classroom.store import Store
from i18n import gettext_lazy
from lessons.answer_key import CheckedAnswer
from lessons.library import come_along
from lessons.schema import LessonQuestion, LocalizedText
from tests.support.asking import asked as page_of
from tests.support.asking import go, press
from ui.pages.lessons.answers import class_question
from ui.pages.lessons.views import empty_view
from ui.run import classes
from ui.run.fine_tuning import NOBODY, hash_cookie

NOTHING = gettext_lazy("")
ASK = LocalizedText((("", "Which?"),))


def test_each_kind_is_asked_as_a_class_answers_it() -> None:
    choice = LessonQuestion(
        "choice", ASK, choices=(("a", LocalizedText((("", "left"),))), ("b", LocalizedText((("", "right"),))))
    )
    seen = empty_view(None)
    made = class_question(choice, CheckedAnswer("b", NOTHING), seen)
    assert (made.kind, made.options, made.truth) == ("choice", ("left", "right"), "right")
    made = class_question(LessonQuestion("head", ASK), CheckedAnswer((3, 1), NOTHING), seen)
    assert (made.kind, made.truth) == ("head", "3.1")
    made = class_question(LessonQuestion("number", ASK), CheckedAnswer(0.68, NOTHING, tolerance=0.01), seen)
    assert (made.kind, made.truth, made.tolerance) == ("number", "0.68", 0.01)
    made = class_question(LessonQuestion("word", ASK), CheckedAnswer("animal", NOTHING), seen)
    assert (made.kind, made.truth) == ("word", "animal")
    assert [class_question(LessonQuestion(kind, ASK), None, seen).kind for kind in ("text", "token", "word")] == [
        "text",
        "word",
        "word",
    ]


def test_a_teacher_asks_it_from_the_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Store(tmp_path / "rooms.sqlite")
    monkeypatch.setattr(classes, "_store", lambda _file: made)
    desk = page_of("classroom")
    press(desk, "Open a class")
    code = desk.metric[0].value
    steps = come_along()["it_and_animal"].steps
    at = next(number for number, step in enumerate(steps) if step.question and step.question.kind == "choice")
    go(desk, "lessons", lesson="it_and_animal", step=str(at))
    press(desk, f"Ask class {code} this")
    board = made.board(code, hash_cookie(desk.session_state[NOBODY]))
    (question,) = board.questions
    assert question.kind == "choice"
    assert question.truth in question.options
    assert not desk.exception


def test_who_teaches_no_class_has_no_such_button() -> None:
    page = page_of("lessons", lesson="it_and_animal", step=1)
    assert not [button for button in page.button if button.key == "lesson_to_class"]
