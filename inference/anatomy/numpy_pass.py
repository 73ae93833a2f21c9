"""A forward pass recorded as torch calls, and recomputed in NumPy from token ids and weights only.

Every torch call is recorded with its arguments, so no code depends on a model's family. If attention/stages has a NumPy
formula for the call, the call is recomputed from earlier NumPy results and compared with torch's result. After a call
without a formula, NumPy continues from torch's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from attention.stages.formulas import FORMULAS, strip_inplace_mark
from i18n import gettext_lazy
from inference.anatomy.program import (
    Array,
    FunctionCall,
    Value,
    largest_difference,
    line_of,
    literal,
    map_leaves,
    name_of,
)
from inference.pictures.image_processing import tower
from inference.record.attention_function import PATH
from inference.record.records import hook_modules

WRONG = 1e-3  # relative to the largest number; rounding does not explain a larger difference
# Exceptions that formulas raise on unsupported arguments.
UNFIT = (TypeError, ValueError, IndexError, AssertionError, AttributeError, KeyError)
# These functions read only the shape of a tensor, not its numbers.
SHAPED = ("empty_like", "zeros_like", "ones_like", "full_like", "new_ones", "new_zeros", "new_full", "new_empty")

# A callback for every call that computes: the call, its arguments before any change in place, and its first result.
Seen = Callable[[FunctionCall, tuple[Any, ...], dict[str, Any], Tensor], None]


def compute(  # noqa: PLR0913  # a pass, its callbacks, and the formulas that recompute it
    model: Any,
    given: Mapping[str, Tensor],
    layers: Mapping[str, str],
    seen: Seen | None = None,
    then: Callable[[Any], Any] = lambda output: output,
    formulas: Mapping[str, Callable[..., Any]] = FORMULAS,
) -> list[FunctionCall]:
    """Run a forward pass on the inputs ``given``; return its torch calls, recomputed in NumPy.

    In a model with a text tower and a picture tower, only the tower that reads these inputs runs. ``layers`` maps each
    layer's path to its module list. ``seen`` is called after every torch call that computes numbers. ``then`` continues
    the pass from the model's output, for example from logits to probabilities. If ``formulas`` is empty, NumPy
    recomputes nothing and no program lines are written, so the pass costs little more than a plain pass.
    """
    run = _Pass(model, seen, formulas)
    for name, tensor in given.items():
        run.known[tensor] = Value(f'given["{name}"]', tuple(tensor.shape))
    with _track_module(model, layers, run), _Functions(run), torch.inference_mode():
        then(tower(model, given)(**given))
    return run.calls


@dataclass(eq=False)
class _Pass:
    """The state of a running pass: the origin and the numpy value of each live tensor."""

    model: Any
    seen: Seen | None
    formulas: Mapping[str, Callable[..., Any]]
    calls: list[FunctionCall] = field(default_factory=list)
    known: Any = field(default_factory=WeakTensorKeyDictionary)  # maps each tensor to its Value
    anew: Any = field(default_factory=WeakTensorKeyDictionary)  # maps each tensor to its numpy result
    paths: list[str] = field(default_factory=list)  # paths of the running modules, innermost last
    layer: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, tensor in self.model.named_parameters():
            self.known[tensor] = Value(f'p("{name}")', tuple(tensor.shape), weight=name, grown=True)
        for name, tensor in self.model.named_buffers():
            self.known[tensor] = Value(f'b("{name}")', tuple(tensor.shape))

    def value(self, tensor: Tensor) -> Value:
        """Return the origin of a tensor; register it as a literal if no recorded call made it."""
        found: Value | None = self.known.get(tensor)
        if found is None:
            found = self.known[tensor] = Value(literal(tensor), tuple(tensor.shape))
        return found

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a torch function and record the call if it makes or changes tensors."""
        read: list[tuple[Tensor, Value]] = []

        def note_leaf(leaf: Any) -> Any:
            if not isinstance(leaf, Tensor):
                return leaf
            read.append((leaf, self.value(leaf)))
            return read[-1][1]

        given, named = map_leaves((args, kwargs), note_leaf)
        call = FunctionCall(
            number=len(self.calls),
            name=strip_inplace_mark(name_of(function)),
            path=self.paths[-1] if self.paths else "",
            layer=self.layer[-1] if self.layer else None,
            given=given,
            named=named,
        )
        call.grown = call.name not in SHAPED and any(value.grown for _, value in read)
        changes = _changes(name_of(function))
        if call.grown:
            _note_rules(read)
        made = self._formula(call, args, kwargs) if call.grown and self.formulas else None
        before = (args[0].clone(), *args[1:]) if changes and call.grown else args
        gave = function(*args, **kwargs)
        results = [args[0]] if changes else [one for one in _as_sequence(gave) if isinstance(one, Tensor)]
        if results and (changes or not all(any(one is given for given in args) for one in results)):
            if self.formulas:
                call.line = line_of(function, call, changes)
            self._keep(call, results, made, isinstance(gave, tuple | list))
            if call.grown and self.seen is not None:
                self.seen(call, before, kwargs, results[0])
        return gave

    def _formula(self, call: FunctionCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the numpy result of a call; set ``call.refused`` and return None if no formula applies."""
        formula = self.formulas.get(call.name)
        if formula is None:
            call.refused = gettext_lazy("torch's {name} has no formula here", name=call.name)
            return None
        given, named = map_leaves((args, kwargs), self._anew)
        try:
            with np.errstate(all="ignore"):
                return formula(*given, **named)
        except UNFIT as error:
            call.refused = gettext_lazy("torch's {name} has no formula here: {error}", name=call.name, error=error)
            return None

    def _anew(self, leaf: Any) -> Any:
        """Return an argument for numpy: its recomputed value if there is a value, else its own numbers."""
        if isinstance(leaf, Tensor) and leaf in self.anew:
            return self.anew[leaf]
        return as_numpy(leaf)

    def _keep(self, call: FunctionCall, results: Sequence[Tensor], made: Any, several: bool) -> None:
        """Record a call and compare its results with the numpy results."""
        self.calls.append(call)
        call.shape, call.fractions = tuple(results[0].shape), results[0].is_floating_point()
        anew = [] if made is None else [np.asarray(one) for one in _as_sequence(made)]
        if made is not None:
            self._compare(call, anew, [numpy_of(result) for result in results])
        for at, result in enumerate(results):
            code = f"v{call.number}[{at}]" if several else f"v{call.number}"
            self.known[result] = Value(code, tuple(result.shape), call, at, grown=call.grown)
            if made is not None and not call.refused:
                self.anew[result] = anew[at]
            elif result in self.anew:
                del self.anew[result]

    def _compare(self, call: FunctionCall, anew: Sequence[Array], own: Sequence[Array]) -> None:
        if [one.shape for one in anew] != [one.shape for one in own]:
            call.refused = gettext_lazy("torch's {name} differs from its formula here", name=call.name)
            return
        for one, other in zip(anew, own, strict=True):
            away, size = largest_difference(one, other)
            call.away, call.size = max(call.away, away), max(call.size, size)
        if not call.away <= WRONG * max(call.size, WRONG):
            call.refused = gettext_lazy("torch's {name} differs from its formula here", name=call.name)


class _Functions(TorchFunctionMode):
    """A torch function mode that sends every torch call of this thread to the pass."""

    def __init__(self, run: _Pass) -> None:
        super().__init__()
        self.noted = run

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.noted.call(function, args, kwargs or {})


@contextmanager
def _track_module(model: Any, layers: Mapping[str, str], run: _Pass) -> Iterator[None]:
    """Track the running module and layer of this thread inside the block."""
    runs = dict.fromkeys(layers.values(), 0)

    def enter(module: Any, _args: Any, _kwargs: Any) -> None:
        path = getattr(module, PATH, "")
        run.paths.append(path)
        if path in layers:
            run.layer.append((layers[path], runs[layers[path]]))
            runs[layers[path]] += 1

    def leave(_module: Any, _args: Any, _kwargs: Any, _output: Any) -> None:
        path = run.paths.pop()
        if path in layers:
            run.layer.pop()

    with hook_modules(model, enter, leave):
        yield


def _note_rules(read: Sequence[tuple[Tensor, Value]]) -> None:
    """Keep the masks and index tensors that a call reads, because they determine its data flow."""
    for leaf, value in read:
        if value.array is None and not (value.grown and leaf.is_floating_point()):
            value.array = numpy_of(leaf)


def as_numpy(leaf: Any) -> Any:
    """Convert an argument of a torch call for numpy: tensors to arrays, torch dtypes to numpy dtypes."""
    if isinstance(leaf, Tensor):
        return numpy_of(leaf)
    if isinstance(leaf, torch.dtype):
        return np.dtype(KINDS.get(leaf, str(leaf).removeprefix("torch.")))
    return leaf


KINDS = {torch.bfloat16: "float32", torch.float16: "float32"}


def numpy_of(tensor: Tensor) -> Array:
    """Return a tensor as an array; half-precision tensors become float32."""
    own = tensor.detach()
    found: Array = (own.float() if own.dtype in KINDS else own).numpy()
    return found


def _changes(name: str) -> bool:
    """Return True if a function changes its first argument in place.

    >>> [_changes(name) for name in ("add_", "__setitem__", "__iadd__", "add", "__add__")]
    [True, True, True, False, False]
    """
    return name in ("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__") or (
        name.endswith("_") and not name.startswith("_")
    )


def _as_sequence(gave: Any) -> Sequence[Any]:
    return gave if isinstance(gave, tuple | list) else (gave,)
