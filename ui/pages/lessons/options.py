"""Address parameters of the page Lessons."""

from __future__ import annotations

from dataclasses import dataclass

from viz.options import option

OWN = "own"  # name of the reader's own lesson
PLAY, TEACHER, WRITE = "play", "teacher", "write"


@dataclass(frozen=True)
class LessonsOptions:
    """Options of the page Lessons."""

    lesson: str = ""  # "" is the list of all lessons
    step: int = 0
    show: str = option(PLAY, choices=(PLAY, TEACHER, WRITE))
    carried: str = ""  # a lesson in the link, packed by lessons/library.py
