"""Teacher-only content of lessons, hidden from students of a class."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from classroom.store import Store
from i18n import _, use_language
from tests.support.asking import LONGEST, asked, go, notes, press
from tests.support.repository import ROOT
from tests.support.words import english
from ui.pages.lessons import teaching
from ui.run import classes, current_lesson
from ui.run.fine_tuning import NOBODY, hash_cookie
from ui.show.terms import FOR_TEACHERS

KEPT = "Only a class's teacher"
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
    """Return the Lessons page of a student in ``room``."""
    page = asked("classroom", lang=query.get("lang", "en"))
    with use_language(query.get("lang", "en")):
        page.text_input(key="classroom_code").input(room)
        next(button for button in page.button if button.label == _("Join")).click().run()
        page.query_params.clear()
        return go(page, "lessons", **{"class": room}, **query)


def offered(page: AppTest) -> set[str]:
    return {button.label for button in page.button} & TEACHERS


@pytest.mark.slow
def test_a_student_is_not_offered_it(room: str) -> None:
    assert offered(attended(room)) == set()
    assert offered(attended(room, lesson="attention")) == set()


@pytest.mark.slow
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
    press(desk, "Open a class")
    for query in ({"class": desk.metric[0].value}, {}):
        desk.query_params.clear()
        page = go(desk, "lessons", lesson="attention", show="teacher", **query)
        assert "Aims" in {one.value for one in page.subheader}
        assert not any(KEPT in said for said in notes(page))


@pytest.mark.slow
def test_a_student_s_other_tab_does_not_show_it(rooms: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(classes, "_file", lambda: tmp_path)
    rooms.join(rooms.open("somebody else"), hash_cookie("a student's cookie"))
    for cookie, sees in (("a student's cookie", False), ("a stranger's", True)):
        page = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
        page.session_state[NOBODY] = cookie
        go(page, "lessons", lesson="attention", show="teacher")
        assert ("Aims" in {one.value for one in page.subheader}) is sees
        assert any(KEPT in said for said in notes(page)) is not sees


@pytest.mark.usefixtures("rooms")
def test_in_a_network_it_is_shown_to_who_teaches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_lesson, "is_open", lambda: True)
    monkeypatch.setattr(teaching, "is_open", lambda: True)
    link = {"lesson": "attention", "show": "teacher"}
    visitor = asked("lessons", **link)
    (said,) = [said for said in notes(visitor) if KEPT in said]
    assert not re.search(r"\bClass\b|open", said), "no recipe"
    assert "Aims" not in {one.value for one in visitor.subheader}
    assert offered(asked("lessons")) == set()
    desk = asked("classroom")
    press(desk, "Open a class")
    code = desk.metric[0].value
    desk.query_params.clear()
    assert "Aims" in {one.value for one in go(desk, "lessons", **link, **{"class": code}).subheader}
    assert any("opens a class" in one.value for one in desk.caption)


@pytest.mark.parametrize("attends", [False, True])
def test_a_list_without_keys_says_to_teachers_where_they_are(
    rooms: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, attends: bool
) -> None:
    monkeypatch.setattr(current_lesson, "is_open", lambda: True)
    monkeypatch.setattr(classes, "_file", lambda: tmp_path)
    if attends:
        rooms.join(rooms.open("somebody else"), hash_cookie("a visitor's"))
    page = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    page.session_state[NOBODY] = "a visitor's"
    go(page, "lessons")
    links = [one.proto.page for one in page.main.get("page_link") if one.proto.page == "classroom"]
    assert (FOR_TEACHERS in notes(page)) is not attends
    assert len(links) == (1 if attends else 2), "the bar above each page has a link too"


@pytest.mark.slow
def test_it_is_said_in_chinese(room: str) -> None:
    page = attended(room, lang="zh", lesson="attention", show="teacher")
    assert english(page) == []


@pytest.mark.slow
def test_no_title_of_a_step_ends_with_two_stops() -> None:
    page = asked("lessons", lesson="attention", show="teacher")
    said = [one.value for one in page.markdown]
    assert any(text.endswith("?**") for text in said)
    assert not any(re.search(r"[?？!][.。]", text) for text in said)
