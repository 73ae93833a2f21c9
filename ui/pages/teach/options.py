"""What the page Teach lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Teach:
    """What this page lets its reader choose."""

    job: str = ""  # the id of a training, which whoever has the link may look at
    show: str = "results"
