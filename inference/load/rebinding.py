"""Replaced functions of a model, such as a wrapped forward, bound to the copy's modules instead of the model's."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import torch

_MOST = 1000  # items of a list or dict that is followed


def functions(model: torch.nn.Module) -> Iterator[FunctionType]:
    """Every plain Python function that was set on a module or hooked onto it."""
    for module in model.modules():
        for value in vars(module).values():
            for found in value.values() if isinstance(value, dict) else (value,):
                if isinstance(found, FunctionType):
                    yield found


def rebind(model: torch.nn.Module, memo: dict[int, Any]) -> dict[int, Any]:
    """Add to deepcopy's memo a copy of each function that refers to modules of the model.

    deepcopy shares functions, so a wrapper such as ``lambda *a, **k: old(*a, **k)`` would run the model's own module.
    Methods, partial functions, closures, defaults, globals and containers are followed; everything else stays shared.
    """
    own = {id(module) for module in model.modules()}
    found = [function for function in functions(model) if _reaches(function, own, {})]
    for function in list(found):
        found += [inner for inner in _inner(function, {}) if _reaches(inner, own, {})]
    made = {id(function): (function, _copy_function(function, own)) for function in found}
    memo.update((at, new) for at, (_function, new) in made.items())  # before any is filled, as they may name each other
    for function, new in made.values():
        _fill(function, new, own, memo)
    return memo


def refers_to(function: FunctionType) -> dict[str, Any]:
    """The globals and the closure that a function reads, by name; its defaults under numbers and names of their own."""
    found = {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}
    found |= {name: cell.cell_contents for name, cell in _cells(function) if _is_full(cell)}
    found |= {f"default {at}": value for at, value in enumerate(function.__defaults__ or ())}
    return found | {f"default {name}": value for name, value in (function.__kwdefaults__ or {}).items()}


def _cells(function: FunctionType) -> list[tuple[str, CellType]]:
    return list(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def _is_full(cell: CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return False
    return True


def _inner(value: Any, seen: dict[int, Any]) -> Iterator[FunctionType]:
    """Every function that a function refers to, at any depth."""
    for part in _parts(value):
        if isinstance(part, FunctionType | MethodType | partial | list | tuple | dict) and id(part) not in seen:
            seen[id(part)] = part
            if isinstance(part, FunctionType):
                yield part
            yield from _inner(part, seen)


def _parts(value: Any) -> list[Any]:
    """The values that a function, a method, a partial function or a container refers to."""
    if isinstance(value, FunctionType):
        return list(refers_to(value).values())
    if isinstance(value, MethodType):
        return [value.__self__]
    if isinstance(value, list | tuple) and len(value) <= _MOST:
        return list(value)
    if isinstance(value, dict) and len(value) <= _MOST:
        return list(value.values())
    return [value.func, *value.args, *value.keywords.values()] if isinstance(value, partial) else []


def _reaches(value: Any, own: set[int], seen: dict[int, Any]) -> bool:
    """Whether a value is a module of the model or refers to one, at any depth."""
    if isinstance(value, torch.nn.Module):
        return id(value) in own
    if id(value) in seen:
        return False
    seen[id(value)] = value
    return any(_reaches(part, own, seen) for part in _parts(value))


def _copy_function(function: FunctionType, own: set[int]) -> FunctionType:
    """Return a copy whose names of the model's modules are still to be filled in."""
    cells = tuple(
        CellType() if _is_full(cell) and _reaches(cell.cell_contents, own, {}) else cell for _, cell in _cells(function)
    )
    names = function.__globals__
    if any(name in names and _reaches(names[name], own, {}) for name in function.__code__.co_names):
        names = dict(names)
    new = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    new.__kwdefaults__ = function.__kwdefaults__
    new.__dict__.update(function.__dict__)
    return new


def _fill(function: FunctionType, new: FunctionType, own: set[int], memo: dict[int, Any]) -> None:
    """Give the copy of a function the copies of the modules that the function refers to."""

    def copy_value(value: Any) -> Any:
        return copy.deepcopy(value, memo) if _reaches(value, own, {}) else value

    for (_, old), (_, cell) in zip(_cells(function), _cells(new), strict=True):
        if cell is not old:
            cell.cell_contents = copy_value(old.cell_contents)
    if new.__globals__ is not function.__globals__:
        for name in function.__code__.co_names:
            if name in function.__globals__:
                new.__globals__[name] = copy_value(function.__globals__[name])
    if function.__defaults__:
        new.__defaults__ = tuple(map(copy_value, function.__defaults__))
    if function.__kwdefaults__:
        new.__kwdefaults__ = {name: copy_value(value) for name, value in function.__kwdefaults__.items()}
