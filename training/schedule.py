"""AdamW with BERT's parameter groups, and the learning rate of every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from inference.errors import UserError
from training.config import OptimizerTable

if TYPE_CHECKING:  # the queue of trainings reads schedules and does not wait for torch
    import torch
    from torch.nn import Parameter
    from transformers import PreTrainedModel


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
        >>> [round(shape.replan(4, last=8).share(step), 3) for step in (3, 4, 5, 8)]
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

    >>> read(to_json(start(2, 6).replan(4, last=8))) == start(2, 6).replan(4, last=8)
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


def optimiser(model: PreTrainedModel, settings: OptimizerTable, layer_decay: float = 1.0) -> torch.optim.AdamW:
    """AdamW over all parameters; each group keeps its own highest rate in ``peak``.

    With ``layer_decay``, each layer of a BERT further down learns at this share of the rate above it.
    """
    import torch

    layers = model.config.num_hidden_layers
    groups: dict[tuple[int, bool], list[Parameter]] = {}
    for name, parameter in model.named_parameters():
        groups.setdefault((_depth(name, layers), parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "lr": 0.0,
                "peak": settings.rate * layer_decay**depth,
                "weight_decay": settings.weight_decay if decays else 0.0,
            }
            for (depth, decays), parameters in groups.items()
        ],
        betas=settings.betas,
        eps=1e-6,
        fused=True,
    )


def set_rate(optimiser: torch.optim.Optimizer, share: float) -> None:
    """Every group's rate as a share of its highest."""
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * share


def _depth(name: str, layers: int) -> int:
    """How many layers lie above a parameter: 0 for the heads and the pooler, ``layers`` for the embeddings' own."""
    if name.startswith("bert.encoder.layer."):
        return layers - 1 - int(name.split(".")[3])
    return layers if name.startswith("bert.embeddings.") and "word_embeddings" not in name else 0
