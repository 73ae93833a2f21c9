"""The modules that a model's layers are: what a pass's vectors enter and leave, layer by layer, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor

from i18n import gettext_lazy
from inference.errors import UserError
from inference.record.attention_call import AttentionCall
from inference.record.edit_hooks import HEADS, heads_of
from inference.record.thread_hooks import register_pre_hook

LAYERS = "_headlight_layers"  # on a prepared model: the path of each layer's module, by part
Change = Callable[[str, int, Tensor], Tensor | None]  # part, layer, vectors (sample, token, channel)
_OWN_WAY = gettext_lazy(
    "This model hands its vectors from layer to layer in a way of its own, so none can be replaced."
)


def block_of(path: str) -> str:
    """The block that an attention stands in: the outermost module of its path that has a number.

    >>> block_of("encoder.block.2.layer.0.SelfAttention"), block_of("attention")
    ('encoder.block.2', '')
    """
    steps = path.split(".")
    numbered = next((at for at, step in enumerate(steps) if step.isdigit()), -1)
    return ".".join(steps[: numbered + 1])


def note_layers(model: Any, calls: Sequence[AttentionCall], parts: Sequence[str], ran: Container[str]) -> None:
    """Note with a model its layers and their heads by part, from one pass's attentions and their parts.

    ``ran`` has the paths of the modules that ran. If only some layers attend, all layers are counted.
    """
    layers: dict[str, tuple[str, ...]] = {}
    heads: dict[str, list[int]] = {}
    for part in dict.fromkeys(parts):
        mine = [call for call, name in zip(calls, parts, strict=True) if name == part]
        by_block = {block_of(call.path): call.query.shape[1] for call in mine}
        whole = _blocks_between(model, list(by_block), ran) if len(by_block) == len(mine) else ()
        layers[part] = whole or tuple(block_of(call.path) for call in mine)
        heads[part] = [by_block.get(path, 0) for path in whole] or [call.query.shape[1] for call in mine]
    setattr(model, LAYERS, layers)
    setattr(model, HEADS, heads)


def _blocks_between(model: Any, attending: Sequence[str], ran: Container[str]) -> tuple[str, ...]:
    """Return the paths of all blocks of the list that holds those; () if it holds no others, or not all of those."""
    parents = {path.rpartition(".")[0] for path in attending}
    parent = next(iter(parents))
    if len(parents) > 1 or not isinstance(model.get_submodule(parent), torch.nn.ModuleList):
        return ()
    paths = [f"{parent}.{at}" for at in range(len(model.get_submodule(parent)))]
    whole = tuple(path for path in paths if path in ran)
    in_order = [path for path in whole if path in attending] == list(attending)
    numbered = whole == tuple(paths[: len(whole)])  # a block that never runs would move the numbers
    return whole if len(whole) > len(attending) and in_order and numbered else ()


def layer_modules(model: Any) -> Mapping[str, tuple[str, ...]]:
    """The path of each layer's module, by part; a module that is used several times comes several times.

    Raises Refusal for a model whose attention is not computed where it can be seen.
    """
    heads_of(model)
    found: Mapping[str, tuple[str, ...]] = getattr(model, LAYERS)
    return found


@contextmanager
def changing_states(model: Any, parts: Sequence[str], change: Change) -> Iterator[None]:
    """Inside the block, ``change(part, layer, vectors)`` is what enters each layer of these parts, (sample, token,
    channel); None leaves it as it is. For one pass of this thread only.
    """
    paths = layer_modules(model) if parts else {}
    by_path = {path: part for part in parts for path in paths.get(part, ())}
    begun: Counter[str] = Counter()

    def hook(part: str, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        layer = begun[part]
        begun[part] += 1
        return _edited_arguments(part, layer, args, kwargs, change)

    handles = [register_pre_hook(model.get_submodule(path), partial(hook, part)) for path, part in by_path.items()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
    if any(begun[part] != len(paths[part]) for part in parts):
        raise UserError(_OWN_WAY)


def _edited_arguments(part: str, layer: int, args: tuple[Any, ...], kwargs: dict[str, Any], change: Change) -> Any:
    """What a layer's module is called with once its vectors are changed."""
    vectors = args[0] if args else kwargs.get("hidden_states")
    if not isinstance(vectors, Tensor) or vectors.ndim != 3 or not torch.is_floating_point(vectors):
        raise UserError(_OWN_WAY)
    other = change(part, layer, vectors)
    if other is None:
        return None
    return ((other, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": other})
