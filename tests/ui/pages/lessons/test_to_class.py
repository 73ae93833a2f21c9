"""A lesson's question goes to a class with what the model answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from classroom.store import Store
from lessons.library import come_along
from lessons.schema import Question, Said
from lessons.truth import Truth
from tests.support.asking import asked as page_of
from tests.support.asking import go, press
from ui.pages.lessons.to_class import asked
from ui.pages.lessons.views import unseen
from ui.run import classes
from ui.run.teaching import NOBODY, known_as
from wording import sentence

NOTHING = sentence("")
ASK = Said((("", "Which?"),))


def test_each_kind_is_asked_as_a_class_answers_it() -> None:
    choice = Question("choice", ASK, choices=(("a", Said((("", "left"),))), ("b", Said((("", "right"),)))))
    seen = unseen(None)
    made = asked(choice, Truth("b", NOTHING), seen)
    assert (made.kind, made.options, made.truth) == ("choice", ("left", "right"), "right")
    made = asked(Question("head", ASK), Truth((3, 1), NOTHING), seen)
    assert (made.kind, made.truth) == ("head", "3.1")
    made = asked(Question("number", ASK), Truth(0.68, NOTHING, tolerance=0.01), seen)
    assert (made.kind, made.truth, made.tolerance) == ("number", "0.68", 0.01)
    made = asked(Question("word", ASK), Truth("animal", NOTHING), seen)
    assert (made.kind, made.truth) == ("word", "animal")
    assert [asked(Question(kind, ASK), None, seen).kind for kind in ("text", "token", "word")] == [
        "text",
        "word",
        "word",
    ]


def test_a_teacher_asks_it_from_the_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Store(tmp_path / "rooms.sqlite")
    monkeypatch.setattr(classes, "_store", lambda _file: made)
    desk = page_of("classroom")
    press(desk, "Open a room")
    code = desk.metric[0].value
    steps = come_along()["it_and_animal"].steps
    at = next(number for number, step in enumerate(steps) if step.question and step.question.kind == "choice")
    desk.query_params.update({"lesson": "it_and_animal", "step": str(at)})
    go(desk, "lessons")
    press(desk, f"Ask class {code} this")
    board = made.board(code, known_as(desk.session_state[NOBODY]))
    (question,) = board.questions
    assert question.kind == "choice"
    assert question.truth in question.options
    assert not desk.exception


def test_who_teaches_no_class_has_no_such_button() -> None:
    page = page_of("lessons", lesson="it_and_animal", step=1)
    assert not [button for button in page.button if button.key == "lesson_to_class"]
