"""The learning rate at every step: warm-up, then a straight line to 0, which may be planned anew.

How many steps fit into the time that is left is not known beforehand on a machine that does other work. So a run by
the clock makes a new plan from the speed it measures: from where the rate is now, straight to 0 at the new last step.
Every plan is kept in the checkpoint and written to metrics.jsonl, and the rate depends on step and plans alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

from inference.errors import UserError


@dataclass(frozen=True)
class Plan:
    """From ``step``, where the rate is that share of its highest, a straight line to 0 at step ``last``."""

    step: int
    share: float
    last: int


@dataclass(frozen=True)
class Schedule:
    """The rate's shape, between 0 and 1: the warm-up, and every plan made so far."""

    warm_up: int
    plans: tuple[Plan, ...]

    @property
    def last(self) -> int:
        """The step at which the rate reaches 0 and the run ends."""
        return self.plans[-1].last

    def share(self, step: int) -> float:
        """The rate at a step, as a share of its highest.

        >>> shape = start(warm_up=2, last=6)
        >>> [round(shape.share(step), 2) for step in range(7)]
        [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
        >>> [round(shape.planned(4, last=8).share(step), 3) for step in (3, 4, 5, 8)]
        [0.75, 0.5, 0.375, 0.0]
        """
        if step < self.warm_up:
            return (step + 1) / self.warm_up
        current = next((plan for plan in reversed(self.plans) if plan.step <= step), self.plans[0])
        return current.share * max(0.0, (current.last - step) / max(1, current.last - current.step))

    def replan(self, step: int, last: int, share: float | None = None) -> Schedule:
        """The same, with a new last step decided at a step; plans made during the warm-up start at its end.

        The rate goes on from where it is, or from ``share``: what has come to 0 needs one to go on at all.
        """
        if last <= step:
            raise UserError(f"The last step, {last}, is not after step {step}.")
        if step < self.warm_up:
            return start(self.warm_up, max(last, self.warm_up + 1))
        share = self.share(step) if share is None else share
        return Schedule(self.warm_up, (*self.plans, Plan(step, share, last)))


def to_json(shape: Schedule) -> dict[str, Any]:
    """A schedule as a JSON file holds it.

    >>> read(to_json(start(2, 6).planned(4, last=8))) == start(2, 6).planned(4, last=8)
    True
    """
    return {"warm_up": shape.warm_up, "plans": [list(astuple(plan)) for plan in shape.plans]}


def read(said: Mapping[str, Any]) -> Schedule:
    """The schedule that was written."""
    return Schedule(said["warm_up"], tuple(Plan(*plan) for plan in said["plans"]))


def start(warm_up: int, last: int) -> Schedule:
    """A schedule with its first plan; raises Refusal where the warm-up leaves no step."""
    if last <= warm_up:
        raise UserError(f"{last} steps leave none after a warm-up of {warm_up}.")
    return Schedule(warm_up, (Plan(warm_up, 1.0, last),))
