"""Recognition of a module's formula from its numbers, not from its name: a matrix product or a norm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.mask import FloatArray
from attention.walkthrough import Norm, normalise
from inference.runners.block_recorder import Event

NEAR = 1e-4  # relative to the largest number: the allowed rounding difference between formula and module
EPSILONS = ("eps", "variance_epsilon", "epsilon", "layer_norm_eps", "norm_eps")
USUAL = (1e-5, 1e-6, 1e-12)  # for modules without any of these attributes


@dataclass(frozen=True, eq=False)
class Linear:
    """The affine map x · weight + bias."""

    weight: FloatArray  # (input, output)
    bias: FloatArray | None  # (output,)


def is_close(one: FloatArray, other: FloatArray) -> bool:
    """Return True if two arrays are equal up to rounding."""
    if one.shape != other.shape:
        return False
    size = max(float(np.abs(other).max(initial=0)), 1e-3)
    return bool(np.abs(one - other).max(initial=0) <= NEAR * size)


def linear(event: Event) -> Linear | None:
    """Return the matrix product that a module computes, or None for another formula.

    The module may store its matrix in either orientation.
    """
    weight, bias = _parameter(event.module, "weight"), _parameter(event.module, "bias")
    if weight is None or weight.ndim != 2 or event.given.ndim != 2 or event.gave.ndim != 2:
        return None
    for matrix in (weight.T, weight):  # torch.nn.Linear stores (output, input), GPT-2's Conv1D (input, output)
        if matrix.shape == (event.given.shape[1], event.gave.shape[1]):
            found = event.given @ matrix
            if is_close(found if bias is None else found + bias, event.gave):
                return Linear(matrix, bias)
    return None


def norm(event: Event) -> Norm | None:
    """Return the norm that a module computes, the closest of all candidates, or None for another formula."""
    if event.given.shape != event.gave.shape:
        return None
    candidates = list(_norms(event.module, event.given.shape[-1]))
    made = [normalise(event.given, candidate) for candidate in candidates]
    nearest = min(range(len(made)), key=lambda at: float(np.abs(made[at] - event.gave).max()))
    return candidates[nearest] if is_close(made[nearest], event.gave) else None


def _norms(module: Any, width: int) -> Iterator[Norm]:
    """Yield the norms that a module may compute, the most common first."""
    weight, bias = (
        next((a for name in names if (a := _parameter(module, name)) is not None and a.shape == (width,)), None)
        for names in (("weight", "gamma", "scale"), ("bias", "beta"))
    )
    stated = [float(eps) for name in EPSILONS if isinstance(eps := getattr(module, name, None), float)]
    for eps in stated or USUAL:
        for kind in ("layer", "rms"):
            yield Norm(kind, eps, weight, bias)
            if weight is not None:
                yield Norm(kind, eps, weight + 1, bias)


def _parameter(module: Any, name: str) -> FloatArray | None:
    """Return a copy of a module's parameter, which may outlive the model, or None."""
    tensor = getattr(module, name, None)
    if tensor is None or not hasattr(tensor, "detach"):
        return None
    found: FloatArray = np.array(tensor.detach().float().cpu().numpy())
    found.setflags(write=False)
    return found
