"""Lines of PyTorch that compute a pass again: each call as one who writes it by hand would call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import resolve_name

from inference.anatomy.function_calls import FunctionCall, Value

MOST = 64  # numbers of a tensor that are written out


def line_of(function: Any, call: FunctionCall, changes: bool) -> str:
    """The line of a call; ``changes``: it changes what it is given, of which the line makes a copy first."""
    name, made = name_of(function), f"v{call.number}"
    first, *rest = (format_argument(one) for one in call.given) if call.given else ("",)
    named = [f"{key}={format_argument(one)}" for key, one in call.named.items()]
    if name == "__setitem__":
        return f"{made} = {first}.clone(); {made}[{_place(call.given[1])}] = {format_argument(call.given[2])}"
    if name == "__getitem__":
        return f"{made} = {first}[{_place(call.given[1])}]"
    if name in ("T", "mT"):
        return f"{made} = {first}.{name}"
    if (resolve_name(function) or "").startswith("torch.Tensor."):
        copied = f"{first}.clone()" if changes else first
        return f"{made} = {copied}.{name}({', '.join([*rest, *named])})"
    place = "F" if getattr(torch.nn.functional, name, None) is function else "torch"
    return f"{made} = {place}.{name}({', '.join([first, *rest, *named])})"


def name_of(function: Any) -> str:
    """A function's own name; an attribute's where it is read."""
    name = str(getattr(function, "__name__", function))
    return str(function.__self__.__name__) if name == "__get__" else name


def literal(tensor: Tensor) -> str:
    """A small tensor that nobody was seen to make, written out; "" for a large one."""
    return f"torch.tensor({tensor.tolist()}, dtype={tensor.dtype})" if tensor.numel() <= MOST else ""


def format_argument(leaf: Any) -> str:
    """An argument as it is written in Python."""
    if isinstance(leaf, Value):
        return leaf.code
    if isinstance(leaf, list):
        return f"[{', '.join(map(format_argument, leaf))}]"
    if isinstance(leaf, tuple):
        return f"({', '.join(map(format_argument, leaf))}{',' if len(leaf) == 1 else ''})"
    if isinstance(leaf, slice):
        return f"slice({format_argument(leaf.start)}, {format_argument(leaf.stop)}, {format_argument(leaf.step)})"
    if isinstance(leaf, torch.device):
        return f'"{leaf}"'
    return f'float("{leaf}")' if isinstance(leaf, float) and leaf in (torch.inf, -torch.inf) else repr(leaf)


def _place(at: Any) -> str:
    """What stands in square brackets.

    >>> _place((slice(None), 0, ...))
    ':, 0, ...'
    """
    if isinstance(at, tuple):
        return ", ".join(map(_place, at)) or "()"
    if isinstance(at, slice):
        ends = ["" if end is None else format_argument(end) for end in (at.start, at.stop, at.step)]
        return f"{ends[0]}:{ends[1]}" + (f":{ends[2]}" if ends[2] else "")
    return "..." if at is Ellipsis else format_argument(at)


def required_calls(
    last: FunctionCall, enough: Callable[[FunctionCall], bool] = lambda _call: False
) -> list[FunctionCall]:
    """The calls that lead to one, in order, itself the last; none behind those of which ``enough`` is true."""
    waiting, found = [last], dict[int, FunctionCall]()
    while waiting:
        call = waiting.pop()
        if call.number not in found:
            found[call.number] = call
            waiting.extend(v.call for v in call.reads() if v.call is not None and not enough(v.call))
    return [found[number] for number in sorted(found)]
