"""What a lesson is made of: frozen values, read from a file (lessons/reading.py) and written into one by hand.

docs/LESSONS.md says the same to a teacher.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KINDS = ("choice", "number", "word", "head", "token", "text")
ENGLISH = "en"

Answer = str | float | int | tuple[int, int]  # a choice's key or a word; a number; a token's place; (layer, head)


@dataclass(frozen=True)
class LocalizedText:
    """A text in the languages that its author wrote it in; one without a language stands under ""."""

    by: tuple[tuple[str, str], ...] = ()

    def in_language(self, language: str) -> str:
        """It in this language, else as it was written for all, else in English, else in the first there is.

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
    """A check by its name, and what it is asked about (lessons/checks.py)."""

    check: str
    given: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Claim:
    """Something that the lesson says of a model: a check, and what it is said to give."""

    call: CheckCall
    value: Answer
    tolerance: float = 0.005  # of a number


@dataclass(frozen=True)
class LessonView:
    """What is looked at: a link of the app as page and query, and words of its text to be pointed at.

    ``yours``: the reader's own text is read there, the link's is where they begin.
    """

    page: str
    query: tuple[tuple[str, str], ...] = ()
    highlight: tuple[str, ...] = ()
    yours: bool = False


@dataclass(frozen=True)
class LessonQuestion:
    """One question. ``check`` computes what is right, else ``right`` says it; neither: any answer is kept."""

    kind: str  # one of KINDS
    ask: LocalizedText
    choices: tuple[tuple[str, LocalizedText], ...] = ()  # key and text, of a choice
    check: CheckCall | None = None
    right: Answer | None = None
    tolerance: float | None = None  # of a number, where the check's own is not meant
    hints: tuple[LocalizedText, ...] = ()
    expected: LocalizedText = field(
        default_factory=LocalizedText
    )  # what a teacher may hope for, where nothing can be computed
    reveal: LocalizedText = field(default_factory=LocalizedText)  # what is said once it is answered


@dataclass(frozen=True)
class LessonStep:
    """One screen of a lesson."""

    title: LocalizedText
    text: LocalizedText
    view: LessonView | None = None
    question: LessonQuestion | None = None
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class PlanPart:
    """One line of a teacher's plan."""

    minutes: int
    what: LocalizedText


@dataclass(frozen=True)
class Teacher:
    """What only whoever teaches needs to read."""

    aims: LocalizedText
    plan: tuple[PlanPart, ...]
    mistakes: LocalizedText


@dataclass(frozen=True)
class Lesson:
    """A whole lesson."""

    title: LocalizedText
    minutes: int
    audience: LocalizedText
    about: LocalizedText
    steps: tuple[LessonStep, ...]
    teacher: Teacher | None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that its title is written in.

        >>> Lesson(LocalizedText((("en", "A"), ("zh", "B"))), 5, LocalizedText(), LocalizedText(), ()).languages
        ('en', 'zh')
        """
        return tuple(code for code, _ in self.title.by if code)
