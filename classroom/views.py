"""A room as those in it see it."""

from __future__ import annotations

from dataclasses import dataclass

from classroom.question import Question


@dataclass(frozen=True)
class StudentView:
    """As one student sees it."""

    version: int
    name: str  # their own; "" for none
    lost: bool
    view: str | None  # the address that the teacher presents; None where everybody goes on their own
    asked: int | None  # number of the question that was asked last
    question: Question | None  # without its truth until it is revealed
    own: str | None  # their own answer to it
    revealed: bool
    said: tuple[str, ...]  # what everybody answered, without names; nothing before the reveal


@dataclass(frozen=True)
class Student:
    """Somebody in the room."""

    number: int  # from 1, in the order of joining
    name: str
    lost: bool


@dataclass(frozen=True)
class Answer:
    """What a student said to a question."""

    question: int  # its number, from 1
    student: int
    said: str


@dataclass(frozen=True)
class TeacherView:
    """As its teacher sees it."""

    version: int
    students: tuple[Student, ...]
    view: str | None
    questions: tuple[Question, ...]  # in the order of asking: number 1 first
    asked: int | None
    revealed: bool
    answers: tuple[Answer, ...]

    def answers_to(self, question: int) -> tuple[str, ...]:
        """What was answered to a question, without names."""
        return tuple(answer.said for answer in self.answers if answer.question == question)

    def rows(self) -> list[tuple[int, str, str, str, str]]:
        """The whole class as a table: question's number and prompt, who, what they said, and the truth."""
        names = {student.number: student.name or str(student.number) for student in self.students}
        asked = dict(enumerate(self.questions, start=1))
        return [
            (
                one.question,
                asked[one.question].prompt,
                names[one.student],
                _in_table(asked[one.question], one.said),
                _in_table(asked[one.question], asked[one.question].truth),
            )
            for one in self.answers
        ]


def _in_table(question: Question, answer: str) -> str:
    """Return an answer for a table: a head as L3H10, which no program reads as the number 3.1 or as a date."""
    layer, point, head = answer.partition(".")
    return f"L{layer}H{head}" if question.kind == "head" and point else answer
