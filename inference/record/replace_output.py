"""Another value in the place of what a module hands on, for one thread's forward passes only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from inference.record.thread_hooks import register_post_hook


@contextmanager
def replacing_output(module: torch.nn.Module, change: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Inside the block, ``change(module, output)`` is what the module hands on; None leaves it as it is.

    Other threads use the same model meanwhile and are not touched.

    >>> double = torch.nn.Identity()
    >>> with replacing_output(double, lambda module, output: 2 * output):
    ...     double(torch.ones(2))
    tensor([2., 2.])
    >>> double(torch.ones(2))
    tensor([1., 1.])
    """
    handle = register_post_hook(module, lambda called, _args, _kwargs, output: change(called, output))
    try:
        yield
    finally:
        handle.remove()
