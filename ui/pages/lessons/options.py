"""What the page Lessons lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

OWN = "own"  # the name of a lesson that the reader brought or wrote
PLAY, TEACHER, WRITE = "play", "teacher", "write"


@dataclass(frozen=True)
class LessonsOptions:
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"show": (PLAY, TEACHER, WRITE)}

    lesson: str = ""  # "" for the list of all
    step: int = 0
    show: str = PLAY
    carried: str = ""  # a lesson that came with the link, packed (lessons/sharing.py)
