"""The lessons that come along, and the tour: files of assets/lessons/, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lessons.reading import lesson_of
from lessons.schema import Lesson

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "lessons"
ORDER = ("attention", "it_and_animal", "order", "masked_words", "translation")  # in which they are taught
TOUR = "tour"


@cache
def come_along() -> dict[str, Lesson]:
    """The lessons by their names, in the order in which they are taught."""
    return {name: lesson_of(source(name)) for name in ORDER}


@cache
def tour() -> Lesson:
    """A few stops for a first visitor."""
    return lesson_of(source(TOUR))


def source(name: str) -> str:
    """The text of the file of one that comes along."""
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
