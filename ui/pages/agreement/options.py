"""What the page Agreement lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """What this page lets its reader choose."""

    itself: bool = False  # the focus word counts among the words that matter
