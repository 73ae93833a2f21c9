"""Which formula a module computes, told from its numbers and not from its name: a matrix product, or a norm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.mask import FloatArray
from attention.walkthrough import Norm, normalise
from inference.runners.block_recorder import Event

NEAR = 1e-4  # of the largest number: by so much float32 may round a formula otherwise than the module does
EPSILONS = ("eps", "variance_epsilon", "epsilon", "layer_norm_eps", "norm_eps")
USUAL = (1e-5, 1e-6, 1e-12)  # where a module does not say


@dataclass(frozen=True, eq=False)
class Linear:
    """x · weight + bias."""

    weight: FloatArray  # (input, output)
    bias: FloatArray | None  # (output,)


def is_close(one: FloatArray, other: FloatArray) -> bool:
    """Whether two arrays hold the same numbers, to rounding."""
    if one.shape != other.shape:
        return False
    size = max(float(np.abs(other).max(initial=0)), 1e-3)
    return bool(np.abs(one - other).max(initial=0) <= NEAR * size)


def linear(event: Event) -> Linear | None:
    """The matrix product that a module computes, whichever way round it keeps its matrix; None for another formula."""
    weight, bias = _parameter(event.module, "weight"), _parameter(event.module, "bias")
    if weight is None or weight.ndim != 2 or event.given.ndim != 2 or event.gave.ndim != 2:
        return None
    for matrix in (weight.T, weight):  # torch keeps (output, input), GPT-2's Conv1D (input, output)
        if matrix.shape == (event.given.shape[1], event.gave.shape[1]):
            found = event.given @ matrix
            if is_close(found if bias is None else found + bias, event.gave):
                return Linear(matrix, bias)
    return None


def norm(event: Event) -> Norm | None:
    """The norm that a module computes, the nearest of all there are; None for another formula."""
    if event.given.shape != event.gave.shape:
        return None
    candidates = list(_norms(event.module, event.given.shape[-1]))
    made = [normalise(event.given, candidate) for candidate in candidates]
    nearest = min(range(len(made)), key=lambda at: float(np.abs(made[at] - event.gave).max()))
    return candidates[nearest] if is_close(made[nearest], event.gave) else None


def _norms(module: Any, width: int) -> Iterator[Norm]:
    """What a norm may compute, the usual first."""
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
    """A copy of a module's weight, so that it may outlive the model."""
    tensor = getattr(module, name, None)
    if tensor is None or not hasattr(tensor, "detach"):
        return None
    found: FloatArray = np.array(tensor.detach().float().cpu().numpy())
    found.setflags(write=False)
    return found
