"""How far a training is, told by the lines that it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.jobs.job import Look

MEASURES = {"classify": "accuracy", "tag": "f1"}
NAMES = {"classify": "accuracy", "tag": "F1 of names"}
TWINS = ("first", "second")

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Progress:
    """``step`` of ``last`` steps, 0 of 0 before the first line; at most ``seconds`` are left, as far as known."""

    step: int
    last: int
    seconds: float | None

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return min(1.0, self.step / self.last) if self.last else 0.0

    @property
    def left(self) -> str:
        """What is left of it in words.

        >>> Progress(40, 133, 92.0).left, Progress(130, 133, 4.0).left, Progress(0, 133, None).left
        ('about 1.5 minutes left', 'some seconds left', '')
        """
        if self.seconds is None:
            return ""
        minutes = f"{self.seconds / 60:.1f}".removesuffix(".0")
        return (
            "some seconds left"
            if self.seconds < 20
            else f"about {minutes} {'minute' if minutes == '1' else 'minutes'} left"
        )


def progress(
    plans: Sequence[Line], steps: Sequence[Line], scored: Sequence[Line], minutes: float | None = None
) -> Progress:
    """By the last plan, and the last line of a step or of an evaluation; ``minutes`` are all that there may be.

    >>> plans, steps = [{"step": 0, "last": 133}], [{"step": 40, "seconds": 60.0}]
    >>> progress(plans, steps, []).left, progress(plans, steps, [], minutes=2.0).left
    ('about 2.3 minutes left', 'about 1 minute left')
    """
    last = int(plans[-1]["last"]) if plans else 0
    at = max((*steps, *scored), key=lambda line: line["step"], default=None)
    if at is None or not at["step"]:
        return Progress(0, last, 60 * minutes if minutes is not None and last else None)
    left = (last - at["step"]) * at["seconds"] / at["step"]
    if minutes is not None:
        left = max(0.0, min(left, 60 * minutes - at["seconds"]))
    return Progress(int(at["step"]), last, left if last else None)


def progress_of(look: Look) -> Progress:
    """How far a job's phase is."""
    minutes = look.job.settings.minutes if look.phase == "teach" else None
    return progress(look.lines("plan"), look.lines("step"), look.lines("evaluation"), minutes)


def doing(look: Look) -> str:
    """What a job that runs is about, in words, with how far it is."""
    if look.phase == "changes":
        return "Comparing the heads before and after, with what the twins show"
    found, what = progress_of(look), "Learning"
    if look.phase == "twin":
        what = f"{_twin(look)} learns shuffled labels"
    if not found.last:
        return "Opening the model and reading the rows"
    if found.step >= found.last:
        return "Saving the best, and telling the test rows" if look.phase == "teach" else "Saving the twin"
    said = f"{what}: step {found.step:,} of {found.last:,}"
    return f"{said}, {found.left}" if found.left else said


def _twin(look: Look) -> str:
    """Which of the twins it is that learns."""
    plans = look.lines("plan")
    number = plans[-1].get("twin", 0) if plans else 0
    return f"The {TWINS[number]} twin" if number < len(TWINS) else "A twin"
