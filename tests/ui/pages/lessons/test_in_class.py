"""A teacher's own lesson on the pages of the students who follow."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from classroom.store import Store
from lessons.library import pack_lesson, source
from tests.support.asking import LONGEST, asked, go, notes, press, text_of
from tests.support.repository import ROOT
from ui.pages.lessons import teaching
from ui.run import classes
from ui.run.fine_tuning import NOBODY, hash_cookie
from ui.state.view_state import ViewState

LESSON = (
    'title = "{title}"\nminutes = 5\n[[step]]\ntitle = "First"\ntext = "Look."\n[[step]]\ntitle = "Last"\ntext = "x"\n'
)
CLAIM = "followers see this page"


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return the empty store that replaces the store of classes."""
    made = Store(tmp_path / "rooms.sqlite")
    monkeypatch.setattr(classes, "_store", lambda _file: made)
    return made


def shared_desk() -> tuple[AppTest, str]:
    """Return the page of a teacher who shares the view, and the code of the class."""
    desk = asked("classroom")
    press(desk, "Open a class")
    desk.toggle(key="classroom_leads").set_value(True).run()
    return desk, desk.metric[0].value


def seat_in(rooms: Store, code: str) -> AppTest:
    """Return the first page of a student in the class."""
    rooms.join(code, hash_cookie("a student's"))
    seat = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    seat.session_state[NOBODY] = "a student's"
    return go(seat, "by_hand", **{"class": code})


def play(desk: AppTest, text: str) -> None:
    """Write a lesson in the editor and play it."""
    go(desk, "lessons", lesson="own", show="write")
    desk.text_area(key=teaching.BOX).set_value(text).run()
    press(desk, "Play it")


@pytest.mark.slow
def test_followers_get_the_lesson_that_the_teacher_plays(rooms: Store) -> None:
    desk, code = shared_desk()
    seat = seat_in(rooms, code)
    for title in ("Mine", "Mine, edited"):
        play(desk, LESSON.format(title=title))
        assert any(CLAIM in said for said in notes(desk))
        assert seat.run().header[0].value == desk.header[0].value == title
        press(desk, "Next", key="lesson_next")
        assert seat.run().subheader[0].value == "Last"
    go(desk, "lessons", lesson="break_head", step="3")
    seat.run()
    press(desk, "Next", key="lesson_next")  # To a step with an own text, after another text and another head.
    for follower in (seat.run(), seat_in(rooms, code)):
        assert follower.query_params == desk.query_params
        assert text_of(follower) == text_of(desk) == desk.query_params["text"]
    go(desk, "lessons", lesson="break_head", step="4", text=ViewState().text)
    for follower in (seat.run(), seat_in(rooms, code)):
        assert text_of(follower) == text_of(desk) == ViewState().text


@pytest.mark.slow
def test_followers_keep_their_page_while_the_teacher_writes(rooms: Store) -> None:
    desk, code = shared_desk()
    seat = seat_in(rooms, code)
    play(desk, LESSON.format(title="Mine"))
    press(desk, "Go on writing")
    desk.text_area(key=teaching.BOX).set_value(LESSON.format(title="Half-done")).run()
    assert seat.run().header[0].value == "Mine"
    assert not notes(seat)
    go(desk, "lessons", lesson="own")  # This address lacks the lesson.
    assert any(CLAIM in said for said in notes(desk))
    assert seat.run().header[0].value == desk.header[0].value == "Half-done"


@pytest.mark.slow
def test_a_lesson_too_long_for_a_class_is_not_called_shared(rooms: Store) -> None:
    desk, code = shared_desk()
    seat = seat_in(rooms, code)
    before = seat.title[0].value
    noise = "".join(random.Random(0).choices(string.ascii_letters, k=40_000))
    play(desk, f"{source('it_and_animal')}\n# {noise}")
    assert not desk.exception
    assert any("too long to share" in said for said in notes(desk, "refusal"))
    assert not any(CLAIM in said for said in notes(desk))
    assert seat.run().title[0].value == before


@pytest.mark.slow
def test_a_student_s_own_text_outlasts_the_teacher_s_lessons(rooms: Store) -> None:
    desk, code = shared_desk()
    seat = seat_in(rooms, code)
    seat.session_state["lesson_draft"] = LESSON.format(title="The student's")
    for title in ("Mine", "Mine, edited"):
        play(desk, LESSON.format(title=title))
        seat.run()
    assert seat.header[0].value == "Mine, edited"
    assert seat.session_state["lesson_replaced"] == LESSON.format(title="The student's")


@pytest.mark.slow
def test_back_to_an_earlier_version_plays_it_and_keeps_the_draft() -> None:
    page = asked("lessons", lesson="own", show="write")
    for title in ("Mine", "Mine, edited"):
        play(page, LESSON.format(title=title))
    go(page, "lessons", lesson="own", carried=str(pack_lesson(LESSON.format(title="Mine"))))
    assert page.header[0].value == "Mine"
    press(page, "Go on writing")
    assert page.text_area(key=teaching.BOX).value == LESSON.format(title="Mine, edited")
