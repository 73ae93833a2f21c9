"""A teacher's clicks, which reach the class without a rerun of the teacher's page."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from classroom.store import Store
from tests.support.asking import go
from tests.support.clicking import follow, keep, picture
from tests.ui.pages.classroom.test_class import _teachers, joined, opened
from ui.run import classes

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("written")]


@pytest.fixture(autouse=True)
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return an empty store of classes, in place of the app's store."""
    made = Store(tmp_path / "rooms.sqlite")
    monkeypatch.setattr(classes, "_store", lambda _file: made)
    return made


def leading() -> tuple[AppTest, str]:
    """Return the page of a teacher who shows Explore, and the code of the room."""
    desk, code = opened()
    desk.toggle(key="classroom_leads").set_value(True).run()
    return go(desk, "explore"), code


def test_a_teacher_s_click_is_on_the_students_screens(
    clicks: TestClient, rooms: Store, written: list[dict[str, str]]
) -> None:
    desk, code = leading()
    seat = joined(code, page="explore")
    before = rooms.version(code)
    assert keep(clicks, desk, layer=1, head=2) == 204
    assert rooms.version(code) != before  # A student's page polls this version.
    shown = picture(seat.run())["selection"]
    assert (shown["layer"], shown["head"]) == (1, 2)
    after = rooms.version(code)
    follow(desk, written[-1])
    desk.run()  # The teacher's next run does not change the class.
    assert rooms.version(code) == after


def test_a_student_s_click_is_a_student_s_own(clicks: TestClient, rooms: Store) -> None:
    desk, code = leading()
    seat = joined(code, page="explore")
    before = rooms.version(code)
    assert keep(clicks, seat, layer=1, head=2) == 204
    assert rooms.version(code) == before
    assert picture(desk.run())["selection"]["layer"] != 1
    assert keep(clicks, desk, layer=5, head=3) == 204  # The student still follows the teacher.
    assert picture(seat.run())["selection"]["layer"] == 5


def test_a_room_that_is_closed_is_told_by_a_run(clicks: TestClient, rooms: Store) -> None:
    desk, code = leading()
    rooms.close(code, next(_teachers(desk)))
    assert keep(clicks, desk, layer=1, head=2) == 409
