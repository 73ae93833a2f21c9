"""Laws of a class: permissions, privacy, and no lost answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from classroom.errors import NotInClass
from classroom.question import Question
from classroom.store import KEPT, LENGTH, MOST_STUDENTS, Store
from tests.support.cases import loop_over

TEACHER, ANNA, BEN = "teacher's secret", "anna's secret", "ben's secret"
YEAR = 365 * 24 * 3600
WHICH = Question("word", "Which word does it look at?", truth="animal")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "class" / "rooms.sqlite"


@pytest.fixture
def store(file: Path) -> Store:
    return Store(file)


@pytest.fixture
def code(store: Store) -> str:
    """Return the code of a room with Anna, Ben and a question."""
    code = store.open(TEACHER)
    store.join(code, ANNA, "Anna")
    store.join(code, BEN)
    store.ask(code, TEACHER, WHICH)
    return code


def test_a_code_is_typed_without_mistakes(store: Store) -> None:
    code = store.open(TEACHER)
    assert len(code) == LENGTH
    assert not set(code) & set("ILO01")
    store.join(f" {code.lower()} ", ANNA)
    assert store.student_view(code, ANNA).name == ""


def test_students_with_equal_names_are_numbered(store: Store, code: str) -> None:
    def names() -> list[str]:
        return [student.name for student in store.board(code, TEACHER).students]

    store.join(code, "second", " anna ")
    store.join(code, "third", "Anna")
    assert names() == ["Anna", "", "anna (2)", "Anna (3)"]
    assert store.student_view(code, "third").name == "Anna (3)"
    store.withdraw(code, "second")
    for again in ("third", ANNA):
        store.join(code, again, "Anna")
    assert names() == ["Anna", "", "Anna (3)"]
    store.join(code, "fourth", "Anna (3)")
    store.join(code, "fifth", "Anna")
    store.join(code, "sixth")
    assert names() == ["Anna", "", "Anna (3)", "Anna (3) (2)", "Anna (2)", ""]


def test_everybody_follows_and_goes_on_their_own(store: Store, code: str) -> None:
    assert store.student_view(code, ANNA).view is None
    store.present(code, TEACHER, "/roles?layer=3")
    assert store.student_view(code, ANNA).view == store.student_view(code, BEN).view == "/roles?layer=3"
    store.share(code, TEACHER, False)
    assert store.student_view(code, ANNA).view is None
    assert not store.is_shared(code)


def test_sharing_begins_with_the_next_view(store: Store, code: str) -> None:
    store.present(code, TEACHER, "/roles")
    store.share(code, TEACHER, False)
    store.share(code, TEACHER, True)
    assert store.is_shared(code)
    assert store.student_view(code, ANNA).view is None, "an old view is not opened again"
    store.present(code, TEACHER, "/find")
    assert store.student_view(code, ANNA).view == store.board(code, TEACHER).view == "/find"


def test_who_comes_late_sees_how_it_stands(store: Store, code: str) -> None:
    store.present(code, TEACHER, "/?layer=1")
    store.join(code, "late", "Lea")
    seen = store.student_view(code, "late")
    assert (seen.view, seen.asked, seen.own) == ("/?layer=1", 1, None)
    assert seen.question is not None
    assert seen.question.prompt == WHICH.prompt


def test_the_last_answer_before_the_reveal_counts(store: Store, code: str) -> None:
    store.answer(code, ANNA, 1, "street")
    store.answer(code, ANNA, 1, " animal ")
    store.answer(code, BEN, 1, "it")
    assert store.board(code, TEACHER).answers_to(1) == ("animal", "it")
    store.reveal(code, TEACHER)
    with pytest.raises(NotInClass, match="closed"):
        store.answer(code, ANNA, 1, "it")
    assert store.board(code, TEACHER).answers_to(1) == ("animal", "it")


def test_nobody_sees_anothers_answer_nor_the_truth_before_the_reveal(store: Store, code: str) -> None:
    store.answer(code, ANNA, 1, "animal")
    seen = store.student_view(code, BEN)
    assert seen.said == ()
    assert seen.question is not None
    assert seen.question.truth == ""
    store.reveal(code, TEACHER)
    seen = store.student_view(code, BEN)
    assert seen.said == ("animal",)
    assert seen.question is not None
    assert seen.question.truth == "animal"
    assert "Anna" not in repr(seen)


ACTS: dict[str, Callable[[Store, str, str], object]] = {
    "present": lambda store, code, who: store.present(code, who, "/cause"),
    "share": lambda store, code, who: store.share(code, who, True),
    "ask": lambda store, code, who: store.ask(code, who, WHICH),
    "reveal": lambda store, code, who: store.reveal(code, who),
    "close": lambda store, code, who: store.close(code, who),
    "board": lambda store, code, who: store.board(code, who),
    "erase": lambda store, code, who: store.erase(code, who),
}


@loop_over("act", ACTS)
@loop_over("who", [ANNA, "stranger", "", "teacher's secre"])
def test_a_student_cannot_speak_as_the_teacher(store: Store, code: str, act: str, who: str) -> None:
    before = store.board(code, TEACHER)
    with pytest.raises(NotInClass, match="the teacher"):
        ACTS[act](store, code, who)
    assert store.board(code, TEACHER) == before


def test_who_is_not_in_the_room_neither_sees_nor_answers(store: Store, code: str) -> None:
    for act in (
        store.student_view,
        lambda code, who: store.answer(code, who, 1, "x"),
        lambda code, who: store.set_hand(code, who, True),
        store.withdraw,
    ):
        with pytest.raises(NotInClass, match="this class"):
            act(code, "stranger")


def test_a_teacher_of_one_room_is_a_stranger_in_another(store: Store, code: str) -> None:
    other = store.open("another teacher")
    with pytest.raises(NotInClass):
        store.close(other, TEACHER)
    assert store.teaches(code, TEACHER)
    assert not store.teaches(other, TEACHER)
    assert not store.teaches("NOROOM", TEACHER)


def test_a_hand_is_raised_and_taken_down(store: Store, code: str) -> None:
    store.set_hand(code, BEN, True)
    assert [student.lost for student in store.board(code, TEACHER).students] == [False, True]
    store.set_hand(code, BEN, False)
    assert not store.student_view(code, BEN).lost


def test_what_the_teacher_does_is_a_new_version_and_what_students_do_is_none(store: Store, code: str) -> None:
    quiet: list[Callable[[], object]] = [
        lambda: store.student_view(code, ANNA),
        lambda: store.board(code, TEACHER),
        lambda: store.answer(code, ANNA, 1, "it"),
        lambda: store.set_hand(code, ANNA, True),
        lambda: store.join(code, "third"),
    ]
    loud: list[Callable[[], object]] = [
        lambda: store.present(code, TEACHER, "/find"),
        lambda: store.share(code, TEACHER, False),
        lambda: store.ask(code, TEACHER, WHICH),
        lambda: store.reveal(code, TEACHER),
    ]
    for changes, more in ((quiet, 0), (loud, 1)):
        for change in changes:
            before = store.version(code)
            change()
            assert store.version(code) == before + more


def test_a_restart_of_the_server_loses_nothing(store: Store, code: str, file: Path) -> None:
    store.present(code, TEACHER, "/roles")
    store.answer(code, ANNA, 1, "animal")
    again = Store(file)
    assert again.board(code, TEACHER) == store.board(code, TEACHER)
    assert again.student_view(code, ANNA).own == "animal"
    again.join(code, ANNA, "Anna B.")
    assert [student.name for student in again.board(code, TEACHER).students] == ["Anna B.", ""]


def test_a_class_that_answers_at_once_loses_no_answer(store: Store, file: Path) -> None:
    code = store.open(TEACHER)
    stores = [store, Store(file)]  # Two processes have separate stores of the same file.
    store.ask(code, TEACHER, WHICH)

    def student(number: int) -> None:
        mine = stores[number % 2]
        mine.join(code, f"secret {number}", f"S{number}")
        for said in ("first", f"word{number}"):
            mine.answer(code, f"secret {number}", 1, said)

    threads = [threading.Thread(target=student, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(store.board(code, TEACHER).answers_to(1)) == sorted(f"word{number}" for number in range(30))


def test_nothing_is_kept_of_a_closed_room(store: Store, code: str, file: Path) -> None:
    store.join(code, "secret of Cleopatra", "Cleopatra")
    store.answer(code, ANNA, 1, "hippopotamus")
    store.close(code, TEACHER)
    for left in file.parent.iterdir():
        held = left.read_bytes()
        assert b"Cleopatra" not in held, left.name
        assert b"hippopotamus" not in held, left.name
    with pytest.raises(NotInClass, match="no class"):
        store.student_view(code, ANNA)
    assert store.version(code) == 0


def held(file: Path) -> bytes:
    """Return all bytes that the store has on the disk."""
    return b"".join(left.read_bytes() for left in file.parent.iterdir())


def test_erased_names_and_answers_leave_the_disk(store: Store, code: str, file: Path) -> None:
    store.join(code, "secret of Cleopatra", "Cleopatra")
    store.answer(code, "secret of Cleopatra", 1, "hippopotamus")
    before = store.version(code)
    store.erase(code, TEACHER)
    assert b"Cleopatra" not in held(file)
    assert b"hippopotamus" not in held(file)
    board = store.board(code, TEACHER)
    assert [student.name for student in board.students] == ["", "", ""]
    assert board.answers == ()
    assert board.questions == (WHICH,)  # The room still works.
    assert store.version(code) > before  # A new version makes the students' pages reload.
    store.answer(code, ANNA, 1, "animal")
    assert store.board(code, TEACHER).answers_to(1) == ("animal",)


def test_a_student_who_withdraws_leaves_nothing(store: Store, code: str, file: Path) -> None:
    store.join(code, "secret of Cleopatra", "Cleopatra")
    store.answer(code, "secret of Cleopatra", 1, "hippopotamus")
    store.answer(code, ANNA, 1, "animal")
    store.withdraw(code, "secret of Cleopatra")
    assert b"Cleopatra" not in held(file)
    assert b"hippopotamus" not in held(file)
    assert [student.name for student in store.board(code, TEACHER).students] == ["Anna", ""]
    assert store.board(code, TEACHER).answers_to(1) == ("animal",)
    assert not store.attends("secret of Cleopatra")


def test_a_teacher_is_found_again_by_who_they_are(store: Store, code: str) -> None:
    assert store.taught_by(TEACHER) == code
    assert store.taught_by(ANNA) is None
    newest = store.open(TEACHER)
    assert store.taught_by(TEACHER) == newest
    store.close(newest, TEACHER)
    assert store.taught_by(TEACHER) == code


@pytest.mark.usefixtures("code")
def test_a_seat_in_any_room_makes_a_student(store: Store) -> None:
    other = store.open("another teacher")
    assert store.attends(ANNA)
    assert not store.attends(TEACHER)
    assert not store.attends("stranger")
    store.join(other, TEACHER)
    assert store.attends(TEACHER)


def test_the_file_tells_nobodys_secret(store: Store, code: str, file: Path) -> None:
    store.answer(code, ANNA, 1, "it")
    found = held(file)
    assert b"Anna" in found  # The names must be in the file.
    assert ANNA.encode() not in found
    assert TEACHER.encode() not in found
    assert file.stat().st_mode & 0o077 == 0


class Clocks:
    """The machine's clock, which may be set, and a monotonic clock."""

    def __init__(self, file: Path) -> None:
        self.file, self.wall, self.steady = file, 1e9, 50.0

    def store(self) -> Store:
        return Store(self.file, lambda: self.wall, lambda: self.steady)

    def set(self, by: float) -> None:
        self.wall += by

    def wait(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@pytest.fixture
def clocks(file: Path) -> Clocks:
    return Clocks(file)


def test_a_room_that_nobody_touches_for_a_day_is_gone(clocks: Clocks) -> None:
    store = clocks.store()
    old = store.open(TEACHER)
    clocks.wait(KEPT / 2)
    young = store.open(TEACHER)
    clocks.wait(KEPT / 2 + 1)
    store.open(TEACHER)
    assert store.version(old) == 0
    assert store.version(young) == 1


def test_a_day_after_the_last_change_nothing_is_on_the_disk(clocks: Clocks, file: Path) -> None:
    store = clocks.store()
    code = store.open(TEACHER)
    store.join(code, ANNA, "Cleopatra")
    clocks.wait(KEPT - 1)
    store.sweep()
    assert b"Cleopatra" in held(file)
    clocks.wait(2)
    store.sweep()  # The app calls this every few minutes.
    assert b"Cleopatra" not in held(file)
    assert store.version(code) == 0


def test_a_start_forgets_rooms_whose_day_is_over(clocks: Clocks, file: Path) -> None:
    store = clocks.store()
    store.join(store.open(TEACHER), ANNA, "Cleopatra")
    clocks.wait(KEPT + 1)
    clocks.store()
    assert b"Cleopatra" not in held(file)


@pytest.mark.parametrize("jump", [YEAR, -YEAR])
@pytest.mark.parametrize("processes", [1, 2])
def test_a_clock_that_is_set_closes_no_class_and_keeps_none(clocks: Clocks, jump: float, processes: int) -> None:
    stores = [clocks.store() for _ in range(processes)]
    running = stores[0].open(TEACHER)
    clocks.wait(60)
    clocks.set(jump)
    with pytest.raises(NotInClass):
        stores[-1].join("ABSENT", ANNA)  # This change fails.
    for store in stores:
        store.open(TEACHER)
        assert store.version(running) == 1
    clocks.wait(KEPT + 1)
    stores[-1].open(TEACHER)
    assert stores[0].version(running) == 0


def test_a_clock_that_was_set_back_while_nobody_served_keeps_no_room(clocks: Clocks) -> None:
    code = clocks.store().open(TEACHER)
    clocks.set(-YEAR)
    again = clocks.store()
    again.open(TEACHER)
    assert again.version(code) == 1
    clocks.wait(KEPT + 1)
    again.open(TEACHER)
    assert again.version(code) == 0


@pytest.mark.parametrize(
    "view", ["", "//evil.example", "https://evil.example", "javascript:alert(1)", "/" + "x" * 25_000]
)
def test_a_view_is_an_address_of_the_app(store: Store, code: str, view: str) -> None:
    with pytest.raises(NotInClass):
        store.present(code, TEACHER, view)


def test_a_room_has_a_number_of_seats(store: Store) -> None:
    code = store.open(TEACHER)
    for number in range(MOST_STUDENTS):
        store.join(code, str(number))
    with pytest.raises(NotInClass, match="full"):
        store.join(code, "one more")
    store.join(code, "0", "who sits already")


def test_the_class_is_a_table(store: Store, code: str) -> None:
    store.answer(code, ANNA, 1, "animal")
    store.answer(code, BEN, 1, "it")
    assert store.board(code, TEACHER).rows() == [
        (1, WHICH.prompt, "Anna", "animal", "animal", "yes"),
        (1, WHICH.prompt, "#2", "it", "animal", "no"),
    ]


def test_students_without_an_answer_are_listed(store: Store, code: str) -> None:
    store.answer(code, BEN, 1, "it")
    store.ask(code, TEACHER, Question("number", "How much?", truth="0.5"))
    store.answer(code, ANNA, 2, "0.5")
    board = store.board(code, TEACHER)
    assert [[student.label for student in board.students_without_answer(number)] for number in (1, 2)] == [
        ["Anna"],
        ["#2"],
    ]
    assert board.rows() == [
        (1, WHICH.prompt, "Anna", "", "animal", ""),
        (1, WHICH.prompt, "#2", "it", "animal", "no"),
        (2, "How much?", "Anna", "0.5", "0.5", "yes"),
        (2, "How much?", "#2", "", "0.5", ""),
    ]


def test_a_student_who_returns_without_a_name_keeps_the_name(store: Store) -> None:
    code = store.open(TEACHER)
    store.join(code, ANNA, "Anna")
    store.leave(code, ANNA)
    store.rejoin(code, ANNA)
    store.join(code, ANNA, " ")
    assert store.student_view(code, ANNA).name == "Anna"
    store.join(code, ANNA, "Ann")
    assert store.student_view(code, ANNA).name == "Ann"


def test_a_student_who_left_is_not_counted_until_the_student_is_back(store: Store) -> None:
    code = store.open(TEACHER)
    for who in ("anna", "ben", "cleo"):
        store.join(code, who, who)
    number = store.ask(code, TEACHER, Question("word", "Which?"))
    for who in ("anna", "ben"):
        store.answer(code, who, number, "it")
    store.set_hand(code, "cleo", lost=True)
    for who in ("anna", "cleo"):
        store.leave(code, who)
    board = store.board(code, TEACHER)
    assert ([one.name for one in board.present], board.count_asked(number)) == (["ben"], 2), "an answer stays"
    assert (len(board.students), board.students_without_answer(number)) == (3, ())
    assert not any(student.lost for student in board.students)
    with pytest.raises(NotInClass):
        store.student_view(code, "cleo")
    store.join(code, "cleo", "cleo")
    board = store.board(code, TEACHER)
    assert ([one.name for one in board.present], board.count_asked(number)) == (["ben", "cleo"], 3)
    store.withdraw(code, "cleo")
    store.join(code, "dora", "dora")  # takes the number of the student who withdrew
    assert [one.name for one in store.board(code, TEACHER).present] == ["ben", "dora"]


def test_the_next_student_of_a_browser_is_another_student(store: Store) -> None:
    code = store.open(TEACHER)
    store.join(code, ANNA, "Anna")
    number = store.ask(code, TEACHER, WHICH)
    store.answer(code, ANNA, number, "animal")
    assert store.former_label(code, ANNA) is None
    store.leave(code, ANNA)
    assert store.former_label(code, ANNA) == "Anna"
    with pytest.raises(NotInClass):
        store.answer(code, ANNA, number, "street")
    store.join(code, ANNA, "anna")
    assert (store.former_label(code, ANNA), store.student_view(code, ANNA).own) == (None, "animal")
    for name in ("Dora", ""):
        store.leave(code, ANNA)
        store.join(code, ANNA, name)
        seen = store.student_view(code, ANNA)
        assert (seen.name, seen.own) == (name, None)
    board = store.board(code, TEACHER)
    assert [(one.name, one.away) for one in board.students] == [("Anna", True), ("Dora", True), ("", False)]
    assert board.answers_to(number) == ("animal",), "the answers stay"
