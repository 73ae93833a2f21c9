"""A class without a browser: a teacher and two students in separate sessions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from classroom.question import Question
from classroom.store import Store
from tests.support.asking import LONGEST, asked, go, notes, press
from tests.support.repository import ROOT
from tests.support.words import english
from ui.pages.classroom import page as door_module
from ui.pages.classroom import teacher_view as desk_module
from ui.pages.classroom.question_form import with_head_range
from ui.pages.classroom.teacher_view import invitations, join_link
from ui.run import classes, network
from ui.run.fine_tuning import NOBODY, hash_cookie
from ui.state import visitor_values


@pytest.fixture(autouse=True)
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the store of classes by an empty store."""
    made = Store(tmp_path / "rooms.sqlite")
    monkeypatch.setattr(classes, "_store", lambda _file: made)


def opened() -> tuple[AppTest, str]:
    """Return a teacher's page and the code of its room."""
    desk = asked("classroom")
    press(desk, "Open a class")
    return desk, desk.metric[0].value


def joined(code: str, name: str = "", page: str = "by_hand") -> AppTest:
    """Return a student's page after joining the room."""
    seat = asked("classroom")
    seat.text_input(key="classroom_code").input(code)
    seat.text_input(key="classroom_name").input(name)
    press(seat, "Join")
    return go(seat, page)


def ask(desk: AppTest, kind: str, prompt: str, truth: str = "", options: str = "") -> None:
    desk.button_group(key="classroom_kind").set_value(kind).run()
    if options:
        desk.text_area(key="classroom_options").input(options)
    desk.text_area(key="classroom_prompt").input(prompt)
    desk.text_input(key="classroom_truth").input(truth)
    desk.button(key="classroom_ask").click().run()


def asks(desk: AppTest) -> tuple[str, list[str]]:
    """Return the label of the button that asks, and the sentences about the question that it closes."""
    said = [one.value for one in desk.markdown if one.value.startswith("This closes question")]
    return desk.button(key="classroom_ask").label, said


def marks(page: AppTest) -> str:
    return " ".join(one.value for one in page.markdown)


def test_a_code_that_is_none_is_said_and_stays_typed() -> None:
    seat = asked("classroom")
    seat.text_input(key="classroom_code").input("NOROOM")
    press(seat, "Join")
    assert any("There is no class “NOROOM”" in said for said in notes(seat, "refusal"))
    assert seat.text_input(key="classroom_code").value == "NOROOM"


def test_an_empty_code_is_not_quoted() -> None:
    seat = asked("classroom")
    press(seat, "Join")
    (said,) = notes(seat, "refusal")
    assert "“" not in said


@pytest.mark.slow
def test_students_follow_their_teacher_from_page_to_page() -> None:
    desk, code = opened()
    seat = joined(code)
    assert f"**Class {code}**" in marks(seat)
    desk.toggle(key="classroom_leads").set_value(True).run()
    go(desk, "lessons")
    assert any("followers see" in said for said in notes(desk))
    seat.run()
    assert seat.title[0].value == desk.title[0].value
    assert "you follow your teacher" in marks(seat)


@pytest.mark.slow
def test_another_view_of_the_same_page_is_followed_without_a_second_run() -> None:
    desk, code = opened()
    seat = joined(code, page="lessons")
    before = seat.query_params.get("lesson", "")
    classes.store().present(code, next(_teachers(desk)), "/lessons?lesson=claims_finetuning")
    seat.run()
    assert before != seat.query_params["lesson"] == "claims_finetuning"
    assert seat.query_params["class"] == code
    assert "you follow your teacher" in marks(seat)
    assert not seat.exception


@pytest.mark.slow
def test_a_student_goes_an_own_way_and_comes_back() -> None:
    desk, code = opened()
    seat = joined(code)
    desk.toggle(key="classroom_leads").set_value(True).run()
    go(desk, "lessons")
    seat.run()
    there = seat.title[0].value
    seat.button(key="class_alone_button").click().run()
    go(seat, "by_hand")
    assert seat.title[0].value != there
    seat.button(key="class_back").click().run()
    assert seat.title[0].value == there


@pytest.mark.slow
def test_a_student_who_goes_on_alone_is_not_pulled_back() -> None:
    desk, code = opened()
    seat = joined(code, page="lessons")
    desk.toggle(key="classroom_leads").set_value(True).run()
    go(desk, "lessons", lesson="attention", step="1")
    assert "you follow your teacher" in marks(seat.run())
    press(seat, "Next", key="lesson_next")
    step = seat.subheader[0].value
    assert "you go your own way" in marks(seat)
    seat.text_input(key="lesson_attention_2_number").set_value("0,8").run()
    for there in ("3", "1"):
        go(desk, "lessons", lesson="attention", step=there)
        assert seat.run().subheader[0].value == step
        assert seat.text_input(key="lesson_attention_2_number").value == "0,8"
    press(seat, "Follow teacher")
    assert "you follow your teacher" in marks(seat)
    assert seat.subheader[0].value == desk.subheader[0].value
    go(desk, "lessons", lesson="attention", step="2")
    assert seat.run().text_input(key="lesson_attention_2_number").value == "0,8"


@pytest.mark.slow
def test_a_student_who_left_and_joins_again_follows() -> None:
    desk, code = opened()
    seat = joined(code, "Anna", page="by_hand")
    desk.toggle(key="classroom_leads").set_value(True).run()
    go(desk, "lessons")
    seat.run()
    for button in ("Rejoin class (Anna)", "Join"):
        seat.button(key="class_alone_button").click().run()
        go(seat, "classroom")
        press(seat, "Leave the class")
        go(seat, "classroom", **{"class": code})
        press(seat, button)
        assert "you follow your teacher" in marks(seat)
        assert seat.title[0].value == desk.title[0].value


@pytest.mark.slow
def test_a_teacher_who_shares_again_is_followed_again() -> None:
    desk, code = opened()
    seat = joined(code, page="lessons")
    teacher, place = next(_teachers(desk)), "/lessons?lesson=attention&step=1"
    classes.store().present(code, teacher, place)
    assert "you follow your teacher" in marks(seat.run())
    classes.store().share(code, teacher, False)
    press(seat.run(), "Next", key="lesson_next")
    assert "own way" not in marks(seat)
    classes.store().present(code, teacher, place)
    assert seat.run().query_params["step"] == "1"
    assert "you follow your teacher" in marks(seat)


@pytest.mark.slow
def test_an_answer_goes_from_a_student_to_the_desk_and_the_reveal_back() -> None:
    desk, code = opened()
    anna, ben = joined(code, "Anna"), joined(code)
    ask(desk, "word", "Which word does *it* look at?", truth="animal")
    for seat, said in ((anna, "street"), (ben, "Animal")):
        seat.run()
        assert "Which word does *it* look at" in marks(seat)
        seat.text_input(key=f"class_reply_{code}_1_field").input(said)
        press(seat, "Answer")
        assert f"Your answer: {said}." in notes(seat)
    desk.run()
    assert any("Answers to question 1: 2; missing: 0." in said for said in notes(desk))
    assert popover_of(desk, "classroom_reveal") == "Show answers"  # The popover asks for confirmation.
    assert not classes.store().student_view(code, identity(anna)).revealed
    desk.button(key="classroom_reveal").click().run()
    anna.run()
    shown = " ".join(notes(anna))
    assert "Answers: 2. Correct answer: animal. Correct: 1. Your answer: street." in shown
    assert "Anna" not in " ".join(notes(ben.run()))
    (opened_one,) = [one for one in anna.expander if "Question 1" in one.label]
    assert opened_one.proto.expanded
    go(anna, "lessons")
    (folded,) = [one for one in anna.expander if "Question 1" in one.label]
    assert not folded.proto.expanded, "later pages begin with their own content"


@pytest.mark.slow
def test_the_teacher_sees_the_answers_to_earlier_questions() -> None:
    desk, code = opened()
    seat = joined(code, "Anna")
    for number, (prompt, said) in enumerate((("Which word?", "street"), ("Which other?", "animal")), start=1):
        ask(desk, "word", prompt)
        seat.run()
        seat.text_input(key=f"class_reply_{code}_{number}_field").input(said)
        press(seat, "Answer")
    desk.run()
    picked = desk.selectbox(key="desk_question_2")
    assert (picked.options, picked.value) == (["2", "1"], 2)
    picked.set_value(1).run()
    assert not desk.exception
    (chart,) = desk.get("plotly_chart")
    assert "street" in chart.proto.spec
    assert "animal" not in chart.proto.spec


@pytest.mark.slow
def test_the_file_of_answers_is_made_again_while_the_page_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    files: list[str] = []
    redrawn: list[str] = []

    def redraw(seconds: float | None, draw: Callable[..., object], *values: object) -> None:
        before = len(files)
        draw(*values)
        if seconds:
            redrawn.extend(files[before:])

    monkeypatch.setattr(desk_module, "redraw_every", redraw)
    monkeypatch.setattr(desk_module, "download_button", lambda _label, content, *_rest, **_more: files.append(content))
    desk, code = opened()
    seat = joined(code, "Anna")
    ask(desk, "word", "Which **other** word?")
    seat.run()
    seat.text_input(key=f"class_reply_{code}_1_field").input("street")
    press(seat, "Answer")
    assert "street" not in files[-1]
    assert "Which other word?" in files[-1]
    desk.run()
    assert "street" in files[-1]
    # A part that is redrawn draws the file, which therefore contains the answers beside it.
    assert redrawn == files


@pytest.mark.slow
def test_a_link_of_a_class_leads_who_has_not_joined_to_the_form() -> None:
    _desk, code = opened()
    seat = asked("by_hand", **{"class": code})
    assert len(notes(seat, "refusal")) == 1
    (query,) = [link.proto.query_string for link in seat.get("page_link") if "class=" in link.proto.query_string]
    assert query == f"class={code}"


@pytest.mark.slow
def test_a_choice_and_a_head_and_what_is_no_answer() -> None:
    desk, code = opened()
    seat = joined(code)
    ask(desk, "choice", "Which?", options="yes\nno\n\nyes")
    seat.run()
    seat.radio(key=f"class_reply_{code}_1_field").set_value("no")
    press(seat, "Answer")
    assert "- yes\n- no" in marks(desk)
    ask(desk, "head", "Which head?", truth="3")
    assert any("not a head" in said for said in notes(desk, "refusal"))
    teacher = next(_teachers(desk))
    classes.store().present(code, teacher, "/?text=A+cat.")
    ask(desk, "head", "Which head?", truth="3-7")
    classes.store().share(code, teacher, False)
    seat.run()
    seat.text_input(key=f"class_reply_{code}_2_field").input("seven")
    press(seat, "Answer")
    assert any("“seven” is not a head" in said for said in notes(seat, "refusal"))
    assert seat.text_input(key=f"class_reply_{code}_2_field").value == "seven"
    seat.text_input(key=f"class_reply_{code}_2_field").input("9-40")
    press(seat, "Answer")
    assert [re.findall(r"\d+", said) for said in notes(seat, "refusal")] == [["9", "40", "0", "5", "0", "11"]]
    assert seat.text_input(key=f"class_reply_{code}_2_field").value == "9-40"
    rows = classes.store().board(code, teacher).rows()
    assert [(number, said) for number, _prompt, _who, said, *_truth in rows] == [(1, "no"), (2, "")]
    ask(desk, "head", "Which head?", truth="9-40")  # Nothing is presented, so students may see any model.
    classes.store().answer(code, identity(seat), 3, "12-3")
    for presented, size in {
        "/?view=find&text=A+cat.": (6, 12),
        "/text_generation?text=A+cat.": (0, 0),  # Another model answers.
        "/compare?text=A+cat.": (0, 0),  # There may be a second model.
        "/?text=A+cat.&model=nobody/none": (0, 0),
        "/?opened=abc": (0, 0),
        "/nowhere": (0, 0),
    }.items():
        found = with_head_range(Question("head", "?"), presented)
        assert (found.layers, found.heads) == size, presented


def _teachers(desk: AppTest) -> Iterator[str]:
    yield identity(desk)


def identity(page: AppTest) -> str:
    """Return the hashed visitor id of a page."""
    return hash_cookie(page.session_state[NOBODY])


def popover_of(page: AppTest, button: str) -> str:
    """Return the label of the popover that contains the button of that key, or "" if none does."""
    found = [one.proto.popover.label for one in page.get("popover") if any(b.key == button for b in one.button)]
    return found[0] if found else ""


def path_to(block: Block, popover: str) -> list[int]:
    """Return the index in each block on the way to the popover with this label; [] if there is none."""
    for index, child in block.children.items():
        if isinstance(child, Block) and child.type == "popover" and child.proto.popover.label == popover:
            return [index]
        if isinstance(child, Block) and (found := path_to(child, popover)):
            return [index, *found]
    return []


@pytest.mark.slow
def test_the_form_of_an_answered_question_is_folded() -> None:
    desk, code = opened()
    seat = joined(code)
    ask(desk, "head", "Which head?", truth="3-7")
    seat.run()
    assert "Change my answer" not in [one.label for one in seat.expander]
    seat.text_input(key=f"class_reply_{code}_1_field").input("第3层头1")
    press(seat, "Answer")
    (folded,) = [one for one in seat.expander if one.label == "Change my answer"]
    assert not folded.proto.expanded
    assert not folded.markdown
    assert r"Which head\?" in marks(seat), "the question stays in sight"
    assert "Your answer: 3-1." in notes(seat)
    seat.text_input(key=f"class_reply_{code}_1_field").input("nonsense")
    press(seat, "Answer")
    (folded,) = [one for one in seat.expander if one.label == "Change my answer"]
    assert folded.proto.expanded, "a refused change stays in sight"
    assert any("“nonsense” is not a head" in said for said in notes(seat, "refusal"))
    seat.text_input(key=f"class_reply_{code}_1_field").input("L3H7")
    press(seat, "Answer")
    assert "Your answer: 3-7." in notes(seat)


@pytest.mark.slow
@pytest.mark.parametrize("leads", [False, True])
def test_a_teacher_sees_on_every_page_who_has_answered_and_is_lost(leads: bool) -> None:
    desk, code = opened()
    anna, ben = joined(code, "Anna"), joined(code, "Ben")
    if leads:
        desk.toggle(key="classroom_leads").set_value(True).run()
    ask(desk, "word", "Which word?")
    anna.run()
    anna.text_input(key=f"class_reply_{code}_1_field").input("animal")
    press(anna, "Answer")
    ben.toggle(key=f"class_lost_{code}").set_value(True).run()
    for page in ("by_hand", "lessons"):
        go(desk, page)
        said = " ".join(notes(desk))
        assert "Students: 2. Answers to question 1: 1; missing: 1. 1 is lost." in said
        assert {"No answer: Ben.", "Lost: Ben."} <= set(notes(desk))
        assert ("followers see this page" in said) is leads
        assert "*" not in said
    assert "missing" not in " ".join(notes(anna.run())), "a student reads none of it"
    assert "No answer" not in " ".join(notes(anna))


@pytest.mark.slow
def test_an_answer_key_is_not_called_the_followers_page() -> None:
    desk, code = opened()
    desk.toggle(key="classroom_leads").set_value(True).run()
    go(desk, "lessons", lesson="attention")
    assert any("followers see this page" in said for said in notes(desk))
    press(desk, "For the teacher")
    assert f"Class {code}. Students: 0." in notes(desk)
    assert not any("followers see this page" in said for said in notes(desk))


def tab(cookie: str, view: str = "by_hand") -> AppTest:
    """Return the first page of a new tab in the browser that sends this cookie."""
    page = AppTest.from_file(ROOT / "ui" / "server" / "shell.py", default_timeout=LONGEST)
    page.session_state[NOBODY] = cookie
    return go(page, view)


@pytest.mark.slow
def test_a_new_tab_of_the_teacher_resumes_the_class(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(classes, "_file", lambda: tmp_path)
    desk, code = opened()

    resumed = tab(desk.session_state[NOBODY])
    assert code in resumed.query_params["class"]
    assert any("Students: 0" in said for said in notes(resumed))
    assert go(resumed, "classroom").metric[0].value == code
    assert "class" not in tab("a stranger's").query_params
    resumed.button(key="classroom_close").click().run()
    assert "class" not in go(resumed, "by_hand").query_params


@pytest.mark.slow
def test_sharing_survives_a_reload(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(classes, "_file", lambda: tmp_path)
    desk, code = opened()
    desk.toggle(key="classroom_leads").set_value(True).run()
    go(desk, "lessons")
    reloaded = tab(desk.session_state[NOBODY], "classroom")
    assert reloaded.toggle(key="classroom_leads").value
    seat = joined(code, page="lessons")
    go(reloaded, "by_hand")
    assert seat.run().title[0].value == reloaded.title[0].value
    go(reloaded, "classroom").toggle(key="classroom_leads").set_value(False).run()
    assert classes.store().student_view(code, identity(seat)).view is None


@pytest.mark.slow
def test_a_question_that_closes_the_open_question_is_confirmed() -> None:
    desk, code = opened()
    assert asks(desk) == ("Ask", [])
    ask(desk, "word", "Which word?")
    assert asks(desk) == ("Confirm", ["This closes question 1 without showing its answers."])
    seat = joined(code)
    classes.store().answer(code, identity(seat), 1, "animal")
    ask(desk, "word", "And now?")
    assert asks(desk) == ("Confirm", ["This closes question 2 without showing its answers."])
    press(desk, "Confirm", "classroom_reveal")
    assert asks(desk) == ("Ask", [])  # nobody can answer any more
    ask(desk, "word", "And then?")
    assert classes.store().student_view(code, identity(seat)).asked == 3
    press(desk, "Confirm", "classroom_reveal")
    desk.selectbox(key="desk_question_3").select(1).run()
    press(desk, "Confirm", "classroom_reveal")  # The answers to a closed question are shown later.
    shown = classes.store().student_view(code, identity(seat))
    assert (shown.asked, shown.said, shown.own, shown.revealed) == (1, ("animal",), "animal", True)
    ask(desk, "word", "At last?")
    assert classes.store().student_view(code, identity(seat)).asked == 4


@pytest.mark.slow
def test_a_draft_survives_another_page_and_a_reload(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(classes, "_file", lambda: tmp_path)
    monkeypatch.setattr(visitor_values, "cookie", lambda: "a" * 22)
    desk, _code = opened()
    desk.button_group(key="classroom_kind").set_value("choice").run()
    fields = {"classroom_prompt": "Which?", "classroom_options": "yes\nno"}
    for key, typed in fields.items():
        desk.text_area(key=key).input(typed).run()
    go(desk, "lessons")
    for page in (go(desk, "classroom"), tab(desk.session_state[NOBODY], "classroom")):
        assert {key: page.text_area(key=key).value for key in fields} == fields
    press(desk, "Ask")
    go(desk, "lessons")
    assert {key: go(desk, "classroom").text_area(key=key).value for key in fields} == dict.fromkeys(fields, "")
    desk.button(key="classroom_close").click().run()
    press(desk, "Open a class")
    assert desk.button_group(key="classroom_kind").value == "word"


def test_a_class_for_this_machine_only_is_explained() -> None:
    door = asked("classroom")
    assert any("make run FOR=class" in said for said in notes(door))
    desk, _code = opened()
    assert any("make run FOR=class" in said for said in notes(desk))
    assert not desk.code, "no link that students cannot use"


def test_a_class_in_the_network_has_a_link_for_students(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (network, door_module):
        monkeypatch.setattr(module, "is_open", lambda: True)
    monkeypatch.setattr(network, "reached_by", lambda: ("192.168.1.7", "10.0.0.7"))
    assert not any("make run FOR=class" in said for said in notes(asked("classroom")))
    desk, code = opened()
    assert not any("make run FOR=class" in said for said in notes(desk))
    assert desk.code[0].value == f"http://192.168.1.7/classroom?class={code}"
    box = desk.selectbox(key="classroom_link")
    assert box.options[1] == f"http://10.0.0.7/classroom?class={code}"
    box.set_value(box.options[1]).run()
    assert desk.code[0].value == box.options[1]
    drawn = [[one.type for one in column if one.type in ("metric", "image", "code")] for column in desk.columns[:2]]
    assert drawn == [["metric", "image"], ["code"]], "the QR code is high enough for a projector"


@pytest.mark.parametrize("here", ["http://127.0.0.1:8501/", "http://localhost:8501/explore", "http://[::1]:8501/"])
def test_a_loopback_s_link_has_the_network_s_addresses(here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "is_open", lambda: True)
    monkeypatch.setattr(network, "reached_by", lambda: ("192.168.1.7", "class.example", "other.example:8443"))
    assert invitations("ABC234", here) == [
        "http://192.168.1.7:8501/classroom?class=ABC234",
        "http://class.example:8501/classroom?class=ABC234",
        "http://other.example:8443/classroom?class=ABC234",
    ]
    monkeypatch.setattr(network, "is_open", lambda: False)
    assert invitations("ABC234", here) == []
    assert invitations("ABC234", "http://10.0.0.7:8501/") == ["http://10.0.0.7:8501/classroom?class=ABC234"]


@pytest.mark.slow
def test_names_and_answers_are_deleted_on_demand_and_that_is_said() -> None:
    desk, code = opened()
    seat = joined(code, "Anna")
    ask(desk, "word", "Which word?")
    seat.run()
    seat.text_input(key=f"class_reply_{code}_1_field").input("animal")
    press(seat, "Answer")
    go(seat, "classroom")
    for page in (desk, seat, asked("classroom")):
        assert any("24 hours after" in one.value for one in page.caption)
    desk.button(key="classroom_erase").click().run()
    board = classes.store().board(code, identity(desk))
    assert ([one.name for one in board.students], board.answers) == ([""], ())
    seat.button(key="classroom_withdraw").click().run()
    assert classes.store().board(code, identity(desk)).students == ()
    assert "class" not in seat.query_params


@pytest.mark.slow
def test_a_hand_is_seen_at_the_desk() -> None:
    desk, code = opened()
    seat = joined(code, "Ben")
    seat.toggle(key=f"class_lost_{code}").set_value(True).run()
    assert "Lost: Ben." in notes(desk.run())
    (names,) = (one for one in desk.expander if one.label == "Names")
    assert not names.proto.expanded, "the class may see the page"


@pytest.mark.slow
def test_a_popover_keeps_its_place_if_a_student_is_lost() -> None:
    desk, code = opened()
    seat = joined(code)
    ask(desk, "word", "Which word?")
    places = []
    for lost in (False, True):
        seat.toggle(key=f"class_lost_{code}").set_value(lost).run()
        places.append(path_to(desk.run().main, "Show answers"))
    assert places[0] == places[1] != []


@pytest.mark.slow
def test_a_closed_room_lets_everybody_go() -> None:
    desk, code = opened()
    seat = joined(code)
    desk.button(key="classroom_close").click().run()
    assert "Open a class" in [one.label for one in desk.button]
    assert f"Class {code} has ended." in notes(desk)
    assert f"Class {code} has ended." not in notes(desk.run())
    seat.run()
    (ended,) = notes(seat, "refusal")
    (missing,) = notes(asked("by_hand", **{"class": code}), "refusal")
    assert code in ended
    assert ended != missing, "who attended the class is not asked for another code"
    assert not seat.exception
    assert "class" not in seat.run().query_params


@pytest.mark.slow
def test_a_new_class_replaces_a_closed_class_of_the_link() -> None:
    desk, closed = opened()
    desk.button(key="classroom_close").click().run()
    again = asked("classroom", **{"class": closed})
    press(again, "Open a class")
    code = again.metric[0].value
    seat = asked("classroom", **{"class": closed})
    seat.text_input(key="classroom_code").input(code)
    press(seat, "Join")
    assert any("You are in the class" in said for said in notes(seat))
    for page in (again, seat):
        assert page.query_params["class"] == code
        assert notes(page, "refusal") == notes(go(page, "by_hand"), "refusal") == []
        assert page.query_params["class"] == code


@pytest.mark.slow
def test_a_new_tab_of_a_student_resumes_the_class(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(classes, "_file", lambda: tmp_path)
    monkeypatch.setattr(visitor_values, "cookie", lambda: "s" * 22)
    _desk, code = opened()
    seat = joined(code)
    resumed = tab(seat.session_state[NOBODY], "classroom")
    assert any("You are in the class" in said for said in notes(resumed))
    press(resumed, "Leave the class")
    assert "class" not in tab(seat.session_state[NOBODY], "classroom").query_params


def test_who_comes_by_the_link_is_asked_for_a_name_first() -> None:
    _desk, code = opened()
    seat = asked("classroom", **{"class": code})
    press(seat, "Join")
    assert any("name: #1" in said for said in notes(seat))


@pytest.mark.slow
def test_a_hostile_name_and_question_are_text() -> None:
    desk, code = opened()
    seat = joined(code, "<img src=x onerror=alert(1)>")
    ask(desk, "text", "<script>alert(1)</script> [x](javascript:alert(1))")
    seat.run()
    assert r"\<script\>" in marks(seat)
    assert r"\[x\]\(javascript" in marks(seat)
    seat.toggle(key=f"class_lost_{code}").set_value(True).run()
    assert any("<img src=x" in said for said in notes(desk.run()))


@pytest.mark.slow
def test_it_speaks_chinese() -> None:
    desk = asked("classroom", lang="zh")
    assert english(desk) == []
    next(one for one in desk.button if one.key == "classroom_open").click().run()
    code = desk.metric[0].value
    classes.store().ask(code, next(_teachers(desk)), Question("word", "哪个词？"))
    seat = asked("classroom", lang="zh", **{"class": code})
    assert english(seat) == []
    next(one for one in seat.button if "classroom" not in (one.key or "")).click().run()
    go(seat, "by_hand")
    assert english(desk.run()) == []


def test_the_link_is_to_where_the_teacher_is() -> None:
    assert join_link("ABC234", "http://10.0.0.7:8501/cause?layer=1") == "http://10.0.0.7:8501/classroom?class=ABC234"


@pytest.mark.slow
def test_a_student_who_leaves_is_not_counted_at_the_desk() -> None:
    desk, code = opened()
    seat = joined(code, "Anna", page="classroom")
    assert any("Students: 1." in said for said in notes(desk.run()))
    press(seat, "Leave the class")
    assert any("Students: 0." in said for said in notes(desk.run()))
    go(seat, "classroom", **{"class": code})
    assert any("Students: 0." in said for said in notes(desk.run())), "the link asks who comes"
    press(seat, "Rejoin class (Anna)")
    assert any("name: Anna" in said for said in notes(seat))
    assert any("Students: 1." in said for said in notes(desk.run()))


@pytest.mark.slow
def test_the_next_student_of_a_browser_does_not_see_the_former_answer() -> None:
    desk, code = opened()
    ask(desk, "word", "Which?")
    seat = joined(code, "Anna", page="classroom")
    number = classes.store().board(code, next(_teachers(desk))).asked
    assert number is not None
    classes.store().answer(code, identity(seat), number, "animal")
    assert any("Your answer: animal" in said for said in notes(seat.run()))
    press(seat, "Leave the class")
    go(seat, "by_hand", **{"class": code})
    assert not any("animal" in said for said in notes(seat))
    assert not any(one.key == f"class_lost_{code}" for one in seat.toggle)
    go(seat, "classroom")
    seat.text_input(key="classroom_code").input(code)
    press(seat, "Join")
    assert not any("animal" in said for said in notes(seat)), "the code alone leads to the form"
    seat.text_input(key="classroom_name").input("Ben")
    press(seat, "Join")
    assert any("name: Ben" in said for said in notes(seat))
    assert not any("animal" in said for said in notes(seat))
