"""AdamW with BERT's parameter groups, and the learning-rate schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from inference.errors import UserError
from training.config import OptimizerTable

if TYPE_CHECKING:  # the job queue reads schedules and must not import torch, which is slow
    import torch
    from torch.nn import Parameter
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Plan:
    """A linear decay of the learning rate to 0 at step ``last``.

    It starts at ``step`` with the fraction ``share`` of the peak rate.
    """

    step: int
    share: float
    last: int


@dataclass(frozen=True)
class Schedule:
    """A learning-rate schedule, as fractions of the peak rate: a linear warm-up, then linear decays.

    Each decay in ``plans`` has a first step, from which it replaces the decay before it.
    """

    warm_up: int
    plans: tuple[Plan, ...]

    @property
    def last(self) -> int:
        """Return the last step, at which the learning rate reaches 0."""
        return self.plans[-1].last

    def share(self, step: int) -> float:
        """Return the learning rate at a step as a fraction of its peak, between 0 and 1.

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
        """Return a copy of the schedule with a new decay from ``step`` to the last step ``last``.

        During the warm-up, the decay starts when the warm-up ends. Later it starts from the current learning rate, or
        from ``share`` of the peak if given. Raise UserError if ``last`` is not after ``step``.
        """
        if last <= step:
            raise UserError(f"The last step, {last}, is not after step {step}.")
        if step < self.warm_up:
            return start(self.warm_up, max(last, self.warm_up + 1))
        share = self.share(step) if share is None else share
        return Schedule(self.warm_up, (*self.plans, Plan(step, share, last)))


def to_json(shape: Schedule) -> dict[str, Any]:
    """Return a schedule as JSON values.

    >>> read(to_json(start(2, 6).replan(4, last=8))) == start(2, 6).replan(4, last=8)
    True
    """
    return {"warm_up": shape.warm_up, "plans": [list(astuple(plan)) for plan in shape.plans]}


def read(said: Mapping[str, Any]) -> Schedule:
    """Return the schedule from the JSON values of ``to_json``."""
    return Schedule(said["warm_up"], tuple(Plan(*plan) for plan in said["plans"]))


def start(warm_up: int, last: int) -> Schedule:
    """Return a schedule with ``warm_up`` steps of warm-up and a decay that ends at step ``last``.

    Raise UserError if no step is left after the warm-up.
    """
    if last <= warm_up:
        raise UserError(f"{last} steps leave none after a warm-up of {warm_up}.")
    return Schedule(warm_up, (Plan(warm_up, 1.0, last),))


def optimiser(model: PreTrainedModel, settings: OptimizerTable, layer_decay: float = 1.0) -> torch.optim.AdamW:
    """Return an AdamW optimiser for all parameters, with the peak learning rate of each group in ``peak``.

    ``peak`` is a key of each parameter group, and the learning rate itself begins at 0. In a BERT, each layer's peak
    rate is ``layer_decay`` times that of the layer above it.
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
    """Set the learning rate of every parameter group to ``share`` of its peak."""
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * share


def _depth(name: str, layers: int) -> int:
    """Return the number of layers above a parameter.

    It is 0 for heads, pooler and word embeddings, and ``layers`` for the other embeddings.
    """
    if name.startswith("bert.encoder.layer."):
        return layers - 1 - int(name.split(".")[3])
    return layers if name.startswith("bert.embeddings.") and "word_embeddings" not in name else 0
