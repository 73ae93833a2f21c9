"""Conversion of a forward pass from torch to NumPy: attention calls to records, and the modules of layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from attention.mask import FloatArray, Mask
from attention.record import AnyRecord, NoAttention, Record
from i18n import gettext_lazy
from inference.errors import UserError
from inference.record.attention_call import PICTURE, AttentionCall, Pair, Spans, compact_tensors, part_names, place
from inference.record.edit_hooks import HEADS, heads_of, in_every_layer

Before = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]  # module, args, kwargs
After = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], Any]  # module, args, kwargs, output


def register_pre_hook(module: torch.nn.Module, hook: Before) -> RemovableHandle:
    """Register a hook that runs before each call of the module in this thread; return its handle.

    ``hook(module, args, kwargs)`` may return new arguments, like torch's forward pre-hooks.

    >>> halves = register_pre_hook(double := torch.nn.Identity(), lambda module, args, kwargs: ((args[0] / 2,), kwargs))
    >>> double(torch.ones(2))
    tensor([0.5000, 0.5000])
    >>> halves.remove()
    """
    mine = get_ident()

    # torch marks a hook as taking keywords only after adding it, so another thread's pass may call it without them.
    def run_hook(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        return hook(module, args, kwargs or {}) if get_ident() == mine else None

    return module.register_forward_pre_hook(run_hook, with_kwargs=True)


def register_post_hook(module: torch.nn.Module, hook: After) -> RemovableHandle:
    """Register a hook that runs after each call of the module in this thread; return its handle.

    The result of ``hook(module, args, kwargs, output)`` replaces the output, unless it is None.

    >>> doubled = register_post_hook(same := torch.nn.Identity(), lambda module, args, kwargs, output: 2 * output)
    >>> same(torch.ones(2))
    tensor([2., 2.])
    >>> doubled.remove()
    """
    mine = get_ident()

    def run_hook(module: Any, args: tuple[Any, ...], *rest: Any) -> Any:
        return hook(module, args, *rest) if get_ident() == mine else None

    return module.register_forward_hook(run_hook, with_kwargs=True)


@contextmanager
def hook_modules(model: torch.nn.Module, enter: Before, leave: After) -> Iterator[None]:
    """Inside the block, call ``enter`` before and ``leave`` after each module of a model runs in this thread."""
    handles = []
    try:
        for module in model.modules():
            handles.append(register_pre_hook(module, enter))
            handles.append(register_post_hook(module, leave))
        yield
    finally:
        for handle in handles:
            handle.remove()


LAYERS = "_headlight_layers"  # on a prepared model: the path of each layer's module, by stack
Change = Callable[[str, int, Tensor], Tensor | None]  # stack, layer, vectors (sample, token, channel)
_OWN_WAY = gettext_lazy("This model passes vectors between layers in its own way, so none can be replaced.")


def block_of(path: str) -> str:
    """Return the path of the layer that contains an attention module: up to the first number in its path.

    >>> block_of("encoder.block.2.layer.0.SelfAttention"), block_of("attention")
    ('encoder.block.2', '')
    """
    steps = path.split(".")
    numbered = next((at for at, step in enumerate(steps) if step.isdigit()), -1)
    return ".".join(steps[: numbered + 1])


def note_layers(model: Any, calls: Sequence[AttentionCall], parts: Sequence[str], ran: Container[str]) -> None:
    """Store in a model the layers and the numbers of heads of each stack, as found in a pass.

    ``calls`` are the attention calls, ``parts`` names the stack of each, and ``ran`` has the paths of the modules that
    ran. Layers without attention are counted, too.
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
    """Return the paths of all blocks of the module list that holds the attending blocks.

    Return () if no other block ran, or if the blocks are not in a single list and in order.
    """
    parents = {path.rpartition(".")[0] for path in attending}
    parent = next(iter(parents))
    if len(parents) > 1 or not isinstance(model.get_submodule(parent), torch.nn.ModuleList):
        return ()
    paths = [f"{parent}.{at}" for at in range(len(model.get_submodule(parent)))]
    whole = tuple(path for path in paths if path in ran)
    in_order = [path for path in whole if path in attending] == list(attending)
    numbered = whole == tuple(paths[: len(whole)])  # a block that never runs would shift the numbers
    return whole if len(whole) > len(attending) and in_order and numbered else ()


def layer_modules(model: Any) -> Mapping[str, tuple[str, ...]]:
    """Return the path of each layer's module by stack; a shared module appears once for each use.

    Raise UserError if the model computes its attention in code that cannot be changed.
    """
    heads_of(model)
    found: Mapping[str, tuple[str, ...]] = getattr(model, LAYERS)
    return found


@contextmanager
def changing_states(model: Any, parts: Sequence[str], change: Change) -> Iterator[None]:
    """Inside the block, replace the input of each layer by ``change(part, layer, vectors)``.

    ``parts`` are the stacks that are changed. The vectors are (sample, token, channel); if ``change`` returns None,
    they are not replaced. The block must contain a single forward pass of this thread. Raise UserError if the model
    does not pass its vectors between layers in a way that can be changed.
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
    """Return a layer's arguments with its vectors changed, or None if they stay."""
    vectors = args[0] if args else kwargs.get("hidden_states")
    if not isinstance(vectors, Tensor) or vectors.ndim != 3 or not torch.is_floating_point(vectors):
        raise UserError(_OWN_WAY)
    other = change(part, layer, vectors)
    if other is None:
        return None
    return ((other, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": other})


def parts(
    model: Any, calls: list[AttentionCall], inputs: dict[str, Tensor], spans: Pair
) -> list[dict[str, tuple[AnyRecord, ...]]]:
    """Return the attention records of each sample, by stack; the list ``calls`` is emptied.

    ``spans`` has the positions of the real tokens of source and target. Raise UserError for attention inside windows of
    a picture, whose maps do not cover the whole picture.
    """
    names = part_names(model, calls)
    batch = next(iter(inputs.values())).shape[0]
    odd = [call for call in calls if call.query.shape[0] != batch]
    if odd:
        raise UserError(
            gettext_lazy(
                "{name} attends inside windows only. Try ViT or DINOv2.",
                name=type(model).__name__,
            )
        )
    crops = [_Crop(sample, *spans) for sample in range(batch)]
    found: list[dict[str, list[Record]]] = [{part: [] for part in dict.fromkeys(names)} for _ in crops]
    for part in names:
        call = calls.pop(0)  # popped, so that its tensors are freed as soon as every sample has its copies
        for crop, records in zip(crops, found, strict=True):
            records[part].append(crop.record(call, part))
    return [{part: _by_layer(model, part, layers) for part, layers in records.items()} for records in found]


def record_of(call: AttentionCall, part: str, sample: int, spans: Pair) -> Record:
    """Return the record of a sample of a call in the stack ``part``, without padding."""
    return _Crop(sample, *spans).record(call, part)


def _by_layer(model: Any, part: str, found: Sequence[Record]) -> tuple[AnyRecord, ...]:
    """Return a record for each layer of a stack, NoAttention for layers without attention."""
    none = NoAttention(found[0].heads, found[0].queries, found[0].keys)
    return tuple(in_every_layer(model, part, list[AnyRecord](found), none))


class _Crop:
    """A converter of calls into the records of a single sample.

    Masks and biases that layers share are converted once.
    """

    def __init__(self, sample: int, source: Spans | None, target: Spans | None) -> None:
        self.sample = sample
        self.source, self.target = source, target
        self.made: dict[tuple[Any, ...], tuple[tuple[Tensor | None, ...], tuple[Mask, FloatArray | None]]] = {}

    def record(self, call: AttentionCall, part: str) -> Record:
        """Return the record of a call."""
        rows = self._cut(call, self.source if part == "encoder" else self.target, call.query)
        cols = self._cut(call, self.target if part == "decoder" else self.source, call.key)
        vectors = self._mine(call.query, rows), self._mine(call.key, cols), self._mine(call.value, cols)
        # Compact all three together, because views that share a fused projection need no copies.
        query, key, value = (numpy(tensor) for tensor in compact_tensors(*vectors))
        mask, bias = self._shared_mask(call, rows, cols)
        return Record(
            query=query,
            key=key,
            value=value,
            scale=call.scale,
            mask=mask,
            bias=bias,
            softcap=call.softcap,
            sinks=self._sinks(call),
            lse=None if call.lse is None else numpy(*compact_tensors(self._mine(call.lse, rows))),
        )

    def _cut(self, call: AttentionCall, spans: Spans | None, vectors: Tensor) -> slice:
        length = vectors.shape[2]
        return slice(0, length) if spans is None or PICTURE.search(call.path) else spans.cut(self.sample, length)

    def _mine(self, tensor: Tensor, tokens: slice) -> Tensor:
        """Return this sample's real tokens of a tensor (batch, head, token, …)."""
        return tensor[self.sample][:, tokens]

    def _sinks(self, call: AttentionCall) -> FloatArray | None:
        """Return a copy of this sample's sinks, shape (head,), or None; sinks are weights of the model.

        An edit may have changed the sinks of a single sample.
        """
        if call.sinks is None:
            return None
        heads = call.query.shape[1]
        rows = call.sinks.reshape(-1, heads)
        return numpy(rows[self.sample if len(rows) > 1 else 0].clone())

    def _shared_mask(self, call: AttentionCall, rows: slice, cols: slice) -> tuple[Mask, FloatArray | None]:
        """Return mask and bias, converted once for all layers that share them."""
        sides = (rows.start, rows.stop, cols.start, cols.stop)
        where = (place(call.mask), place(call.bias), call.causal, sides)
        if where not in self.made:
            # Keep the tensors, so that no others can take their addresses.
            self.made[where] = ((call.mask, call.bias), self._mask_and_bias(call, rows, cols))
        return self.made[where][1]

    def _mask_and_bias(self, call: AttentionCall, rows: slice, cols: slice) -> tuple[Mask, FloatArray | None]:
        mask = Mask(rows.stop - rows.start, cols.stop - cols.start, causal=call.causal)
        numbers = [] if call.bias is None else [self._block(call.bias, rows, cols)]
        if call.mask is not None:
            allowed, others = _split(self._block(call.mask, rows, cols))
            mask = Mask.compact(allowed.cpu().numpy())
            numbers += [] if others is None else [others]
        return mask, numpy(sum(numbers, torch.zeros(()))) if numbers else None

    def _block(self, tensor: Tensor, rows: slice, cols: slice) -> Tensor:
        """Return this sample's (head or 1, row, col) of (batch or 1, head or 1, query or 1, key)."""
        mine = tensor[self.sample if tensor.shape[0] > 1 else 0]
        return mine.expand(-1, max(rows.stop, mine.shape[1]), -1)[:, rows, cols]


def _split(mask: Tensor) -> tuple[Tensor, Tensor | None]:
    """Split a mask (head or 1, row, col) into the pairs that any head allows, and the numbers to add.

    The numbers are None if they are all zero.
    """
    lets = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
    allowed = lets.any(dim=0)
    numbers = torch.zeros_like(mask, dtype=torch.float32) if mask.dtype == torch.bool else mask.float()
    # The boolean mask covers pairs that every head hides; pairs that only some heads hide stay minus infinity.
    numbers = numbers.masked_fill(~lets, -torch.inf).masked_fill(~allowed, 0)
    return allowed, numbers if bool(numbers.any()) else None


def numpy(tensor: Tensor) -> FloatArray:
    """Return the tensor as a read-only float32 array, which shares the memory of a float32 CPU tensor."""
    array: np.ndarray[Any, np.dtype[np.float32]] = tensor.detach().to("cpu", torch.float32).numpy()
    array.setflags(write=False)
    return array
