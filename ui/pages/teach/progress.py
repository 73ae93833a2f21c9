"""Progress of a training, computed from its log lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from i18n import _, gettext_lazy, ngettext, translate
from training.jobs.job import JobStatus

MEASURES = {"classify": "accuracy", "tag": "f1"}
NAMES = {"classify": gettext_lazy("accuracy"), "tag": gettext_lazy("entity F1")}
TWINS = (gettext_lazy("Training control 1 of 2"), gettext_lazy("Training control 2 of 2"))

Line = Mapping[str, Any]


@dataclass(frozen=True)
class TrainingProgress:
    """Progress in steps: ``step`` of ``last``, 0 of 0 before the first log line.

    ``seconds`` is an upper bound of the remaining time, None if unknown.
    """

    step: int
    last: int
    seconds: float | None

    @property
    def share(self) -> float:
        """Return the completed fraction, from 0 to 1."""
        return min(1.0, self.step / self.last) if self.last else 0.0

    @property
    def time_left(self) -> str:
        """Return the remaining time in words; "" if unknown.

        >>> (
        ...     TrainingProgress(40, 133, 92.0).time_left,
        ...     TrainingProgress(130, 133, 4.0).time_left,
        ...     TrainingProgress(0, 133, None).time_left,
        ... )
        ('about 1.5 minutes left', 'some seconds left', '')
        """
        if self.seconds is None:
            return ""
        if self.seconds < 20:
            return _("some seconds left")
        minutes = f"{self.seconds / 60:.1f}".removesuffix(".0")
        several = 1 if minutes == "1" else 2  # The plural also serves 0.5 minutes.
        return ngettext("about {minutes} minute left", "about {minutes} minutes left", several, minutes=minutes)


def progress(
    plans: Sequence[Line], steps: Sequence[Line], scored: Sequence[Line], minutes: float | None = None
) -> TrainingProgress:
    """Compute the progress from the log lines of plans, steps and evaluations.

    The time limit ``minutes`` bounds the remaining time.

    >>> plans, steps = [{"step": 0, "last": 133}], [{"step": 40, "seconds": 60.0}]
    >>> progress(plans, steps, []).time_left, progress(plans, steps, [], minutes=2.0).time_left
    ('about 2.3 minutes left', 'about 1 minute left')
    """
    last = int(plans[-1]["last"]) if plans else 0
    at = max((*steps, *scored), key=lambda line: line["step"], default=None)
    if at is None or not at["step"]:
        return TrainingProgress(0, last, 60 * minutes if minutes is not None and last else None)
    left = (last - at["step"]) * at["seconds"] / at["step"]
    if minutes is not None:
        left = max(0.0, min(left, 60 * minutes - at["seconds"]))
    return TrainingProgress(int(at["step"]), last, left if last else None)


def progress_of(look: JobStatus) -> TrainingProgress:
    """Return the progress of a job within its current phase."""
    minutes = look.job.settings.minutes if look.phase == "teach" else None
    return progress(look.lines("plan"), look.lines("step"), look.lines("evaluation"), minutes)


def describe_job(look: JobStatus) -> str:
    """Return a sentence on the phase and the progress of a running job."""
    if look.phase == "changes":
        return _("Comparing the heads")
    found, what = progress_of(look), _describe_control(look) if look.phase == "twin" else _("Training")
    if not found.last:
        return _("Loading model and data")
    if found.step >= found.last:
        return _("Saving and testing") if look.phase == "teach" else _("Saving the control")
    said = _("{what}: step {step:,} of {last:,}", what=what, step=found.step, last=found.last)
    return _("{said}, {left}", said=said, left=found.time_left) if found.time_left else said


def _describe_control(look: JobStatus) -> str:
    """Return a phrase for the shuffled-label control that is being trained."""
    plans = look.lines("plan")
    number = plans[-1].get("twin", 0) if plans else 0
    return translate(TWINS[number]) if number < len(TWINS) else _("Training a control")
