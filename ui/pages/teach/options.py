"""What the page Teach lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

ROWS = {"all": "All pieces", "telling": "Where the label is read"}


@dataclass(frozen=True)
class Teach:
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"rows": tuple(ROWS)}

    job: str = ""  # the id of a training, which whoever has the link may look at
    rows: str = "all"  # of the maps that are compared
    moved: str = ""  # the head whose maps are shown, such as 3-5; "" is the one furthest beyond the twin
    sentence: int = 1  # of those whose maps are kept, from 1
    frame: int = 0  # of the film, from 1; 0 is the last
