"""One small forward pass, watched: which module ran when, what it read and what it made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from inference.record import smallest_input
from inference.record.attention_function import PATH
from inference.record.thread_hooks import register_post_hook, register_pre_hook

KEPT = 4096  # numbers kept of a tensor: enough to tell any two apart
# What every attention passes through, whoever wrote it.
SOFTMAX = {"softmax", "scaled_dot_product_attention", "logsumexp"}

Numbers = npt.NDArray[np.float32]


@dataclass(eq=False)
class Visit:
    """One run of one module, from moment ``began`` to moment ``ended`` of the pass."""

    path: str
    module: Any
    began: int
    given: Numbers  # the first numbers of the first tensor that it read
    width: int  # of that tensor's last axis
    ended: int = -1
    made: Numbers = field(default_factory=lambda: np.zeros(0, np.float32))

    def contains(self, moment: int) -> bool:
        """Whether a moment lies within this run."""
        return self.began <= moment <= self.ended


@dataclass(frozen=True, eq=False)
class WatchedPass:
    """A whole pass: every run of a module in the order in which they began, and every softmax over scores."""

    visits: tuple[Visit, ...]
    softmaxes: tuple[tuple[int, str], ...]  # (moment, path of the module that computes it)

    def visits_inside(self, visit: Visit) -> list[Visit]:
        """The runs within another one, itself left out."""
        return [other for other in self.visits if visit.began < other.began and other.ended < visit.ended]


def watch(model: Any, given: Mapping[str, Tensor] | None = None) -> WatchedPass:
    """Watch one pass over ``given``, a tiny input where none is given. Other threads' passes are not noticed."""
    visits: list[Visit] = []
    running: list[Visit] = []
    softmaxes: list[tuple[int, str]] = []
    moments = iter(range(10**9))

    def enter(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        first = next(_tensors([kwargs.get("hidden_states"), *args, *kwargs.values()]), None)
        width = 0 if first is None or not first.ndim else int(first.shape[-1])
        visit = Visit(getattr(module, PATH, ""), module, next(moments), _numbers(first), width)
        visits.append(visit)
        running.append(visit)

    def leave(_module: Any, _args: tuple[Any, ...], _kwargs: dict[str, Any], output: Any) -> None:
        visit = running.pop()
        visit.ended, visit.made = next(moments), _numbers(next(_tensors([output]), None))

    class Softmaxes(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if getattr(function, "__name__", "") in SOFTMAX and _has_heads(next(_tensors(args), None)):
                softmaxes.append((next(moments), running[-1].path if running else ""))
            return function(*args, **(kwargs or {}))

    with _register_hooks(model, enter, leave), Softmaxes(), torch.inference_mode():
        model(**(given or smallest_input.inputs(model)))
    return WatchedPass(tuple(visits), tuple(softmaxes))


@contextmanager
def _register_hooks(model: Any, enter: Any, leave: Any) -> Iterator[None]:
    handles = []
    try:
        for module in model.modules():
            handles.append(register_pre_hook(module, enter))
            handles.append(register_post_hook(module, leave))
        yield
    finally:
        for handle in handles:
            handle.remove()


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """Every tensor in arguments or in an output, in order, however they are wrapped."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Mapping):
            yield from _tensors(value.values())
        elif isinstance(value, tuple | list):
            yield from _tensors(value)


def _has_heads(tensor: Tensor | None) -> bool:
    """Whether these are scores of heads, (text, head, …) or (text and head, query, key), not those of a router."""
    return tensor is not None and (tensor.ndim == 4 or (tensor.ndim == 3 and tensor.shape[0] > 1))


def _numbers(tensor: Tensor | None) -> Numbers:
    if tensor is None:
        return np.zeros(0, np.float32)
    # A copy, because some models go on to scale what they were given in place.
    found: Numbers = tensor.detach().reshape(-1)[:KEPT].to("cpu", torch.float32, copy=True).numpy()
    return found
