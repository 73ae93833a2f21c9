"""Edits applied inside the attention function: which heads of which sample change in the call that is being computed.

Like a recording, the edits of a pass are a context variable, so threads that share a model do not mix.
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

from attention.edits import Ablate, Edit, MaskEdge, MaskKey, Uniform, ZeroValue, pack
from attention.trace import PART_NAMES, without_attention
from i18n import gettext_lazy
from inference.errors import UserError
from inference.record.attention_call import AttentionCall, Repeats, part_namer

HEADS = "_headlight_heads"  # on a prepared model: its heads by part, a number for each layer

Place = tuple[str, int]  # part, number of the call
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Change:
    """What becomes of one call. ``silent`` and ``moved``, (sample, head): who says nothing, who looks elsewhere."""

    silent: Tensor
    moved: Tensor
    call: AttentionCall  # as the moved heads compute it


@dataclass(eq=False)
class Editor:
    """The edits of one forward pass, by place and sample; counts the calls of each part to know the layer."""

    places: Mapping[Place, Sequence[tuple[int, Edit]]]
    part_of: Any  # Call -> the part that it belongs to
    seen: Counter[str] = field(default_factory=Counter)
    repeats: Repeats = field(default_factory=Repeats)

    def change(self, call: AttentionCall, asked: AttentionCall) -> Change | None:
        """Return the call after the edits, or None if they leave it alone. Ask once for every call, in order.

        ``asked`` is the call with the tensors that the model handed over.
        """
        part = self.part_of(call)
        self.seen[part] += not self.repeats.count(asked)
        found = [edit for edit in self.places.get((part, self.seen[part] - 1), ()) if _is_there(call, edit[1])]
        return _change(call, found) if found else None


_editor: ContextVar[Editor | None] = ContextVar("headlight_editor", default=None)


def editor() -> Editor | None:
    """The edits of the pass that this thread computes, if there are any."""
    return _editor.get()


@contextmanager
def apply_edits(model: Any, edits: Sequence[Sequence[Edit]]) -> Iterator[None]:
    """Applies edits to one forward pass of a prepared model inside the block: a sequence of them for each sample.

    Those that name tokens which the pass does not have do nothing: of a text that is being written, they wait.
    Raises Refusal for a model whose attention cannot be changed, and for a layer or a head that it does not have.
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
    """Raises Refusal for edits that name tokens, by part, that a text does not have; the rest as ``apply_edits``
    does."""
    for (part, _), found in _by_place(model, [edits]).items():
        for _, edit in found:
            query = edit.query if isinstance(edit, MaskEdge) else 0
            key = edit.key if isinstance(edit, MaskEdge | MaskKey | ZeroValue) else 0
            if query >= queries[part] or key >= keys[part]:
                there = (
                    gettext_lazy("{tokens} tokens look", tokens=queries[part])
                    if query >= queries[part]
                    else gettext_lazy("{tokens} tokens are looked at", tokens=keys[part])
                )
                raise UserError(
                    gettext_lazy(
                        "The edit {edit} names a token that is not there: here {there}, counted from 0. Pick others.",
                        edit=pack([edit]),
                        there=there,
                    ),
                    way_out="text",
                )


def heads_of(model: Any) -> Mapping[str, Sequence[int]]:
    """A prepared model's heads by part, a number for each layer; raises Refusal where its attention is its own."""
    heads: Mapping[str, Sequence[int]] | None = getattr(model, HEADS, None)
    if not heads:
        raise UserError(
            gettext_lazy(
                "{name} computes its attention in code of its own, which cannot be changed from outside."
                " Pick a model such as BERT or GPT-2.",
                name=type(model).__name__,
            )
        )
    return heads


def attention_layers(model: Any, part: str) -> tuple[int, ...]:
    """Return the layers of a part that have attention, in the order of its calls; () if they are not known."""
    return tuple(at for at, heads in enumerate(getattr(model, HEADS, {}).get(part, ())) if heads)


def in_every_layer(model: Any, part: str, found: Sequence[Value], none: Value) -> list[Value]:
    """Return ``found``, a value for each attention, with ``none`` inserted for layers without attention."""
    heads: Sequence[int] = getattr(model, HEADS, {}).get(part, ())
    if sum(map(bool, heads)) != len(found):  # before the model's layers are known
        return list(found)
    rest = iter(found)
    return [next(rest) if many else none for many in heads]


def call_of(model: Any, part: str, layer: int) -> int:
    """Return which call of a part is a layer's attention; raises Refusal for a layer that has none."""
    layers = attention_layers(model, part)
    if layer not in layers:
        raise UserError(without_attention(layer, layers))
    return layers.index(layer)


def _by_place(model: Any, edits: Sequence[Sequence[Edit]]) -> dict[Place, list[tuple[int, Edit]]]:
    """Return the edits by part and call, which is the layer if every layer attends."""
    heads = heads_of(model)
    places: dict[Place, list[tuple[int, Edit]]] = {}
    for sample, mine in enumerate(edits):
        for edit in mine:
            part = edit.part or next(iter(heads))
            layers = heads.get(part, ())
            head = 0 if isinstance(edit, MaskKey | ZeroValue) else edit.head
            if edit.layer >= len(layers) or head >= max(layers):
                has = (
                    gettext_lazy("{layers} layers of {heads} heads", layers=len(layers), heads=max(layers))
                    if layers
                    else gettext_lazy("no such part")
                )
                raise UserError(
                    gettext_lazy(
                        "The edit {edit} names a head that is not there: the {part} of this model has {has},"
                        " counted from 0. Pick another.",
                        edit=pack([edit]),
                        part=PART_NAMES.get(part, part),
                        has=has,
                    )
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
    """The call with every score of those heads zero, so that the softmax is even over what the mask lets through."""
    wide = even[:, :, None, None]
    bias, sinks = call.bias, call.sinks
    if bias is not None:
        bias = torch.where(wide & (bias > torch.finfo(bias.dtype).min / 2), 0, bias)
    if sinks is not None:  # a sink is no key, so it gets nothing
        sinks = sinks.flatten().expand_as(even).masked_fill(even, -torch.inf)
    return replace(call, query=call.query.masked_fill(wide, 0), bias=bias, sinks=sinks)


def _mask_pairs(call: AttentionCall, hidden: Sequence[tuple[int, MaskEdge | MaskKey]]) -> AttentionCall:
    """The call with the scores of those pairs at minus infinity; what all heads and queries share is one row."""
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
    """The call with the values of those (sample, key) at zero."""
    value = call.value.expand(call.query.shape[0], *call.value.shape[1:]).clone()
    for sample, key in mute:
        value[sample, :, key] = 0
    return replace(call, value=value)
