"""The heads that a checkpoint has on top of the bare model, by its configuration and by the names in its files."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError, safe_open

from inference.anatomy.functions import BROKEN
from inference.errors import UserError
from inference.files import checkpoint
from inference.load.head_weights import auto_class
from inference.load.meta_model import few_modules
from inference.task_heads import CAUSAL, MASKED, NEXT_SENTENCE
from inference.tasks.anatomy import Tensor, Top

OLD = {"gamma": "weight", "beta": "bias"}  # what the first checkpoints call a norm's parameters


def stored_heads(model: Any) -> tuple[Top, ...]:
    """The heads whose tensors are all in the model's files, or are the token embeddings used a second time.

    The class that the configuration names comes first; of the library's other classes for this model, those that have
    tensors which no earlier one has.
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
    """The names of the tensors in the files that a model was loaded from; none where these cannot be read."""
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
    """The bare model's tensors, with and without the prefix that a model with a head gives them."""
    plain = set(model.state_dict())
    return plain | {f"{model.base_model_prefix}.{name}" for name in plain}


def _classes(model: Any, more: bool) -> Iterator[Any]:
    """The class that the configuration names; with ``more``, those that the library has for this model's heads."""
    stated = next(iter(model.config.architectures or []), "")
    named = getattr(transformers, stated, None) if isinstance(stated, str) and stated.isidentifier() else None
    found = [named] if isinstance(named, type) and issubclass(named, transformers.PreTrainedModel) else []
    if more:
        mappings = [auto_class(head, False)._model_mapping for head in (MASKED, NEXT_SENTENCE, CAUSAL)]  # noqa: SLF001  # the only list of configurations that it knows
        found += [mapping[type(model.config)] for mapping in mappings if type(model.config) in mapping]
    yield from (kind for kind in dict.fromkeys(found) if kind is not type(model))


def _top(model: Any, kind: Any) -> Top | None:
    """What a class has beyond the bare model, built without memory; None for one that is no such class."""
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
