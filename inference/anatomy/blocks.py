"""The layers of a watched pass, and what happens in each: attention, norms, feed-forward parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from inference.anatomy.watched_pass import Numbers, Visit, WatchedPass
from inference.record.attention_call import CROSS

NORM = re.compile("norm", re.IGNORECASE)
NOTHING = Visit("", None, -1, torch.zeros(0).numpy(), 0)


@dataclass(frozen=True, eq=False)
class Operation:
    """One part of a layer at work.

    ``made`` is what its last matrix makes, empty where that is no module's; ``leaves`` what its outermost module hands
    on, which in some architectures has the addition in it already.
    """

    kind: str  # "norm", "attention", "cross-attention", "feed-forward", or "scale" for one factor a channel
    began: int
    given: Numbers
    made: Numbers
    leaves: Numbers
    modules: tuple[Visit, ...]  # the outermost ones
    linears: tuple[Visit, ...] = ()
    norms: tuple[Visit, ...] = ()  # inside an attention
    core: str = ""  # path of the module that computes an attention's softmax
    softmax: int = -1  # the moment of it


@dataclass(frozen=True, eq=False)
class LayerRun:
    """One run of one layer."""

    path: str
    visit: Visit
    operations: tuple[Operation, ...]

    @property
    def stack(self) -> str:
        """Where the list of layers stands that this one is from."""
        return self.path.rpartition(".")[0]


def is_norm(module: Any) -> bool:
    """Whether a module normalises, by its class's name."""
    return bool(NORM.search(type(module).__name__)) and not any(True for _ in module.children())


def is_linear(module: Any) -> bool:
    """Whether a module is one matrix that is multiplied with: a Linear, or GPT-2's Conv1D."""
    weight = getattr(module, "weight", None)
    plain = not isinstance(module, torch.nn.Embedding) and not is_norm(module)
    return plain and isinstance(weight, torch.Tensor) and weight.ndim == 2 and not any(True for _ in module.children())


def is_inside(path: str, above: str) -> bool:
    """Whether a module is another one or inside it.

    >>> is_inside("layer.1.attn", "layer.1"), is_inside("layer.10", "layer.1")
    (True, False)
    """
    return path == above or path.startswith(f"{above}.") or not above


def blocks(model: Any, watched: WatchedPass) -> list[LayerRun]:
    """Every run of a layer: the largest members of module lists that compute one attention, or two of which one looks
    at another text."""
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
    """What happens in one run of a layer, in order."""
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
    """The attention whose softmax is computed in ``path``: its projections, and the norms between them."""
    core = next((visit for visit in inside if visit.path == path and visit.contains(moment)), NOTHING)
    linears = [visit for visit in inside if is_linear(visit.module)]
    before = [visit for visit in linears if is_inside(visit.path, path) and core.began < visit.began < moment]
    first = before[0] if before else core
    norms = [visit for visit in inside if is_norm(visit.module)]
    last = next((visit for visit in linears if visit.began > moment), NOTHING)
    # BERT's output matrix stands outside of the core; what comes after a norm is the next part's.
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
    """The outermost modules with parameters that hold nothing that is taken already."""
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
    """Modules that run one after the other, with no norm and no attention between, are one part."""
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
    """Whether a module has one factor a channel and no matrix."""
    return all(parameter.ndim < 2 for parameter in visit.module.parameters())
