"""A text under many edits, in a batch that a sample joins only before the layer of its first edit.

The ablation of a head leaves every earlier layer unchanged. So a pass begins with a single sample, and before each
layer the batch grows by the samples with their first edit in that layer. For L layers of H heads, the cost is
about H (L + 1) / 2 layers for each L of a plain pass, instead of H L.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

GROWS = "_headlight_grows"  # on a prepared model: the number of its layers, if samples can join before each of them


@dataclass(eq=False)
class Growth:
    """The number of samples that join before each layer, and the number of layers that have begun."""

    joining: Sequence[int]
    begun: int = 0

    def join(self, hidden: Tensor) -> Tensor:
        """Return the next layer's input (sample, token, channel) with copies of the first sample appended."""
        many = self.joining[self.begun]
        self.begun += 1
        return torch.cat([hidden, hidden[:1].expand(many, *hidden.shape[1:])]) if many else hidden


_growth: ContextVar[Growth | None] = ContextVar("headlight_growth", default=None)


@contextmanager
def grow_batch(joining: Sequence[int]) -> Iterator[None]:
    """Grow the batch of a pass from a single sample, by ``joining`` samples before each layer.

    Other threads are not affected.
    """
    token = _growth.set(Growth(joining))
    try:
        yield
    finally:
        _growth.reset(token)


def prepare(model: Any, layers: Sequence[str], given: dict[str, Tensor]) -> None:
    """Register the hooks that let samples join before the layers with the paths ``layers``, if this works.

    A trial pass decides, in which samples join before the first and before the last layer.
    """
    if not all(layers):
        return
    hooks = [
        model.get_submodule(layer).register_forward_pre_hook(_join_samples, with_kwargs=True)
        for layer in dict.fromkeys(layers)
    ]
    joining = [2, *[0] * (len(layers) - 2), 1] if len(layers) > 1 else [3]
    try:
        with grow_batch(joining), torch.inference_mode():
            grown = model(**given)[0]
            complete = _growth.get()
        fits = grown.shape[0] == 4 and complete is not None and complete.begun == len(layers)
        fits = fits and torch.allclose(grown, grown[:1], atol=1e-4, rtol=1e-3)
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError):
        fits = False
    if fits:
        setattr(model, GROWS, len(layers))
    else:
        for hook in hooks:
            hook.remove()


def _join_samples(_module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    growth = _growth.get()
    if growth is None:
        return None
    if args:
        return (growth.join(args[0]), *args[1:]), kwargs
    return args, {**kwargs, "hidden_states": growth.join(kwargs["hidden_states"])}
