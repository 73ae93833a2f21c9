"""The fingerprint of a model in memory: all that decides which numbers it computes, without the numbers themselves."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

import torch

from inference.load.rebinding import refers_to

_OF_TORCH = frozenset(vars(torch.nn.Module())) - {"_parameters", "_buffers"}  # hooks, submodules, the mode
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
_DEEP = 6  # levels of values inside values


def fingerprint(model: torch.nn.Module) -> tuple[Any, ...]:
    """Return a value that changes with tensors, configuration, functions, attributes, adapters or hooks."""
    known: dict[int, Any] = {}
    return tuple(part for module in model.modules() for part in _module(module, known))


def _module(module: torch.nn.Module, known: dict[int, Any]) -> Iterator[Any]:
    yield id(module)
    yield _function(type(module).forward, known)
    for name, value in vars(module).items():
        if name in _HOOKS:
            yield from (_function(hook, known) for hook in value.values())
        elif name in ("_parameters", "_buffers"):
            yield from (_tensor(tensor) for tensor in value.values() if tensor is not None)
        elif name not in _OF_TORCH:
            yield name
            yield _value(value, known, _DEEP)


def _tensor(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Return a tensor's place, kind and version, which counts its changes."""
    version = None if tensor.is_inference() else tensor._version  # noqa: SLF001  # torch has no public way to ask
    place = tensor.data_ptr() if tensor.layout == torch.strided else id(tensor)
    return id(tensor), place, tensor.device, tensor.dtype, tensor.shape, version


def _function(function: Any, known: dict[int, Any]) -> Any:
    """Return a function's identity, its code's, and the plain values that it reads."""
    if isinstance(function, MethodType):
        return id(function.__self__), _function(function.__func__, known)
    if not isinstance(function, FunctionType):
        return id(function)
    if id(function) not in known:
        known[id(function)] = None
        plain = [(name, value) for name, value in refers_to(function).items() if isinstance(value, int | float | str)]
        known[id(function)] = (id(function), id(function.__code__), *plain)
    return known[id(function)]


def _value(value: Any, known: dict[int, Any], depth: int) -> Any:
    """Return a value of plain values for comparison: numbers as they are, other things by identity."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | torch.dtype | torch.device):
        return value
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, FunctionType | MethodType):
        return _function(value, known)
    if depth == 0 or isinstance(value, torch.nn.Module | type):
        return id(value)
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(_value(part, known, depth - 1) for part in value)
    if isinstance(value, dict):
        return tuple((str(name), _value(part, known, depth - 1)) for name, part in value.items())
    if not hasattr(value, "__dict__"):
        return id(value)
    if id(value) not in known:  # a configuration, which the modules share
        known[id(value)] = id(value)
        known[id(value)] = (id(value), _value(vars(value), known, depth - 1))
    return known[id(value)]
