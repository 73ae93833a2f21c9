"""Data classes of a lesson, immutable; lessons/reading.py builds them from a file.

docs/LESSONS.md documents the format for teachers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KINDS = ("choice", "number", "word", "head", "token", "text")
ENGLISH = "en"

Answer = str | float | int | tuple[int, int]  # key of a choice or a word; number; index of a token; (layer, head)


@dataclass(frozen=True)
class LocalizedText:
    """A text in one or more languages; a text without a stated language has the code ""."""

    by: tuple[tuple[str, str], ...] = ()

    def in_language(self, language: str) -> str:
        """Return the text in ``language``, else without a language, else in English, else in any language.

        >>> both = LocalizedText((("en", "a head"), ("zh", "一个头")))
        >>> both.in_language("zh"), LocalizedText((("zh", "一个头"),)).in_language("en")
        ('一个头', '一个头')
        >>> LocalizedText().in_language("en")
        ''
        """
        texts = dict(self.by)
        found = (texts.get(code) for code in (language, "", ENGLISH))
        return next((text for text in found if text is not None), next(iter(texts.values()), ""))

    def __bool__(self) -> bool:
        return any(text for _, text in self.by)


@dataclass(frozen=True)
class CheckCall:
    """A call of a check in a lesson file: the name of the check (lessons/checks.py) and its arguments."""

    check: str
    given: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Claim:
    """A statement of a lesson about a model; it is true if the check in ``call`` gives ``value``."""

    call: CheckCall
    value: Answer
    tolerance: float = 0.005  # tolerance of a numeric value


@dataclass(frozen=True)
class LessonView:
    """A view of the app that a step opens: the page, the query of its URL, and words to highlight.

    If ``yours`` is set, readers may replace the text by their own. ``also`` are further views, offered as links.
    """

    page: str
    query: tuple[tuple[str, str], ...] = ()
    highlight: tuple[str, ...] = ()
    yours: bool = False
    also: tuple[LessonView, ...] = ()


@dataclass(frozen=True)
class LessonQuestion:
    """A question of a lesson.

    The correct answer is computed by ``check`` or given as ``right``. Without both, any answer is accepted.
    """

    kind: str  # a member of KINDS
    ask: LocalizedText
    choices: tuple[tuple[str, LocalizedText], ...] = ()  # key and text of each choice
    check: CheckCall | None = None
    right: Answer | None = None
    tolerance: float | None = None  # overrides the tolerance of the check
    hints: tuple[LocalizedText, ...] = ()
    # Expected answer to an open question, for the teacher
    expected: LocalizedText = field(default_factory=LocalizedText)
    reveal: LocalizedText = field(default_factory=LocalizedText)  # text that is shown after the answer

    @property
    def is_checked(self) -> bool:
        """Return True if the question has a correct answer."""
        return self.check is not None or self.right is not None


@dataclass(frozen=True)
class LessonStep:
    """A step of a lesson, shown as a screen: a text with an optional view and question."""

    title: LocalizedText
    text: LocalizedText
    view: LessonView | None = None
    question: LessonQuestion | None = None
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class PlanPart:
    """A line of the teacher's plan: a number of minutes, and the activity."""

    minutes: int
    what: LocalizedText


@dataclass(frozen=True)
class Teacher:
    """Notes for the teacher of a lesson: aims, plan and common mistakes."""

    aims: LocalizedText
    plan: tuple[PlanPart, ...]
    mistakes: LocalizedText


@dataclass(frozen=True)
class Lesson:
    """A complete lesson: its title and description, its steps, and notes for the teacher."""

    title: LocalizedText
    minutes: int
    audience: LocalizedText
    about: LocalizedText
    steps: tuple[LessonStep, ...]
    teacher: Teacher | None = None
    group: LocalizedText = field(default_factory=LocalizedText)  # heading in the list of lessons

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages in which the lesson is available: the languages of its title.

        >>> Lesson(LocalizedText((("en", "A"), ("zh", "B"))), 5, LocalizedText(), LocalizedText(), ()).languages
        ('en', 'zh')
        """
        return tuple(code for code, _ in self.title.by if code)

    @property
    def has_key(self) -> bool:
        """Return True if the lesson has a page for the teacher: it has notes or a question.

        >>> Lesson(LocalizedText(), 5, LocalizedText(), LocalizedText(), ()).has_key
        False
        """
        return self.teacher is not None or any(step.question is not None for step in self.steps)
