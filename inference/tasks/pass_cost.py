"""How long does one forward pass take, and how much memory, for n tokens? Measured on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True)
class MeasuredCost:
    """One length, measured. ``seconds`` are the passes by the clock, a first one to warm up left out.

    ``busy`` is the processor time that the computing thread spent on one of them, in seconds, on the average: what a
    pass takes where nothing else runs. ``peak_bytes`` is the most that the pass's own tensors held at one time, weights
    and what kernels keep to themselves left out.
    """

    tokens: int
    seconds: tuple[float, ...]
    busy: float
    peak_bytes: int
    threads: int

    @property
    def best(self) -> float:
        """The fastest pass by the clock: whatever else a machine does only slows a pass down."""
        return min(self.seconds)


@dataclass(frozen=True)
class CostRequest(InspectRequest[MeasuredCost]):
    """Asks for one length. ``again`` counts up when a length is to be measured anew, since answers are kept."""

    ANSWERED_BY: ClassVar[str] = "pass_cost"

    tokens: int = 16
    again: int = 0
