"""The state of a class of students, as a student and as the teacher see it."""

from __future__ import annotations

from dataclasses import dataclass

from classroom.question import Question, format_answer, format_prompt, format_truth, is_correct
from i18n import _


def student_label(number: int, name: str) -> str:
    """Return the name of a student, or the student's number if there is no name.

    >>> student_label(2, "Anna"), student_label(2, "")
    ('Anna', '#2')
    """
    return name or f"#{number}"


@dataclass(frozen=True)
class StudentView:
    """A class of students as a student sees it.

    ``lost`` is True if the student's hand is raised. ``view`` is the URL that the teacher presents, or None. ``asked``
    is the number of the question that the class sees, and ``own`` the student's answer to it. ``said`` has all answers
    without names; it is empty before they are revealed.
    """

    version: int
    number: int  # the student's number
    name: str  # the student's name; "" if anonymous
    lost: bool
    view: str | None  # URL that the teacher presents; None if students explore freely
    asked: int | None  # number of the question that the class sees: the latest, or one that is shown again
    question: Question | None  # this question, without the correct answer before the reveal
    own: str | None  # the student's answer to it
    revealed: bool
    said: tuple[str, ...]  # all answers without names; empty before the reveal

    @property
    def label(self) -> str:
        """The name by which the teacher sees the student."""
        return student_label(self.number, self.name)


@dataclass(frozen=True)
class ClosedAnswer:
    """A student's answer to a question that takes no more answers; ``is_shown`` if the class sees all answers now."""

    number: int  # number of the question, from 1
    question: Question
    said: str
    is_shown: bool


@dataclass(frozen=True)
class Student:
    """A student in a class, as the teacher sees the student."""

    number: int  # from 1, in the order of joining
    name: str
    lost: bool
    away: bool = False  # whether the student has left; the answers stay

    @property
    def label(self) -> str:
        """The name, or the number of a student without a name."""
        return student_label(self.number, self.name)


@dataclass(frozen=True)
class Answer:
    """A student's answer to a question, with the numbers of the student and of the question."""

    question: int  # number of the question, from 1
    student: int
    said: str


@dataclass(frozen=True)
class TeacherView:
    """A class of students as its teacher sees it.

    ``view`` is the URL that the teacher presents, or None. ``asked`` is the number of the question that the class sees,
    and ``revealed`` is True if its answers are shown to the students.
    """

    version: int
    students: tuple[Student, ...]
    view: str | None
    questions: tuple[Question, ...]  # in order of number, from 1
    asked: int | None
    revealed: bool
    answers: tuple[Answer, ...]

    @property
    def open_question(self) -> int | None:
        """The number of the question that the class answers now; None if there is none."""
        return None if self.revealed else self.asked

    def answers_to(self, question: int) -> tuple[str, ...]:
        """Return the answers to question number ``question``, without names."""
        return tuple(answer.said for answer in self.answers if answer.question == question)

    @property
    def present(self) -> tuple[Student, ...]:
        """The students who have not left."""
        return tuple(student for student in self.students if not student.away)

    def students_without_answer(self, question: int) -> tuple[Student, ...]:
        """Return the students who have not answered question number ``question``, without those who have left."""
        answered = {answer.student for answer in self.answers if answer.question == question}
        return tuple(student for student in self.present if student.number not in answered)

    def count_asked(self, question: int) -> int:
        """Return the number of students who have answered question number ``question`` or still may."""
        return len(self.answers_to(question)) + len(self.students_without_answer(question))

    def rows(self) -> list[tuple[int, str, str, str, str, str]]:
        """Return a row for each question and student: number, prompt, student, answer, correct answer, "yes" or "no".

        The answer is empty if the student has not answered. The last cell states whether the answer is correct; it is
        empty if there is no answer or no correct answer.
        """
        said = {(one.question, one.student): one.said for one in self.answers}
        return [
            (
                number,
                format_prompt(question),
                student.label,
                _in_table(question, answer := said.get((number, student.number), "")),
                format_truth(question) if question.kind == "number" else _in_table(question, question.truth),
                _verdict(question, answer),
            )
            for number, question in enumerate(self.questions, start=1)
            for student in self.students
        ]


def _verdict(question: Question, answer: str) -> str:
    """Return "yes" if an answer is correct, "no" if it is wrong, and "" without an answer or a correct answer."""
    if not question.truth or not answer:
        return ""
    return _("yes") if is_correct(question, answer) else _("no")


def _in_table(question: Question, answer: str) -> str:
    """Format an answer for a table; a head becomes "head 3-10", which no program reads as 3.1 or as a date."""
    layer, point, head = answer.partition(".")
    if question.kind == "head" and point:
        return _("head {layer}-{head}", layer=layer, head=head)
    return format_answer(question, answer)
