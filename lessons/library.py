"""Built-in lessons and the tour, read from assets/lessons/ and cached."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lessons.reading import lesson_of
from lessons.schema import Lesson

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "lessons"
ORDER = ("attention", "it_and_animal", "order", "masked_words", "translation")  # teaching order
TOUR = "tour"


@cache
def come_along() -> dict[str, Lesson]:
    """Load the built-in lessons by name, in teaching order."""
    return {name: lesson_of(source(name)) for name in ORDER}


@cache
def tour() -> Lesson:
    """Load the tour for first-time visitors."""
    return lesson_of(source(TOUR))


def source(name: str) -> str:
    """Return the text of a built-in lesson file."""
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
