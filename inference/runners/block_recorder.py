"""Inputs and outputs of a block's modules during a forward pass, in the order of their calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from attention.mask import FloatArray
from inference.record.attention_function import Tape
from inference.record.records import register_post_hook, register_pre_hook


@dataclass(frozen=True, eq=False)
class Event:
    """A call of a module; arrays are (token, …) of the only text."""

    path: str
    module: Any
    given: FloatArray
    gave: FloatArray
    after: int  # number of attention calls that the pass had finished when the module returned


@dataclass(eq=False)
class BlockRecorder:
    """The module calls in the block around the wanted attention, and the output of the block."""

    tape: Tape
    wanted: int  # number of the attention call in the pass
    events: list[Event] = field(default_factory=list)
    output: FloatArray | None = None

    @property
    def has_passed(self) -> bool:
        """Return True if the wanted attention has been computed."""
        return len(self.tape.calls) > self.wanted

    def opens(self) -> None:
        """Discard the events of an earlier use of the block, if the wanted attention is still to come."""
        if not self.has_passed:
            self.events.clear()

    def closes(self, output: Any) -> None:
        """Store the output of the block, if the wanted attention has been computed."""
        if self.has_passed and self.output is None:
            self.output = _array(_first(output if isinstance(output, tuple) else (output,)))

    def note(self, path: str, module: Any, args: Sequence[Any], kwargs: dict[str, Any], output: Any) -> None:
        """Append a module's call, unless the block has ended."""
        if self.output is not None:
            return
        given, gave = (
            _array(_first(values))
            for values in ((*args, *kwargs.values()), output if isinstance(output, tuple) else (output,))
        )
        if given is not None and gave is not None:
            self.events.append(Event(path, module, given, gave, len(self.tape.calls)))


@contextmanager
def watch_block(block: Any, path: str, tape: Tape, wanted: int) -> Iterator[BlockRecorder]:
    """Record the calls of the block's norms and of its modules with parameters, until the block ends."""
    watch = BlockRecorder(tape, wanted)
    hooks = [
        register_pre_hook(block, lambda _module, _args, _kwargs: watch.opens()),
        register_post_hook(block, lambda _module, _args, _kwargs, output: watch.closes(output)),
    ]
    for name, module in block.named_modules(prefix=path):
        if "norm" in type(module).__name__.lower() or any(True for _ in module.parameters(recurse=False)):
            hooks.append(register_post_hook(module, partial(watch.note, name)))
    try:
        yield watch
    finally:
        for handle in hooks:
            handle.remove()


def _first(values: Sequence[Any]) -> Any:
    return next((value for value in values if isinstance(value, torch.Tensor)), None)


def _array(tensor: Any) -> FloatArray | None:
    """Return a copy of the only text's values, (token, …), or None for other tensors.

    Models change tensors in place, and some drop the batch axis.
    """
    if tensor is None or not tensor.is_floating_point() or tensor.ndim < 2 or (tensor.ndim > 2 and tensor.shape[0] > 1):
        return None
    text = tensor if tensor.ndim == 2 else tensor[0]
    found: FloatArray = np.array(text.detach().to("cpu", torch.float32).numpy())
    return found
