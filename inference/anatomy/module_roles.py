"""The role of each parameter in a model, and the task heads that a checkpoint stores."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError, safe_open

from inference.anatomy.sizes import BROKEN
from inference.anatomy.watched_pass import LayerRun, WatchedPass, is_inside, is_norm
from inference.errors import UserError
from inference.files import checkpoint
from inference.load.loading import auto_class
from inference.load.shared_weights import few_modules
from inference.record.attention_call import CROSS
from inference.task_heads import CAUSAL, MASKED, NEXT_SENTENCE
from inference.tasks.anatomy import (
    FORWARD,
    HEAD,
    INNER,
    INTO,
    NORMS,
    ORDER,
    OTHER,
    OUT,
    OUTER_NORMS,
    POOLER,
    POSITIONS,
    PROJECTION,
    RELATIVE,
    REST,
    SCALES,
    SEGMENTS,
    TOKENS,
    ParameterGroup,
    Tensor,
    Top,
    crossing,
)

_TOKEN = re.compile(r"(^|\.)(shared|embed_tokens|word_embeddings?|wte)$", re.IGNORECASE)
_POSITION = re.compile(r"position|(^|\.)wpe$", re.IGNORECASE)
_SEGMENT = re.compile(r"token_type|segment", re.IGNORECASE)
_RELATIVE = re.compile(r"relative|rel_emb", re.IGNORECASE)


def parts(places: ModuleRoles) -> tuple[ParameterGroup, ...]:
    """Return the parameters of a model grouped by stack and role, in the order of the forward pass.

    ``places`` has the roles. The counts sum to the number of the model's parameters. A tensor that is used in several
    places counts once, at the place that ``named_parameters`` lists first.
    """
    found: dict[tuple[str, str], dict[str, list[Tensor]]] = {}
    for name, parameter in places.model.named_parameters():
        where, part, layer = places.role_of(name)
        by_layer = found.setdefault((where, part), {})
        by_layer.setdefault(layer, []).append(Tensor(name, tuple(parameter.shape)))
    made = [_part(where, name, by_layer) for (where, name), by_layer in found.items()]
    sides_in_order = list(dict.fromkeys(["", *places.sides.values()]))
    return tuple(sorted(made, key=lambda part: (sides_in_order.index(part.where), ORDER.index(part.name))))


def _part(where: str, name: str, by_layer: Mapping[str, Sequence[Tensor]]) -> ParameterGroup:
    """Combine the tensors of a part, grouped by layer path ("" for tensors outside of layers)."""
    inside = [layer for layer in by_layer if layer]
    first = by_layer[""] if "" in by_layer else by_layer[inside[0]]
    count = sum(tensor.count for tensors in by_layer.values() for tensor in tensors)
    return ParameterGroup(where, name, count, len(inside), tuple(first))


class ModuleRoles:
    """The roles of the modules of a model.

    ``sides`` maps the path of each module list of layers to "encoder" or "decoder".
    """

    def __init__(self, model: Any, watched: WatchedPass, layers: Sequence[LayerRun], sides: Mapping[str, str]) -> None:
        self.model = model
        self.two = len(set(sides.values())) > 1
        self.sides = {block.path: sides[block.stack] for block in layers}
        self.named = {path: name for block in layers for path, name in _iterate_parts(block)}
        self.cores = {operation.core for block in layers for operation in block.operations if operation.core}
        self.tokens = model.get_input_embeddings()
        ended = [block.visit.ended for block in layers]
        self.ran = {visit.path for visit in watched.visits}
        self.after = {visit.path for visit in watched.visits if ended and visit.began > max(ended)}

    def role_of(self, name: str) -> tuple[str, str, str]:
        """Return the stack, the role and the layer path of the parameter ``name``.

        The stack is "encoder" or "decoder"; it is "" in a model with a single stack, and for parameters of neither
        stack. The layer path is "" outside of layers.
        """
        path = name.rpartition(".")[0]
        module = self.model.get_submodule(path)
        layer = next((block for block in self.sides if is_inside(path, block)), "")
        if layer:
            return (self.sides[layer] if self.two else ""), self._inside(path, module), layer
        sides = [side for side in self.sides.values() if f".{side}." in f".{path}."] if self.two else []
        side = sides[0] if sides else ""
        return side, self.outside(path, module), ""

    def _inside(self, path: str, module: Any) -> str:
        if isinstance(module, torch.nn.Embedding) or _RELATIVE.search(path.rpartition(".")[2]):
            return RELATIVE
        known = [above for above in self.named if is_inside(path, above)]
        if known:
            return self.named[max(known, key=len)]
        if is_norm(module):
            return NORMS
        core = next((core for core in self.cores if is_inside(path, core)), "")
        if core or CROSS.search(path):
            return _cross_attention_name(REST, path)
        return OTHER

    def outside(self, path: str, module: Any) -> str:
        """Return the role, such as POOLER, of the module at ``path``, which belongs to no layer."""
        if module is self.tokens:
            return TOKENS
        if "Positional" in type(module).__name__:  # this includes sinusoidal tables that are not parameters
            return POSITIONS
        if isinstance(module, torch.nn.Embedding):
            return table_name(path)
        if is_norm(module):
            return OUTER_NORMS
        if "pooler" in path:
            return POOLER
        weighs = isinstance(getattr(module, "weight", None), torch.Tensor) and path in self.ran
        return OTHER if not weighs else HEAD if path in self.after else PROJECTION


def table_name(path: str) -> str:
    """Return the role of an embedding table, such as positions, from the path of its module.

    >>> table_name("embeddings.token_type_embeddings")
    'segment embeddings'
    """
    named = {_TOKEN: TOKENS, _POSITION: POSITIONS, _SEGMENT: SEGMENTS, _RELATIVE: RELATIVE}
    return next((name for pattern, name in named.items() if pattern.search(path)), OTHER)


def _iterate_parts(block: LayerRun) -> Iterator[tuple[str, str]]:
    """Yield the path and the part of each module that ran in a layer."""
    for operation in block.operations:
        if operation.core:
            for visit in operation.linears:
                after = visit.began > operation.softmax
                yield visit.path, _cross_attention_name(OUT if after else INTO, operation.core)
            yield from ((visit.path, _cross_attention_name(INNER, operation.core)) for visit in operation.norms)
        else:
            name = {"norm": NORMS, "scale": SCALES}.get(operation.kind, FORWARD)
            yield from ((visit.path, name) for visit in operation.modules)


def _cross_attention_name(name: str, path: str) -> str:
    return crossing(name) if CROSS.search(path) else name


OLD = {"gamma": "weight", "beta": "bias"}  # the first checkpoints named a norm's parameters gamma and beta


def stored_heads(model: Any) -> tuple[Top, ...]:
    """Return the task heads whose tensors are all in the model's files; tied embeddings count as stored.

    The first is the head of the class that the configuration names. Further heads follow if transformers has a class
    for this model with tensors that no earlier class uses.
    """
    stored = names(model)
    found: list[Top] = []
    beyond = {name for name in stored - _base_tensors(model) if not name.endswith("position_ids")}
    for kind in _classes(model, bool(beyond)):
        top = _top(model, kind)
        known = {tensor.name for other in found for tensor in other.tensors}
        mine = {tensor.name for tensor in top.tensors} if top else set()
        if top and mine <= stored and (mine - known or (top.tied and not found)):
            found.append(top)
    return tuple(found)


def names(model: Any) -> frozenset[str]:
    """Return the names of the tensors in a model's files; empty if the files cannot be read.

    Names from old versions of transformers are replaced by the present names.
    """
    folder = getattr(model, "name_or_path", "")
    if not folder or not Path(folder).is_dir():
        return frozenset()
    found: set[str] = set()
    try:
        for file in checkpoint.inspect(Path(folder), "").weights:
            with safe_open(file, framework="np") as opened:
                found.update(opened.keys())
    except (OSError, SafetensorError, UserError):
        return frozenset()
    return frozenset(_modern(name) for name in found)


def _modern(name: str) -> str:
    start, dot, last = name.rpartition(".")
    return start + dot + OLD.get(last, last)


def _base_tensors(model: Any) -> set[str]:
    """Return the bare model's tensor names, with and without the prefix that a model with a head adds."""
    plain = set(model.state_dict())
    return plain | {f"{model.base_model_prefix}.{name}" for name in plain}


def _classes(model: Any, more: bool) -> Iterator[Any]:
    """Yield the configuration's class and, with ``more``, the library's classes with heads."""
    stated = next(iter(model.config.architectures or []), "")
    named = getattr(transformers, stated, None) if isinstance(stated, str) and stated.isidentifier() else None
    found = [named] if isinstance(named, type) and issubclass(named, transformers.PreTrainedModel) else []
    if more:
        mappings = [auto_class(head, False)._model_mapping for head in (MASKED, NEXT_SENTENCE, CAUSAL)]  # noqa: SLF001  # there is no public list of the supported configurations
        found += [mapping[type(model.config)] for mapping in mappings if type(model.config) in mapping]
    yield from (kind for kind in dict.fromkeys(found) if kind is not type(model))


def _top(model: Any, kind: Any) -> Top | None:
    """Return the tensors that a class adds to the bare model, or None.

    The model is built on the meta device. Return None also if the class cannot be built, or is itself the bare
    model.
    """
    try:
        with torch.device("meta"), few_modules():
            whole = kind(copy.deepcopy(model.config))
            whole.tie_weights()
        base = getattr(whole, whole.base_model_prefix, None)
        tokens = whole.get_input_embeddings().weight
    except BROKEN:
        return None
    if base is None or base is whole:
        return None
    inside = {id(parameter) for parameter in base.parameters()}
    own = [
        Tensor(name, tuple(parameter.shape))
        for name, parameter in whole.named_parameters()
        if id(parameter) not in inside
    ]
    shared = any(
        parameter is tokens and not name.startswith(f"{whole.base_model_prefix}.")
        for name, parameter in whole.named_parameters(remove_duplicate=False)
    )
    return Top(kind.__name__, sum(tensor.count for tensor in own), tuple(own), shared) if own or shared else None
