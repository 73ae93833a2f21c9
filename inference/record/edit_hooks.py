"""Edits of attention heads, applied inside the attention function to the samples of the current call.

The edits of a pass are a context variable, so threads that share a model do not mix. A text under many edits is a batch
with a sample for each edit. A sample joins the batch only before the layer of its first edit, because earlier layers do
not change. Ablating each of the H heads of L layers in turn therefore costs about half as much as a full batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from attention.edits import Ablate, Edit, MaskEdge, MaskKey, Uniform, ZeroValue
from attention.trace import PART_NAMES, without_attention
from i18n import gettext_lazy
from inference.errors import UserError
from inference.record.attention_call import AttentionCall, Repeats, part_namer

HEADS = "_headlight_heads"  # on a prepared model: the number of heads of each layer, by stack

Place = tuple[str, int]  # part, number of the call
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Change:
    """The change that edits make to an attention call.

    ``silent`` and ``moved`` are masks of heads, shape (sample, head). The output of ``silent`` heads is set to zero.
    The output of ``moved`` heads is computed from ``call``, the call with the edits applied.
    """

    silent: Tensor
    moved: Tensor
    call: AttentionCall  # the edited call, as the moved heads compute it


@dataclass(eq=False)
class Editor:
    """The edits of a forward pass over a batch.

    ``places`` maps a stack and the number of a call in this stack to pairs of sample and edit. ``seen`` counts the
    calls of each stack during the pass.
    """

    places: Mapping[Place, Sequence[tuple[int, Edit]]]
    part_of: Any  # a function from a call to the name of its stack
    seen: Counter[str] = field(default_factory=Counter)
    repeats: Repeats = field(default_factory=Repeats)

    def change(self, call: AttentionCall, asked: AttentionCall) -> Change | None:
        """Return the change that the edits make to an attention call, or None if the call has no edits.

        ``asked`` is the call with the model's own tensors; ``call`` is the same call without the empty keys of a static
        cache. Call this method exactly once for each attention call, in order.
        """
        part = self.part_of(call)
        self.seen[part] += not self.repeats.count(asked)
        found = [edit for edit in self.places.get((part, self.seen[part] - 1), ()) if _is_there(call, edit[1])]
        return _change(call, found) if found else None


_editor: ContextVar[Editor | None] = ContextVar("headlight_editor", default=None)


def editor() -> Editor | None:
    """Return the edits of the forward pass that this thread is computing, or None if it has none."""
    return _editor.get()


@contextmanager
def apply_edits(model: Any, edits: Sequence[Sequence[Edit]]) -> Iterator[None]:
    """Inside the block, apply edits to the forward pass of a prepared model; ``edits`` has the edits of each sample.

    Edits of tokens that do not exist yet during generation have no effect. Raise UserError if the model's attention
    cannot be changed, or if the model lacks a layer or a head of an edit.
    """
    if not any(edits):
        yield
        return
    token = _editor.set(Editor(_by_place(model, edits), part_namer(model)))
    try:
        yield
    finally:
        _editor.reset(token)


def check(model: Any, edits: Sequence[Edit], queries: Mapping[str, int], keys: Mapping[str, int]) -> None:
    """Raise UserError for edits of tokens, layers or heads that do not exist.

    ``queries`` and ``keys`` are the numbers of query tokens and of key tokens, by stack.
    """
    for (part, _), found in _by_place(model, [edits]).items():
        for _, edit in found:
            query = edit.query if isinstance(edit, MaskEdge) else 0
            key = edit.key if isinstance(edit, MaskEdge | MaskKey | ZeroValue) else 0
            if query >= queries[part] or key >= keys[part]:
                token, tokens = (query, queries[part]) if query >= queries[part] else (key, keys[part])
                raise UserError(
                    gettext_lazy("There is no token {token}; tokens are 0 to {last}.", token=token, last=tokens - 1),
                    way_out="text",
                )


def heads_of(model: Any) -> Mapping[str, Sequence[int]]:
    """Return the number of heads of each layer of a model, by stack.

    Raise UserError if the model computes its attention in code that cannot be changed.
    """
    heads: Mapping[str, Sequence[int]] | None = getattr(model, HEADS, None)
    if not heads:
        raise UserError(
            gettext_lazy(
                "{name} computes attention in its own code, so it cannot be edited. Pick BERT or GPT-2.",
                name=type(model).__name__,
            )
        )
    return heads


def attention_layers(model: Any, part: str) -> tuple[int, ...]:
    """Return the indices of the layers of a stack that have attention, in call order; () if unknown."""
    return tuple(at for at, heads in enumerate(getattr(model, HEADS, {}).get(part, ())) if heads)


def in_every_layer(model: Any, part: str, found: Sequence[Value], none: Value) -> list[Value]:
    """Return a value for each layer of a stack, given the values ``found`` of the layers with attention.

    Layers without attention get the value ``none``. If the model's layers are not known, return ``found`` unchanged.
    """
    heads: Sequence[int] = getattr(model, HEADS, {}).get(part, ())
    if sum(map(bool, heads)) != len(found):  # the model's layers are not known yet
        return list(found)
    rest = iter(found)
    return [next(rest) if many else none for many in heads]


def call_of(model: Any, part: str, layer: int) -> int:
    """Return the index of a layer's attention call among the calls of its stack.

    The index of the call is less than that of the layer if earlier layers have no attention. Raise UserError if the
    layer itself has none.
    """
    layers = attention_layers(model, part)
    if layer not in layers:
        raise UserError(without_attention(layer, layers))
    return layers.index(layer)


def check_place(part: str, layers: Sequence[int], layer: int, head: int | None) -> None:
    """Raise UserError if a stack has no such layer or head.

    ``part`` names the stack, and ``layers`` has its number of heads by layer. If ``head`` is None, only the layer is
    checked.
    """
    if 0 <= layer < len(layers) and 0 <= (head or 0) < max(layers):
        return
    has = (
        gettext_lazy("{layers} layers of {heads} heads", layers=len(layers), heads=max(layers))
        if layers
        else gettext_lazy("no such part")
    )
    what = (
        gettext_lazy("layer {layer}", layer=layer)
        if head is None
        else gettext_lazy("head {layer}-{head}", layer=layer, head=head)
    )
    raise UserError(
        gettext_lazy(
            "There is no {what}: the {part} has {has}, counted from 0. Pick another.",
            what=what,
            part=PART_NAMES.get(part, part),
            has=has,
        )
    )


def _by_place(model: Any, edits: Sequence[Sequence[Edit]]) -> dict[Place, list[tuple[int, Edit]]]:
    """Return the edits, with their samples, by stack and number of the call.

    Raise UserError for a layer or a head that the model does not have.
    """
    heads = heads_of(model)
    places: dict[Place, list[tuple[int, Edit]]] = {}
    for sample, mine in enumerate(edits):
        for edit in mine:
            part = edit.part or next(iter(heads))
            check_place(
                part, heads.get(part, ()), edit.layer, None if isinstance(edit, MaskKey | ZeroValue) else edit.head
            )
            places.setdefault((part, call_of(model, part, edit.layer)), []).append((sample, edit))
    return places


def _is_there(call: AttentionCall, edit: Edit) -> bool:
    query = edit.query if isinstance(edit, MaskEdge) else 0
    key = edit.key if isinstance(edit, MaskEdge | MaskKey | ZeroValue) else 0
    return query < call.query.shape[2] and key < call.key.shape[2]


def _change(call: AttentionCall, found: Sequence[tuple[int, Edit]]) -> Change:
    batch, heads = call.query.shape[:2]
    silent, moved, even = torch.zeros(3, batch, heads, dtype=torch.bool, device=call.query.device)
    for sample, edit in found:
        if isinstance(edit, Ablate):
            silent[sample, edit.head] = True
        elif isinstance(edit, MaskKey | ZeroValue):
            moved[sample] = True
        else:
            (even if isinstance(edit, Uniform) else moved)[sample, edit.head] = True
    edited = _apply_uniform(call, even) if bool(even.any()) else call
    hidden = [(sample, edit) for sample, edit in found if isinstance(edit, MaskEdge | MaskKey)]
    edited = _mask_pairs(edited, hidden) if hidden else edited
    mute = [(sample, edit.key) for sample, edit in found if isinstance(edit, ZeroValue)]
    return Change(silent, moved | even, _zero_values(edited, mute) if mute else edited)


def _apply_uniform(call: AttentionCall, even: Tensor) -> AttentionCall:
    """Return the call with zero scores in the heads of ``even``: uniform weights over the unmasked keys."""
    wide = even[:, :, None, None]
    bias, sinks = call.bias, call.sinks
    if bias is not None:
        bias = torch.where(wide & (bias > torch.finfo(bias.dtype).min / 2), 0, bias)
    if sinks is not None:  # a sink is not a key, so its weight is zero
        sinks = sinks.flatten().expand_as(even).masked_fill(even, -torch.inf)
    return replace(call, query=call.query.masked_fill(wide, 0), bias=bias, sinks=sinks)


def _mask_pairs(call: AttentionCall, hidden: Sequence[tuple[int, MaskEdge | MaskKey]]) -> AttentionCall:
    """Return the call with a bias of minus infinity at the hidden pairs.

    The bias is (batch, 1, 1, key) if only whole keys are hidden, else (batch, head, query, key).
    """
    batch, heads, queries = call.query.shape[:3]
    alike = all(isinstance(edit, MaskKey) for _sample, edit in hidden)
    shape = (batch, *((1, 1) if alike else (heads, queries)), call.key.shape[2])
    bias = torch.zeros(shape, dtype=call.query.dtype, device=call.query.device)
    if call.bias is not None:
        bias = bias + call.bias
    for sample, edit in hidden:
        if isinstance(edit, MaskEdge):
            bias[sample, edit.head, edit.query, edit.key] = -torch.inf
        else:
            bias[sample, :, :, edit.key] = -torch.inf
    return replace(call, bias=bias)


def _zero_values(call: AttentionCall, mute: Sequence[tuple[int, int]]) -> AttentionCall:
    """Return the call with zero values at the (sample, key) pairs of ``mute``."""
    value = call.value.expand(call.query.shape[0], *call.value.shape[1:]).clone()
    for sample, key in mute:
        value[sample, :, key] = 0
    return replace(call, value=value)


GROWS = "_headlight_grows"  # on a prepared model: the number of its layers, if samples can join before each of them


@dataclass(eq=False)
class Growth:
    """The state of a pass whose batch grows.

    ``joining`` has the number of samples that join the batch before each layer; ``begun`` counts the layers that have
    begun.
    """

    joining: Sequence[int]
    begun: int = 0

    def join(self, hidden: Tensor) -> Tensor:
        """Return the next layer's input (sample, token, channel), with copies of the first sample appended."""
        many = self.joining[self.begun]
        self.begun += 1
        return torch.cat([hidden, hidden[:1].expand(many, *hidden.shape[1:])]) if many else hidden


_growth: ContextVar[Growth | None] = ContextVar("headlight_growth", default=None)


@contextmanager
def grow_batch(joining: Sequence[int]) -> Iterator[None]:
    """Inside the block, let samples join the batch of a pass; ``joining`` has their number at each layer.

    The pass begins with a single sample, and each joining sample is a copy of it. Other threads are not affected.
    """
    token = _growth.set(Growth(joining))
    try:
        yield
    finally:
        _growth.reset(token)


def prepare_growth(model: Any, layers: Sequence[str], given: dict[str, Tensor]) -> None:
    """Register hooks that let samples join the batch before each layer, if the model supports it.

    ``layers`` are the paths of the layers. The hooks are tested in a pass in which samples join before the first and
    before the last layer.
    """
    if not all(layers):
        return
    hooks = [
        model.get_submodule(layer).register_forward_pre_hook(_join_samples, with_kwargs=True)
        for layer in dict.fromkeys(layers)
    ]
    joining = [2, *[0] * (len(layers) - 2), 1] if len(layers) > 1 else [3]
    try:
        with grow_batch(joining), torch.inference_mode():
            grown = model(**given)[0]
            complete = _growth.get()
        fits = grown.shape[0] == 4 and complete is not None and complete.begun == len(layers)
        fits = fits and torch.allclose(grown, grown[:1], atol=1e-4, rtol=1e-3)
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError):
        fits = False
    if fits:
        setattr(model, GROWS, len(layers))
    else:
        for hook in hooks:
            hook.remove()


def _join_samples(_module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    growth = _growth.get()
    if growth is None:
        return None
    if args:
        return (growth.join(args[0]), *args[1:]), kwargs
    return args, {**kwargs, "hidden_states": growth.join(kwargs["hidden_states"])}
