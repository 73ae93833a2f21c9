"""Storage of classes of students in a SQLite file, which survives page reloads and restarts.

Visitors are identified by a secret cookie, of which the file contains only a hash. A class is deleted with all its
content if it is closed, or if nobody changed it for a day. A change of the system clock does not affect that time.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from classroom.cards import Card, PostedCard, read_card
from classroom.errors import NotInClass, no_room, too_long_view, wrong_length
from classroom.question import Question, read
from classroom.room_views import Answer, ClosedAnswer, Student, StudentView, TeacherView, student_label
from i18n import gettext_lazy

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # no ambiguous characters: I, L, O, 0, 1
LENGTH = 6
MOST_ROOMS, MOST_STUDENTS, MOST_QUESTIONS = 200, 300, 500
MOST_CARDS = 20  # cards of a single author
LONGEST_NAME, LONGEST_VIEW = 40, 24_000  # characters; a view is an address
KEPT = 24 * 3600  # lifetime of an unchanged class in seconds
# Lead of the system clock over the monotonic clock, in seconds, that counts as a change of the clock
SET = 3600

TABLES = """
CREATE TABLE IF NOT EXISTS room (
    code TEXT PRIMARY KEY, teacher TEXT NOT NULL, version INTEGER NOT NULL, touched REAL NOT NULL,
    presents INTEGER NOT NULL, view TEXT NOT NULL, question INTEGER, revealed INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS student (
    room TEXT NOT NULL REFERENCES room ON DELETE CASCADE, number INTEGER NOT NULL, secret TEXT NOT NULL,
    name TEXT NOT NULL, lost INTEGER NOT NULL, PRIMARY KEY (room, number), UNIQUE (room, secret));
CREATE TABLE IF NOT EXISTS question (
    room TEXT NOT NULL REFERENCES room ON DELETE CASCADE, number INTEGER NOT NULL, written TEXT NOT NULL,
    PRIMARY KEY (room, number));
CREATE TABLE IF NOT EXISTS answer (
    room TEXT NOT NULL REFERENCES room ON DELETE CASCADE, question INTEGER NOT NULL, student INTEGER NOT NULL,
    said TEXT NOT NULL, PRIMARY KEY (room, question, student));
CREATE TABLE IF NOT EXISTS board (
    room TEXT PRIMARY KEY REFERENCES room ON DELETE CASCADE, shown INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS card (
    room TEXT NOT NULL REFERENCES room ON DELETE CASCADE, number INTEGER NOT NULL, student INTEGER NOT NULL,
    written TEXT NOT NULL, PRIMARY KEY (room, number));
CREATE TABLE IF NOT EXISTS away (
    room TEXT NOT NULL REFERENCES room ON DELETE CASCADE, student INTEGER NOT NULL, PRIMARY KEY (room, student));
"""
TEACHER = 0  # the author's number of a teacher's card


class Store:
    """The classes of students in a SQLite file; it is safe for threads and processes that share the file.

    ``code`` is the code of a class, and ``who`` the identity of a visitor. Methods that change a class raise NotInClass
    if the class does not exist or if ``who`` may not change it.
    """

    def __init__(
        self, file: Path, clock: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic
    ) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._base = sqlite3.connect(file, check_same_thread=False, isolation_level=None, timeout=10)
        file.chmod(0o600)
        self._lock, self._clock, self._steady = threading.Lock(), clock, steady
        self._read = clock(), steady()  # readings of both clocks at the last change
        for line in (
            "PRAGMA journal_mode=WAL",
            "PRAGMA synchronous=NORMAL",
            "PRAGMA foreign_keys=ON",
            "PRAGMA secure_delete=ON",
        ):
            self._base.execute(line)
        self._base.executescript(TABLES)
        self.sweep()

    def open(self, who: str) -> str:
        """Create a class for the teacher ``who`` and return its code; raise NotInClass if the server is full."""
        with self._writing() as base:
            self._sweep(base)
            if base.execute("SELECT count(*) FROM room").fetchone()[0] >= MOST_ROOMS:
                raise NotInClass(
                    gettext_lazy("This server has {most} classes. Close one, or come back later.", most=MOST_ROOMS)
                )
            code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
            base.execute(
                "INSERT INTO room VALUES (?, ?, 1, ?, 0, '', NULL, 0)", (code, _hash_member(code, who), self._clock())
            )
        return code

    def join(self, code: str, who: str, name: str = "") -> None:
        """Add the student ``who`` to a class, or change the student's name; without a name, the name stays.

        A student who has left comes back by the same name; any other name is that of another student, who shares the
        browser. If another student has the same name, the name gets a suffix, as in "Anna (2)".
        Raise NotInClass if there is no such class, if it is full, or if the name is too long.
        """
        name = " ".join(name.split())
        if len(name) > LONGEST_NAME:
            raise wrong_length(gettext_lazy("Name"), len(name), LONGEST_NAME)
        code = "".join(code.split()).upper()
        with self._change_room(code) as base:
            secret = _hash_member(code, who)
            if (former := self._former(base, code, who)) is not None:
                number, known = former
                if name and name.casefold() == known.casefold():
                    base.execute("DELETE FROM away WHERE room=? AND student=?", (code, number))
                    return
                # No visitor has this secret.
                unknown = _hash_member(code, secrets.token_hex())
                base.execute("UPDATE student SET secret=? WHERE room=? AND number=?", (unknown, code, number))
            name = _unique_name(base, code, secret, name)
            if base.execute(
                "UPDATE student SET name=coalesce(nullif(?, ''), name) WHERE room=? AND secret=?", (name, code, secret)
            ).rowcount:
                return
            (count,) = base.execute("SELECT coalesce(max(number), 0) FROM student WHERE room=?", (code,)).fetchone()
            if count >= MOST_STUDENTS:
                raise NotInClass(gettext_lazy("This class is full: {most} seats.", most=MOST_STUDENTS))
            base.execute("INSERT INTO student VALUES (?, ?, ?, ?, 0)", (code, count + 1, secret, name))

    def present(self, code: str, who: str, view: str) -> None:
        """Present a view, given as a URL of the app, to all students.

        Raise NotInClass if the URL is invalid or if ``who`` is not the teacher.
        """
        if len(view) > LONGEST_VIEW or not view.startswith("/") or view.startswith("//"):
            raise too_long_view()
        with self._teaching(code, who) as base:
            base.execute("UPDATE room SET presents=1, view=? WHERE code=?", (view, code))

    def share(self, code: str, who: str, shared: bool) -> None:
        """Start or stop presenting the teacher's views to the students.

        After a start, students see the next view that is given to ``present``.
        """
        with self._teaching(code, who) as base:
            base.execute("UPDATE room SET presents=?, view='' WHERE code=?", (shared, code))

    def is_shared(self, code: str) -> bool:
        """Return True if the teacher presents views to the students."""
        with self._lock:
            found = self._base.execute("SELECT presents FROM room WHERE code=?", (code,)).fetchone()
        return bool(found and found[0])

    def ask(self, code: str, who: str, question: Question) -> int:
        """Ask the class a question and return its number; answers stay hidden until ``reveal``."""
        with self._teaching(code, who) as base:
            (number,) = base.execute("SELECT count(*) + 1 FROM question WHERE room=?", (code,)).fetchone()
            if number > MOST_QUESTIONS:
                raise NotInClass(gettext_lazy("A class takes {most} questions. Open another.", most=MOST_QUESTIONS))
            base.execute("INSERT INTO question VALUES (?, ?, ?)", (code, number, question.to_json()))
            base.execute("UPDATE room SET question=?, revealed=0 WHERE code=?", (number, code))
        return int(number)

    def reveal(self, code: str, who: str, number: int | None = None) -> None:
        """Show all answers to a question, by default the current one, and its correct answer.

        No more answers are accepted, neither to question ``number`` nor to a later question.
        """
        with self._teaching(code, who) as base:
            base.execute("UPDATE room SET revealed=1, question=coalesce(?, question) WHERE code=?", (number, code))

    def close(self, code: str, who: str) -> None:
        """Delete the class with all its content."""
        with self._teaching(code, who) as base:
            base.execute("DELETE FROM room WHERE code=?", (code,))
        self._forget()

    def erase(self, code: str, who: str) -> None:
        """Delete all names, answers and cards of a class, but not the class."""
        with self._teaching(code, who) as base:
            base.execute("DELETE FROM answer WHERE room=?", (code,))
            base.execute("DELETE FROM card WHERE room=?", (code,))
            base.execute("UPDATE student SET name='' WHERE room=?", (code,))
        self._forget()

    def leave(self, code: str, who: str) -> None:
        """Mark the student ``who`` as away and lower the student's hand; the answers stay. ``rejoin`` undoes it."""
        with self._change_room(code) as base:
            student = self._student(base, code, who)
            base.execute("INSERT OR REPLACE INTO away VALUES (?, ?)", (code, student))
            base.execute("UPDATE student SET lost=0 WHERE room=? AND number=?", (code, student))

    def rejoin(self, code: str, who: str) -> None:
        """Bring the student ``who`` back who has left."""
        with self._change_room(code) as base:
            if (former := self._former(base, code, who)) is not None:
                base.execute("DELETE FROM away WHERE room=? AND student=?", (code, former[0]))

    def former_label(self, code: str, who: str) -> str | None:
        """Return the name or number of the student ``who`` who has left the class; None if ``who`` has not left it."""
        with self._lock:
            former = self._former(self._base, code, who)
        return None if former is None else student_label(*former)

    def withdraw(self, code: str, who: str) -> None:
        """Delete the student ``who`` and the student's answers and cards from a class."""
        with self._change_room(code) as base:
            student = self._student(base, code, who)
            base.execute("DELETE FROM answer WHERE room=? AND student=?", (code, student))
            base.execute("DELETE FROM card WHERE room=? AND student=?", (code, student))
            base.execute("DELETE FROM student WHERE room=? AND number=?", (code, student))
        self._forget()

    def sweep(self) -> None:
        """Delete every class that nobody changed for a day."""
        with self._writing() as base:
            gone = self._sweep(base)
        if gone:
            self._forget()

    def answer(self, code: str, who: str, number: int, said: str) -> None:
        """Store the answer of the student ``who`` to question ``number``, in place of an earlier answer.

        Raise NotInClass if it is not the current question, if its answers are revealed, or if the answer is invalid.
        """
        with self._change_room(code) as base:
            student = self._student(base, code, who)
            asked, revealed = base.execute("SELECT question, revealed FROM room WHERE code=?", (code,)).fetchone()
            if asked != number or revealed:
                raise NotInClass(gettext_lazy("This question is closed. Wait for the next one."))
            (written,) = base.execute(
                "SELECT written FROM question WHERE room=? AND number=?", (code, number)
            ).fetchone()
            base.execute(
                "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?)", (code, number, student, read(written).normal(said))
            )

    def post_card(self, code: str, who: str, card: Card) -> None:
        """Put a card on the board, unless the author has already posted the same card.

        Raise NotInClass if ``who`` is not in the class, if the card is too long, or if the author has MOST_CARDS cards.
        """
        written = card.to_json()
        with self._change_room(code) as base:
            author = self._author(base, code, who)
            mine = [one for (one,) in base.execute(
                "SELECT written FROM card WHERE room=? AND student=?", (code, author))]  # fmt: skip
            if written in mine:
                return
            if len(mine) >= MOST_CARDS:
                raise NotInClass(
                    gettext_lazy("You have {most} cards on the board. Ask your teacher to remove one.", most=MOST_CARDS)
                )
            (number,) = base.execute("SELECT coalesce(max(number), 0) + 1 FROM card WHERE room=?", (code,)).fetchone()
            base.execute("INSERT INTO card VALUES (?, ?, ?, ?)", (code, number, author, written))

    def show_board(self, code: str, who: str, shown: bool) -> None:
        """Show the cards of all students to every student, or hide them again."""
        with self._teaching(code, who) as base:
            base.execute("INSERT OR REPLACE INTO board VALUES (?, ?)", (code, shown))

    def remove_card(self, code: str, who: str, number: int) -> None:
        """Delete a card from the board."""
        with self._teaching(code, who) as base:
            base.execute("DELETE FROM card WHERE room=? AND number=?", (code, number))
        self._forget()

    def is_board_shown(self, code: str) -> bool:
        """Return True if students see the cards of other students."""
        with self._lock:
            found = self._base.execute("SELECT shown FROM board WHERE room=?", (code,)).fetchone()
        return bool(found and found[0])

    def cards(self, code: str, who: str) -> tuple[PostedCard, ...]:
        """Return the cards that ``who`` may see, in the order of posting.

        Students see all cards if the board is shown, and otherwise only their own; the teacher sees all.
        """
        shown = self.is_board_shown(code)
        with self._reading(code) as base:
            reader = self._author(base, code, who)
            rows = base.execute("SELECT number, student, written FROM card WHERE room=? ORDER BY number", (code,))
            return tuple(
                PostedCard(number, student, student == reader, read_card(written))
                for number, student, written in rows.fetchall()
                if shown or reader in (TEACHER, student)
            )

    def set_hand(self, code: str, who: str, lost: bool) -> None:
        """Raise the hand of the student ``who`` if ``lost`` is True, else lower it.

        The teacher's page shows the raised hands.
        """
        with self._change_room(code) as base:
            base.execute(
                "UPDATE student SET lost=? WHERE room=? AND number=?", (lost, code, self._student(base, code, who))
            )

    def version(self, code: str) -> int:
        """Return a number that grows with every change of a class by its teacher; 0 if there is no such class.

        Students' pages poll it and reload the view only if it has grown.
        """
        with self._lock:
            found = self._base.execute("SELECT version FROM room WHERE code=?", (code,)).fetchone()
        return int(found[0]) if found else 0

    def teaches(self, code: str, who: str) -> bool:
        """Return True if ``who`` is the teacher of the class."""
        with self._lock:
            found = self._base.execute("SELECT teacher FROM room WHERE code=?", (code,)).fetchone()
        return found is not None and secrets.compare_digest(found[0], _hash_member(code, who))

    def taught_by(self, who: str) -> str | None:
        """Return the code of the newest class that the teacher ``who`` has opened; None if there is none."""
        with self._lock:
            rooms = self._base.execute("SELECT code, teacher FROM room ORDER BY rowid DESC").fetchall()
        return next((code for code, teacher in rooms if secrets.compare_digest(teacher, _hash_member(code, who))), None)

    def attends(self, who: str) -> bool:
        """Return True if ``who`` is a student in any class."""
        with self._lock:
            rooms = [code for (code,) in self._base.execute("SELECT code FROM room")]
            seat = "SELECT 1 FROM student WHERE room=? AND secret=?"
            return any(self._base.execute(seat, (code, _hash_member(code, who))).fetchone() for code in rooms)

    def student_view(self, code: str, who: str) -> StudentView:
        """Return a class as the student ``who`` may see it.

        It contains no names, and the answers of other students only after they were revealed.
        """
        with self._reading(code) as base:
            number = self._student(base, code, who)
            name, lost = base.execute(
                "SELECT name, lost FROM student WHERE room=? AND number=?", (code, number)
            ).fetchone()
            version, presents, view, asked, revealed = self._room(base, code)
            own = base.execute(
                "SELECT said FROM answer WHERE room=? AND question=? AND student=?", (code, asked, number)
            ).fetchone()
            said = self._answers_to(base, code, asked) if revealed else ()
            question = self._question(base, code, asked)
        if question is not None and not revealed:
            question = question.without_truth()
        return StudentView(
            version,
            number,
            name,
            bool(lost),
            (view or None) if presents else None,
            asked,
            question,
            own and own[0],
            bool(revealed),
            said,
        )

    def closed_answers(self, code: str, who: str) -> tuple[ClosedAnswer, ...]:
        """Return the answers of the student ``who`` to the questions of a class that take no more answers."""
        with self._reading(code) as base:
            student = self._student(base, code, who)
            _version, _presents, _view, asked, revealed = self._room(base, code)
            rows = base.execute(
                "SELECT number, written, said FROM answer JOIN question USING (room) "
                "WHERE room=? AND student=? AND number=answer.question AND (number<>? OR ?) ORDER BY number",
                (code, student, asked, revealed),
            ).fetchall()
        return tuple(ClosedAnswer(number, read(written), said, number == asked) for number, written, said in rows)

    def board(self, code: str, who: str) -> TeacherView:
        """Return a class as its teacher sees it; raise NotInClass if ``who`` is not the teacher."""
        with self._reading(code) as base:
            self._refuse_others(base, code, who)
            version, presents, view, asked, revealed = self._room(base, code)
            away = self._away(base, code)
            students = tuple(
                Student(number, name, bool(lost), number in away)
                for number, name, lost in base.execute(
                    "SELECT number, name, lost FROM student WHERE room=? ORDER BY number", (code,)
                )
            )
            questions = tuple(
                read(written)
                for (written,) in base.execute("SELECT written FROM question WHERE room=? ORDER BY number", (code,))
            )
            answers = tuple(
                Answer(*row)
                for row in base.execute(
                    "SELECT question, student, said FROM answer WHERE room=? ORDER BY question, student", (code,)
                )
            )
        shown = (view or None) if presents else None
        return TeacherView(version, students, shown, questions, asked, bool(revealed), answers)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                read = self._follow_clock()
                yield self._base
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")
            self._read = read

    @contextmanager
    def _reading(self, code: str) -> Iterator[sqlite3.Connection]:
        """Open a read transaction on a class that exists."""
        with self._lock:
            self._base.execute("BEGIN")
            try:
                _refuse_unknown(self._base, code)
                yield self._base
            finally:
                self._base.execute("COMMIT")

    @contextmanager
    def _change_room(self, code: str) -> Iterator[sqlite3.Connection]:
        """Open a write transaction on a class that exists, and update its last change."""
        with self._writing() as base:
            _refuse_unknown(base, code)
            yield base
            base.execute("UPDATE room SET touched=? WHERE code=?", (self._clock(), code))

    @contextmanager
    def _teaching(self, code: str, who: str) -> Iterator[sqlite3.Connection]:
        """Open a write transaction of the teacher, and increase the version of the class."""
        with self._change_room(code) as base:
            self._refuse_others(base, code, who)
            yield base
            base.execute("UPDATE room SET version=version+1 WHERE code=?", (code,))

    def _refuse_others(self, base: sqlite3.Connection, code: str, who: str) -> None:
        (teacher,) = base.execute("SELECT teacher FROM room WHERE code=?", (code,)).fetchone()
        if not secrets.compare_digest(teacher, _hash_member(code, who)):
            raise NotInClass(gettext_lazy("Only the teacher of this class can do that."))

    def _student(self, base: sqlite3.Connection, code: str, who: str) -> int:
        """Return the number of the student ``who``; raise NotInClass if the student has not joined, or has left."""
        found = base.execute(
            "SELECT number FROM student WHERE room=? AND secret=? "
            "AND number NOT IN (SELECT student FROM away WHERE away.room=student.room)",
            (code, _hash_member(code, who)),
        ).fetchone()
        if found is None:
            raise NotInClass(gettext_lazy("You are not in this class. Join it with its code."))
        return int(found[0])

    def _former(self, base: sqlite3.Connection, code: str, who: str) -> tuple[int, str] | None:
        """Return the number and the name of the student ``who``, if the student has left; else None."""
        found: tuple[int, str] | None = base.execute(
            "SELECT number, name FROM student JOIN away ON away.room=student.room AND away.student=number "
            "WHERE student.room=? AND secret=?",
            (code, _hash_member(code, who)),
        ).fetchone()
        return found

    def _author(self, base: sqlite3.Connection, code: str, who: str) -> int:
        """Return the author's number of a member: TEACHER, or the student's number."""
        (teacher,) = base.execute("SELECT teacher FROM room WHERE code=?", (code,)).fetchone()
        if secrets.compare_digest(teacher, _hash_member(code, who)):
            return TEACHER
        return self._student(base, code, who)

    def _room(self, base: sqlite3.Connection, code: str) -> tuple[int, bool, str, int | None, bool]:
        found: tuple[int, bool, str, int | None, bool] = base.execute(
            "SELECT version, presents, view, question, revealed FROM room WHERE code=?", (code,)
        ).fetchone()
        return found

    def _question(self, base: sqlite3.Connection, code: str, number: int | None) -> Question | None:
        found = base.execute("SELECT written FROM question WHERE room=? AND number=?", (code, number)).fetchone()
        return read(found[0]) if found else None

    def _away(self, base: sqlite3.Connection, code: str) -> set[int]:
        return {student for (student,) in base.execute("SELECT student FROM away WHERE room=?", (code,))}

    def _answers_to(self, base: sqlite3.Connection, code: str, number: int | None) -> tuple[str, ...]:
        rows = base.execute("SELECT said FROM answer WHERE room=? AND question=? ORDER BY student", (code, number))
        return tuple(said for (said,) in rows)

    def _forget(self) -> None:
        """Truncate the write-ahead log, so that it contains no deleted data."""
        with self._lock:
            self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _follow_clock(self) -> tuple[float, float]:
        """Shift all classes if the system clock was set forward; return the readings of both clocks."""
        now, steady = self._clock(), self._steady()
        jump = (now - self._read[0]) - (steady - self._read[1])
        if jump > SET:
            self._base.execute("UPDATE room SET touched=touched+?", (jump,))
        return now, steady

    def _sweep(self, base: sqlite3.Connection) -> int:
        now = self._clock()
        # Times in the future appear if the clock was set back.
        base.execute("UPDATE room SET touched=? WHERE touched > ?", (now, now))
        return base.execute("DELETE FROM room WHERE touched < ?", (now - KEPT,)).rowcount


def _refuse_unknown(base: sqlite3.Connection, code: str) -> None:
    if base.execute("SELECT 1 FROM room WHERE code=?", (code,)).fetchone() is None:
        raise NotInClass(no_room(code))


def _unique_name(base: sqlite3.Connection, code: str, secret: str, name: str) -> str:
    """Return a student's name, with a number if another student of the class has the same name.

    A student keeps an earlier number. Case is ignored, and several students may be without a name.
    """
    if not name:
        return name
    students: list[tuple[str, str]] = base.execute("SELECT secret, name FROM student WHERE room=?", (code,)).fetchall()
    own = next((said for owner, said in students if owner == secret), None)
    taken = {said.casefold() for owner, said in students if owner != secret}
    numbered = [name, *(f"{name} ({number})" for number in range(2, len(students) + 2))]
    if own in numbered:
        return own
    return next(free for free in numbered if free.casefold() not in taken)


def _hash_member(code: str, who: str) -> str:
    """Return the hash of a member, salted by the class code, so that members cannot be linked across classes."""
    return hashlib.sha256(f"{code}\0{who}".encode()).hexdigest()
