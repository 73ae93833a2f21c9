"""A forward pass recorded as runs of modules, and the layers and sublayers found in this record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from inference.record import fidelity_check
from inference.record.attention_call import CROSS
from inference.record.attention_function import PATH
from inference.record.records import hook_modules

KEPT = 4096  # numbers kept of each tensor, enough to distinguish any two tensors
# Every attention implementation calls a function of this set.
SOFTMAX = {"softmax", "scaled_dot_product_attention", "logsumexp"}

Numbers = npt.NDArray[np.float32]


@dataclass(eq=False)
class Visit:
    """A call of a module in a recorded pass.

    All calls share a counter; ``began`` and ``ended`` are its values at the start and the end of this call. ``given``
    and ``made`` are the first numbers of the call's input and output.
    """

    path: str
    module: Any
    began: int
    given: Numbers  # the first numbers of its first input tensor
    width: int  # the last dimension of that tensor
    ended: int = -1
    made: Numbers = field(default_factory=lambda: np.zeros(0, np.float32))

    def contains(self, moment: int) -> bool:
        """Return True if the counter value ``moment`` lies between the start and the end of this call."""
        return self.began <= moment <= self.ended


@dataclass(frozen=True, eq=False)
class WatchedPass:
    """A recorded forward pass: the module calls in the order of their start, and each softmax of an attention."""

    visits: tuple[Visit, ...]
    softmaxes: tuple[tuple[int, str], ...]  # (moment, path of the computing module)

    def visits_inside(self, visit: Visit) -> list[Visit]:
        """Return the module calls that ran within the call ``visit``, without ``visit`` itself."""
        return [other for other in self.visits if visit.began < other.began and other.ended < visit.ended]


def watch(model: Any, given: Mapping[str, Tensor] | None = None) -> WatchedPass:
    """Run and record a forward pass on ``given``, by default on a tiny input.

    Passes of other threads are ignored.
    """
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

    with hook_modules(model, enter, leave), Softmaxes(), torch.inference_mode():
        model(**(given or fidelity_check.inputs(model)))
    return WatchedPass(tuple(visits), tuple(softmaxes))


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """Yield every tensor in nested arguments or outputs, in order."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Mapping):
            yield from _tensors(value.values())
        elif isinstance(value, tuple | list):
            yield from _tensors(value)


def _has_heads(tensor: Tensor | None) -> bool:
    """Return True for scores of heads, unlike those of a router.

    The shape is (text, head, …) or (text and head, query, key).
    """
    return tensor is not None and (tensor.ndim == 4 or (tensor.ndim == 3 and tensor.shape[0] > 1))


def _numbers(tensor: Tensor | None) -> Numbers:
    if tensor is None:
        return np.zeros(0, np.float32)
    # Copy the numbers, because some models scale their input in place later.
    found: Numbers = tensor.detach().reshape(-1)[:KEPT].to("cpu", torch.float32, copy=True).numpy()
    return found


NORM = re.compile("norm", re.IGNORECASE)
NOTHING = Visit("", None, -1, torch.zeros(0).numpy(), 0)


@dataclass(frozen=True, eq=False)
class Operation:
    """An operation of a layer in a recorded pass: attention, feed-forward sublayer, norm or scale.

    ``given`` is its input. ``made`` is the output of its last matrix product, empty if no module computes the product.
    ``leaves`` is the output of its outermost module, which in some architectures has already added the residual.
    """

    kind: str  # "norm", "attention", "cross-attention", "feed-forward", or "scale" for a factor per channel
    began: int
    given: Numbers
    made: Numbers
    leaves: Numbers
    modules: tuple[Visit, ...]  # the outermost modules
    linears: tuple[Visit, ...] = ()
    norms: tuple[Visit, ...] = ()  # norms inside an attention
    core: str = ""  # path of the module that computes an attention's softmax
    softmax: int = -1  # the moment of the softmax


@dataclass(frozen=True, eq=False)
class LayerRun:
    """A run of a layer in a recorded pass, with its operations: attention, feed-forward sublayer and norms."""

    path: str
    visit: Visit
    operations: tuple[Operation, ...]

    @property
    def stack(self) -> str:
        """Return the path of the module list that contains the layer, which identifies its stack."""
        return self.path.rpartition(".")[0]


def is_norm(module: Any) -> bool:
    """Return True if a module is a normalisation layer, according to its class name."""
    return bool(NORM.search(type(module).__name__)) and not any(True for _ in module.children())


def is_linear(module: Any) -> bool:
    """Return True if a module multiplies by a single matrix: a Linear, or GPT-2's Conv1D."""
    weight = getattr(module, "weight", None)
    plain = not isinstance(module, torch.nn.Embedding) and not is_norm(module)
    return plain and isinstance(weight, torch.Tensor) and weight.ndim == 2 and not any(True for _ in module.children())


def is_inside(path: str, above: str) -> bool:
    """Return True if the module path ``path`` equals ``above`` or lies below it.

    >>> is_inside("layer.1.attn", "layer.1"), is_inside("layer.10", "layer.1")
    (True, False)
    """
    return path == above or path.startswith(f"{above}.") or not above


def blocks(model: Any, watched: WatchedPass) -> list[LayerRun]:
    """Return every run of a layer in a recorded pass.

    A layer is an entry of a module list that runs at most one self-attention and one cross-attention. If module lists
    are nested, the outermost such entry is the layer.
    """
    found: dict[int, LayerRun] = {}
    for moment, _ in watched.softmaxes:
        visit = next(_layers(model, watched, moment), None)
        if visit is not None and visit.began not in found:
            found[visit.began] = LayerRun(visit.path, visit, tuple(operations(watched, visit)))
    return list(found.values())


def _layers(model: Any, watched: WatchedPass, moment: int) -> Iterator[Visit]:
    for visit in watched.visits:
        if visit.contains(moment) and _is_in_module_list(model, visit.path):
            paths = {path for at, path in watched.softmaxes if visit.contains(at)}
            crossing = sum(bool(CROSS.search(path)) for path in paths)
            if crossing <= 1 and len(paths) - crossing <= 1:
                yield visit


def _is_in_module_list(model: Any, path: str) -> bool:
    above = path.rpartition(".")[0]
    return bool(path) and isinstance(model.get_submodule(above), torch.nn.ModuleList)


def operations(watched: WatchedPass, layer: Visit) -> list[Operation]:
    """Return the operations in a run of a layer, in order: attention, feed-forward, norms and scales."""
    inside = watched.visits_inside(layer)
    moments: dict[str, int] = {}
    for moment, path in watched.softmaxes:
        if layer.contains(moment):
            moments.setdefault(path, moment)
    attentions = [_attention(inside, path, moment) for path, moment in moments.items()]
    own = [visit for attention in attentions for visit in attention.norms]
    norms = [
        Operation("norm", visit.began, visit.given, visit.made, visit.made, (visit,))
        for visit in inside
        if is_norm(visit.module) and visit not in own
    ]
    known = sorted([*attentions, *norms], key=lambda operation: operation.began)
    taken = [*(visit.path for operation in known for visit in operation.modules), *moments]
    rest = _group_modules(watched, _outermost_modules(inside, taken, list(moments)), known)
    return sorted([*known, *rest], key=lambda operation: operation.began)


def _attention(inside: Sequence[Visit], path: str, moment: int) -> Operation:
    """Return the attention for the softmax in ``path``, with its projections and the norms between them."""
    core = next((visit for visit in inside if visit.path == path and visit.contains(moment)), NOTHING)
    linears = [visit for visit in inside if is_linear(visit.module)]
    before = [visit for visit in linears if is_inside(visit.path, path) and core.began < visit.began < moment]
    first = before[0] if before else core
    norms = [visit for visit in inside if is_norm(visit.module)]
    last = next((visit for visit in linears if visit.began > moment), NOTHING)
    # BERT's output matrix lies outside of the core, but a matrix after a norm belongs to the next part.
    if not is_inside(last.path, path) and any(moment < norm.began < last.began for norm in norms):
        last = NOTHING
    end = moment if last is NOTHING else last.began
    return Operation(
        kind="cross-attention" if CROSS.search(path) else "attention",
        began=first.began,
        given=first.given,
        made=last.made,
        leaves=NOTHING.given,
        modules=(core,) if last is NOTHING else (core, last),
        linears=(*before, *([] if last is NOTHING else [last])),
        norms=tuple(norm for norm in norms if is_inside(norm.path, path) and first.began < norm.began < end),
        core=path,
        softmax=moment,
    )


def _outermost_modules(inside: Sequence[Visit], taken: Sequence[str], cores: Sequence[str]) -> list[Visit]:
    """Return the outermost modules with parameters that overlap neither with ``taken`` nor with ``cores``."""
    roots: list[Visit] = []
    for visit in inside:
        free = not any(is_inside(path, visit.path) for path in taken) and not any(
            is_inside(visit.path, c) for c in cores
        )
        fresh = not any(root.contains(visit.began) for root in roots)
        if free and fresh and any(True for _ in visit.module.parameters()):
            roots.append(visit)
    return roots


def _group_modules(watched: WatchedPass, roots: Sequence[Visit], known: Sequence[Operation]) -> Iterator[Operation]:
    """Group consecutive modules without a norm or an attention between them into a single operation."""
    groups: list[list[Visit]] = []
    for root in roots:
        last = groups[-1][-1] if groups else NOTHING
        apart = any(last.began < operation.began < root.began for operation in known)
        if groups and not apart and _scales(last) == _scales(root):
            groups[-1].append(root)
        else:
            groups.append([root])
    for group in groups:
        linears = [visit for root in group for visit in (root, *watched.visits_inside(root)) if is_linear(visit.module)]
        yield Operation(
            kind="scale" if _scales(group[0]) else "feed-forward",
            began=group[0].began,
            given=linears[0].given if linears else group[0].given,
            made=linears[-1].made if linears else group[-1].made,
            leaves=group[-1].made,
            modules=tuple(group),
            linears=tuple(linears),
        )


def _scales(visit: Visit) -> bool:
    """Return True if a module has only factors per channel and no matrix."""
    return all(parameter.ndim < 2 for parameter in visit.module.parameters())
