"""A model without its numbers: what a configuration would build, measured before any memory is taken for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from threading import get_ident
from typing import Any

import torch

from inference.record.capture import NAME

MOST_MODULES = 200_000  # of one model; to build them takes some ten seconds


def measure_on_meta(config: Any, auto: Any) -> tuple[int, str]:
    """The numbers that ``auto``'s model of this configuration holds, and the attention implementation to load it with.

    Raises ValueError for a configuration that would be built for minutes.
    """
    with torch.device("meta"), few_modules():
        try:
            model, implementation = (
                auto.from_config(deepcopy(config), attn_implementation=NAME, trust_remote_code=False),
                NAME,
            )
        except KeyError:  # its code knows a fixed list of names only
            model = auto.from_config(deepcopy(config), trust_remote_code=False)
            implementation = model.config._attn_implementation  # noqa: SLF001  # no public way to ask
    return sum(tensor.numel() for group in (model.parameters(), model.buffers()) for tensor in group), implementation


@contextmanager
def few_modules() -> Iterator[None]:
    """Raises ValueError inside the block once this thread has built more modules than any model has.

    Experts times layers, or whatever else a configuration repeats: what counts is how many come out.
    """
    built, builder = 0, get_ident()

    def count(_module: torch.nn.Module, _name: str, _child: torch.nn.Module | None) -> None:
        nonlocal built
        built += get_ident() == builder
        if built > MOST_MODULES:
            raise ValueError(f"A model of more than {MOST_MODULES:,} modules was asked for. Pick a smaller one.")

    handle = torch.nn.modules.module.register_module_module_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()
