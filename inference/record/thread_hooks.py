"""Hooks on the modules of a shared model that see the passes of one thread alone."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

Before = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]  # module, args, kwargs
After = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], Any]  # module, args, kwargs, output


def register_pre_hook(module: torch.nn.Module, hook: Before) -> RemovableHandle:
    """Calls ``hook(module, args, kwargs)`` before each run of the module in this thread; returns as torch has it.

    >>> halves = register_pre_hook(double := torch.nn.Identity(), lambda module, args, kwargs: ((args[0] / 2,), kwargs))
    >>> double(torch.ones(2))
    tensor([0.5000, 0.5000])
    >>> halves.remove()
    """
    mine = get_ident()

    # torch notes that a hook takes keywords a moment after it is there: a pass of another thread may call it without.
    def run_hook(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        return hook(module, args, kwargs or {}) if get_ident() == mine else None

    return module.register_forward_pre_hook(run_hook, with_kwargs=True)


def register_post_hook(module: torch.nn.Module, hook: After) -> RemovableHandle:
    """Calls ``hook(module, args, kwargs, output)`` after each run of the module in this thread; None keeps its output.

    >>> doubled = register_post_hook(same := torch.nn.Identity(), lambda module, args, kwargs, output: 2 * output)
    >>> same(torch.ones(2))
    tensor([2., 2.])
    >>> doubled.remove()
    """
    mine = get_ident()

    def run_hook(module: Any, args: tuple[Any, ...], *rest: Any) -> Any:
        return hook(module, args, *rest) if get_ident() == mine else None

    return module.register_forward_hook(run_hook, with_kwargs=True)
