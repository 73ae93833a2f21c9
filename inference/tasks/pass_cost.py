"""The time and memory of a forward pass over n tokens, measured on the machine that runs the app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True)
class MeasuredCost:
    """The measured cost of a text length; ``seconds`` are the wall-clock times of the passes.

    A first pass warms up and is not included, unless it is too slow to be repeated. ``busy`` is the mean processor
    time of the computing thread for a pass, in seconds: the time of a pass on an idle machine. ``peak_bytes`` is
    the peak memory of the pass's own tensors, without weights and the internal buffers of kernels.
    """

    tokens: int
    seconds: tuple[float, ...]
    busy: float
    peak_bytes: int
    threads: int

    @property
    def best(self) -> float:
        """Return the fastest wall-clock time, since other processes can only slow a pass down."""
        return min(self.seconds)


@dataclass(frozen=True)
class CostRequest(InspectRequest[MeasuredCost]):
    """A request to measure a text length; answers are cached, so increase ``again`` to repeat it."""

    ANSWERED_BY: ClassVar[str] = "pass_cost"

    tokens: int = 16
    again: int = 0
