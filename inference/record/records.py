"""From torch to NumPy: the modules of layers, and the calls of a pass as records."""

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
    """Calls ``hook(module, args, kwargs)`` before each run of the module in this thread; returns as torch has it.

    >>> halves = register_pre_hook(double := torch.nn.Identity(), lambda module, args, kwargs: ((args[0] / 2,), kwargs))
    >>> double(torch.ones(2))
    tensor([0.5000, 0.5000])
    >>> halves.remove()
    """
    mine = get_ident()

    # torch notes that a hook takes keywords a moment after it is there: a pass of another thread may call it without.
    def run_hook(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        return hook(module, args, kwargs or {}) if get_ident() == mine else None

    return module.register_forward_pre_hook(run_hook, with_kwargs=True)


def register_post_hook(module: torch.nn.Module, hook: After) -> RemovableHandle:
    """Calls ``hook(module, args, kwargs, output)`` after each run of the module in this thread; None keeps its output.

    >>> doubled = register_post_hook(same := torch.nn.Identity(), lambda module, args, kwargs, output: 2 * output)
    >>> same(torch.ones(2))
    tensor([2., 2.])
    >>> doubled.remove()
    """
    mine = get_ident()

    def run_hook(module: Any, args: tuple[Any, ...], *rest: Any) -> Any:
        return hook(module, args, *rest) if get_ident() == mine else None

    return module.register_forward_hook(run_hook, with_kwargs=True)


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


def parts(
    model: Any, calls: list[AttentionCall], inputs: dict[str, Tensor], spans: Pair
) -> list[dict[str, tuple[AnyRecord, ...]]]:
    """For each sample of the batch, its records by part, in the order of the calls, which are used up.

    Raises Refusal for attention inside windows of a picture, whose maps are not maps of the whole.
    """
    names = part_names(model, calls)
    batch = next(iter(inputs.values())).shape[0]
    odd = [call for call in calls if call.query.shape[0] != batch]
    if odd:
        raise UserError(
            gettext_lazy(
                "{name} attends inside {windows} windows of each picture, which give no map of the whole picture. "
                "Pick a model that attends to all of it, such as ViT.",
                name=type(model).__name__,
                windows=odd[0].query.shape[0] // batch,
            )
        )
    crops = [_Crop(sample, *spans) for sample in range(batch)]
    found: list[dict[str, list[Record]]] = [{part: [] for part in dict.fromkeys(names)} for _ in crops]
    for part in names:
        call = calls.pop(0)  # its tensors are let go as soon as every sample has its own
        for crop, records in zip(crops, found, strict=True):
            records[part].append(crop.record(call, part))
    return [{part: _by_layer(model, part, layers) for part, layers in records.items()} for records in found]


def _by_layer(model: Any, part: str, found: Sequence[Record]) -> tuple[AnyRecord, ...]:
    """Return a record for each layer of a part: those of its attentions, and NoAttention in between."""
    none = NoAttention(found[0].heads, found[0].queries, found[0].keys)
    return tuple(in_every_layer(model, part, list[AnyRecord](found), none))


class _Crop:
    """Makes the records of one sample; masks and biases that layers share are converted once."""

    def __init__(self, sample: int, source: Spans | None, target: Spans | None) -> None:
        self.sample = sample
        self.source, self.target = source, target
        self.made: dict[tuple[Any, ...], tuple[tuple[Tensor | None, ...], tuple[Mask, FloatArray | None]]] = {}

    def record(self, call: AttentionCall, part: str) -> Record:
        """The record of one call."""
        rows = self._cut(call, self.source if part == "encoder" else self.target, call.query)
        cols = self._cut(call, self.target if part == "decoder" else self.source, call.key)
        vectors = self._mine(call.query, rows), self._mine(call.key, cols), self._mine(call.value, cols)
        # Owned together, because three views that share one fused projection need no copies.
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
        """This sample's real tokens of (batch, head, token, ...)."""
        return tensor[self.sample][:, tokens]

    def _sinks(self, call: AttentionCall) -> FloatArray | None:
        """A copy, because these are weights of the model; an edit may have given this sample its own."""
        if call.sinks is None:
            return None
        heads = call.query.shape[1]
        rows = call.sinks.reshape(-1, heads)
        return numpy(rows[self.sample if len(rows) > 1 else 0].clone())

    def _shared_mask(self, call: AttentionCall, rows: slice, cols: slice) -> tuple[Mask, FloatArray | None]:
        """Mask and bias, made once for all layers that were given the same ones."""
        sides = (rows.start, rows.stop, cols.start, cols.stop)
        where = (place(call.mask), place(call.bias), call.causal, sides)
        if where not in self.made:
            # The tensors are kept, so that their places stay their own.
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
        """(batch or 1, head or 1, query or 1, key) as this sample's (head or 1, row, col)."""
        mine = tensor[self.sample if tensor.shape[0] > 1 else 0]
        return mine.expand(-1, max(rows.stop, mine.shape[1]), -1)[:, rows, cols]


def _split(mask: Tensor) -> tuple[Tensor, Tensor | None]:
    """A mask (head or 1, row, col) as pairs that any head lets through, and the numbers to add where they differ."""
    lets = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
    allowed = lets.any(dim=0)
    numbers = torch.zeros_like(mask, dtype=torch.float32) if mask.dtype == torch.bool else mask.float()
    # What every head hides is the mask's to say; what only some hide stays a number.
    numbers = numbers.masked_fill(~lets, -torch.inf).masked_fill(~allowed, 0)
    return allowed, numbers if bool(numbers.any()) else None


def numpy(tensor: Tensor) -> FloatArray:
    """The same numbers as a read-only float32 array; of a float32 tensor on the CPU, the same memory."""
    array: np.ndarray[Any, np.dtype[np.float32]] = tensor.detach().to("cpu", torch.float32).numpy()
    array.setflags(write=False)
    return array
