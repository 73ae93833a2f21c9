"""A student of a class is not shown what its teacher should see."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from classroom.store import Store
from tests.support.asking import asked, notes, press
from tests.support.words import english
from ui.run import classes
from wording import _, speaking

KEPT = "what is for its teacher is not shown here"
TEACHERS = {"For the teacher", "Write one", "Go on writing"}


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    made = Store(tmp_path / "rooms.sqlite")
    monkeypatch.setattr(classes, "_store", lambda _file: made)
    return made


@pytest.fixture
def room(rooms: Store) -> str:
    return rooms.open("somebody else")


def attended(room: str, **query: str) -> AppTest:
    """The page Lessons of somebody who sits in that room."""
    page = asked("classroom", lang=query.get("lang", "en"))
    with speaking(query.get("lang", "en")):
        page.text_input(key="classroom_code").input(room)
        next(button for button in page.button if button.label == _("Join")).click().run()
        page.query_params.clear()
        page.query_params.update({"class": room, **query})
        return page.switch_page("../../pages/lessons.py").run()


def offered(page: AppTest) -> set[str]:
    return {button.label for button in page.button} & TEACHERS


@pytest.mark.slow
def test_a_student_is_not_offered_it(room: str) -> None:
    assert offered(attended(room)) == set()
    assert offered(attended(room, lesson="attention")) == set()


@pytest.mark.parametrize("link", [{"lesson": "attention", "show": "teacher"}, {"lesson": "own", "show": "write"}])
def test_by_link_a_student_reads_one_sentence_and_plays(room: str, link: dict[str, str]) -> None:
    page = attended(room, **link)
    assert sum(KEPT in said for said in notes(page)) == 1
    assert "Next" in {button.label for button in page.button}
    assert len(page.text_area) == len(page.subheader) - 1 == 0, "a step of the lesson and no more"
    assert not page.exception


@pytest.mark.usefixtures("rooms")
def test_its_teacher_and_who_attends_none_see_all() -> None:
    desk = asked("classroom")
    press(desk, "Open a room")
    for query in ({"class": desk.metric[0].value}, {}):
        desk.query_params.clear()
        desk.query_params.update({"lesson": "attention", "show": "teacher", **query})
        page = desk.switch_page("../../pages/lessons.py").run()
        assert "Aims" in {one.value for one in page.subheader}
        assert not any(KEPT in said for said in notes(page))


@pytest.mark.slow
def test_it_is_said_in_chinese(room: str) -> None:
    page = attended(room, lang="zh", lesson="attention", show="teacher")
    assert english(page) == []
