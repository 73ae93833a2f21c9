"""The projections, norms and rotary positions of an attention layer, found in the numbers of a pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from attention.mask import FloatArray
from attention.record import Record
from attention.walkthrough import (
    LayerParameters,
    Norm,
    ProjectionParameters,
    Rotary,
    flatten,
    normalise,
    normalise_heads,
    rotate,
)
from i18n import gettext_lazy
from inference.record.attention_function import Tape
from inference.record.records import register_post_hook, register_pre_hook


@dataclass(frozen=True, eq=False)
class Event:
    """A recorded call of a module; its input ``given`` and output ``gave`` are arrays (token, …)."""

    path: str
    module: Any
    given: FloatArray
    gave: FloatArray
    after: int  # number of attention calls that the pass had finished when the module returned


@dataclass(eq=False)
class BlockRecorder:
    """A recorder of the module calls in a layer (block) around an attention, and of the layer's output.

    ``wanted`` is the number of the attention call in the pass. The block may run several times in a pass; the run with
    this call is recorded.
    """

    tape: Tape
    wanted: int  # number of the attention call in the pass
    events: list[Event] = field(default_factory=list)
    output: FloatArray | None = None

    @property
    def has_passed(self) -> bool:
        """Return True if the wanted attention has been computed."""
        return len(self.tape.calls) > self.wanted

    def opens(self) -> None:
        """Discard the calls of an earlier run of the block if the wanted attention was not computed in it."""
        if not self.has_passed:
            self.events.clear()

    def closes(self, output: Any) -> None:
        """Store the output of the block, if the wanted attention ran in it."""
        if self.has_passed and self.output is None:
            self.output = _array(_first(output if isinstance(output, tuple) else (output,)))

    def note(self, path: str, module: Any, args: Sequence[Any], kwargs: dict[str, Any], output: Any) -> None:
        """Record the call of the module at ``path``; calls after the end of the block are ignored.

        ``args`` and ``kwargs`` are the arguments of the call, and ``output`` is its result.
        """
        if self.output is not None:
            return
        given, gave = (
            _array(_first(values))
            for values in ((*args, *kwargs.values()), output if isinstance(output, tuple) else (output,))
        )
        if given is not None and gave is not None:
            self.events.append(Event(path, module, given, gave, len(self.tape.calls)))


@contextmanager
def watch_block(block: Any, path: str, tape: Tape, wanted: int) -> Iterator[BlockRecorder]:
    """Record the module calls of the layer ``block`` around the attention call number ``wanted``.

    Calls of norms and of modules with parameters are recorded, until the layer has run. ``path`` is the layer's path,
    and ``tape`` records the attention calls of the pass.
    """
    watch = BlockRecorder(tape, wanted)
    hooks = [
        register_pre_hook(block, lambda _module, _args, _kwargs: watch.opens()),
        register_post_hook(block, lambda _module, _args, _kwargs, output: watch.closes(output)),
    ]
    for name, module in block.named_modules(prefix=path):
        if "norm" in type(module).__name__.lower() or any(True for _ in module.parameters(recurse=False)):
            hooks.append(register_post_hook(module, partial(watch.note, name)))
    try:
        yield watch
    finally:
        for handle in hooks:
            handle.remove()


def _first(values: Sequence[Any]) -> Any:
    return next((value for value in values if isinstance(value, torch.Tensor)), None)


def _array(tensor: Any) -> FloatArray | None:
    """Return a copy of the only text's values, shape (token, …), or None for other tensors.

    Models change tensors in place, and some drop the batch axis.
    """
    if tensor is None or not tensor.is_floating_point() or tensor.ndim < 2 or (tensor.ndim > 2 and tensor.shape[0] > 1):
        return None
    text = tensor if tensor.ndim == 2 else tensor[0]
    found: FloatArray = np.array(text.detach().to("cpu", torch.float32).numpy())
    return found


NEAR = 1e-4  # relative to the largest number: the allowed rounding difference between formula and module
EPSILONS = ("eps", "variance_epsilon", "epsilon", "layer_norm_eps", "norm_eps")
USUAL = (1e-5, 1e-6, 1e-12)  # for modules without any of these attributes


@dataclass(frozen=True, eq=False)
class Linear:
    """The affine map x · weight + bias."""

    weight: FloatArray  # (input, output)
    bias: FloatArray | None  # (output,)


def is_close(one: FloatArray, other: FloatArray) -> bool:
    """Return True if two arrays are equal up to rounding."""
    if one.shape != other.shape:
        return False
    size = max(float(np.abs(other).max(initial=0)), 1e-3)
    return bool(np.abs(one - other).max(initial=0) <= NEAR * size)


def linear(event: Event) -> Linear | None:
    """Return the affine map that a module computes, or None if its numbers do not fit such a map.

    The module may store its matrix in either orientation.
    """
    weight, bias = _parameter(event.module, "weight"), _parameter(event.module, "bias")
    if weight is None or weight.ndim != 2 or event.given.ndim != 2 or event.gave.ndim != 2:
        return None
    for matrix in (weight.T, weight):  # torch.nn.Linear stores (output, input), GPT-2's Conv1D (input, output)
        if matrix.shape == (event.given.shape[1], event.gave.shape[1]):
            found = event.given @ matrix
            if is_close(found if bias is None else found + bias, event.gave):
                return Linear(matrix, bias)
    return None


def norm(event: Event) -> Norm | None:
    """Return the norm that a module computes, or None if its numbers fit no norm.

    If several formulas fit, the closest is returned.
    """
    if event.given.shape != event.gave.shape:
        return None
    candidates = list(_norms(event.module, event.given.shape[-1]))
    made = [normalise(event.given, candidate) for candidate in candidates]
    nearest = min(range(len(made)), key=lambda at: float(np.abs(made[at] - event.gave).max()))
    return candidates[nearest] if is_close(made[nearest], event.gave) else None


def _norms(module: Any, width: int) -> Iterator[Norm]:
    """Yield the norms that a module may compute, the most common first."""
    weight, bias = (
        next((a for name in names if (a := _parameter(module, name)) is not None and a.shape == (width,)), None)
        for names in (("weight", "gamma", "scale"), ("bias", "beta"))
    )
    stated = [float(eps) for name in EPSILONS if isinstance(eps := getattr(module, name, None), float)]
    for eps in stated or USUAL:
        for kind in ("layer", "rms"):
            yield Norm(kind, eps, weight, bias)
            if weight is not None:
                yield Norm(kind, eps, weight + 1, bias)


def _parameter(module: Any, name: str) -> FloatArray | None:
    """Return a copy of a module's parameter, which may outlive the model, or None."""
    tensor = getattr(module, name, None)
    if tensor is None or not hasattr(tensor, "detach"):
        return None
    found: FloatArray = np.array(tensor.detach().float().cpu().numpy())
    found.setflags(write=False)
    return found


Columns = npt.NDArray[np.intp]  # (head, channel), columns of a matrix's output
ROLES = ("query", "key", "value")


@dataclass(frozen=True, eq=False)
class FoundProjection:
    """The parameters of a projection, and the module call that computed it."""

    branch: ProjectionParameters
    event: Event


def find(
    role: str, record: Record, events: Sequence[Event], rotaries: Sequence[Rotary], factors: Sequence[float]
) -> FoundProjection | None:
    """Return the projection that computed the recorded queries, keys or values (``role``), or None.

    ``events`` are the module calls before the attention; of those that fit, the latest is returned. ``factors`` are
    constants by which the model may scale the vectors before the dot products.
    """
    recorded: FloatArray = getattr(record, role)
    norms = [event for event in events if event.given.shape == event.gave.shape]
    for event in reversed(events):
        product = linear(event) if event.gave.ndim == 2 and len(event.gave) == recorded.shape[1] else None
        if product is None:
            continue
        for columns in _layouts(role, record, product.weight.shape[1]):
            branch = _branch(product, columns, event.gave, recorded, norms, rotaries, factors)
            if branch is not None:
                return FoundProjection(branch, event)
    return None


def rotaries(model: Any) -> list[Rotary]:
    """Return all rotary position embeddings that a model may use.

    Each set of frequencies in the model is returned with both ways of pairing channels.
    """
    found: dict[bytes, Rotary] = {}
    for module in model.modules():
        for name, buffer in module.named_buffers(recurse=False):
            if name.endswith("inv_freq") and buffer.ndim == 1:
                scales = {1.0, *(value for key, value in vars(module).items() if key.endswith("attention_scaling"))}
                frequencies = np.array(buffer.detach().float().cpu().numpy())
                for scale in sorted(scale for scale in scales if isinstance(scale, float)):
                    for neighbours in (False, True):
                        key = frequencies.tobytes() + repr((scale, neighbours)).encode()
                        found[key] = Rotary(frequencies, scale, neighbours)
    return list(found.values())


def _layouts(role: str, record: Record, width: int) -> Iterator[Columns]:
    """Yield the possible columns of a role's heads in the output of a separate or fused projection."""
    heads, kv_heads = record.heads, int(record.key.shape[0])
    channels, deep = int(record.query.shape[2]), int(record.value.shape[2])
    sizes = {"query": heads * channels, "key": kv_heads * channels, "value": kv_heads * deep}
    own = getattr(record, role).shape
    shape = (int(own[0]), int(own[2]))
    every = np.arange(sizes[role]).reshape(shape)
    if width == sizes[role]:
        yield every
    for together in (ROLES, ROLES[1:]):
        if role in together and width == sum(sizes[name] for name in together):
            yield every + sum(sizes[name] for name in together[: together.index(role)])
    if width == sum(sizes.values()):  # grouped: the queries that share a key, then the key, then the value
        group = heads // kv_heads
        starts = {"query": 0, "key": group * channels, "value": (group + 1) * channels}
        step = width // kv_heads
        shared = group if role == "query" else 1
        inside = starts[role] + np.arange(shared * shape[1]).reshape(shared, shape[1])
        yield np.concatenate([inside + step * at for at in range(kv_heads)])


def _branch(  # noqa: PLR0913  # all that identifies a projection
    product: Linear,
    columns: Columns,
    gave: FloatArray,
    recorded: FloatArray,
    norms: Sequence[Event],
    rotaries: Sequence[Rotary],
    factors: Sequence[float],
) -> ProjectionParameters | None:
    """Return the parameters that lead from a matrix's output to the recorded vectors, or None."""
    projected = gave[:, columns].transpose(1, 0, 2)  # (head, token, channel)
    for head_norm in (None, *_norms_of(projected, norms)):
        normed = projected if head_norm is None else normalise_heads(projected, head_norm)
        for rotary in (None, *(one for one in rotaries if 2 * len(one.frequencies) <= recorded.shape[2])):
            vectors = normed if rotary is None else rotate(normed, rotary)
            for by in factors:
                if is_close(vectors * np.float32(by), recorded):
                    weight = np.ascontiguousarray(product.weight[:, columns])  # (input, head, channel)
                    bias = None if product.bias is None else product.bias[columns]
                    return ProjectionParameters(weight, bias, head_norm, rotary, by)
    return None


def _norms_of(projected: FloatArray, events: Sequence[Event]) -> Iterator[Norm]:
    """Yield the norms of these heads, applied to each head or to their concatenation."""
    by_token = projected.transpose(1, 0, 2)
    for event in events:
        each = any(is_close(event.given, form) for form in (projected, by_token))
        if each or is_close(event.given, flatten(projected)):
            found = norm(event)
            if found is not None:
                yield found if each else Norm(found.kind, found.eps, found.weight, found.bias, wide=True)


_NAMES = {"query": gettext_lazy("query"), "key": gettext_lazy("key"), "value": gettext_lazy("value")}


class UnsupportedAttention(ValueError):
    """Raised if an attention does not follow the known formula.

    The message completes the sentence "The attention of … ".
    """


@dataclass(frozen=True, eq=False)
class AttentionParts:
    """The parameters (``wiring``), inputs, output and module names of an attention sublayer.

    ``stream`` (token, channel) is the residual stream before the attention. ``memory`` (key, channel) is the encoder's
    output in cross-attention, otherwise None. ``names`` maps roles such as "query" to module paths.
    """

    wiring: LayerParameters
    stream: FloatArray
    memory: FloatArray | None
    output: FloatArray
    names: dict[str, str]


@dataclass(frozen=True, eq=False)
class _End:
    """The path of W_O's output: its norm, the vectors added to it, the norm of the sum, and the result."""

    base: FloatArray | None  # None if it could not be identified
    after: Norm | None
    closing: Event | None
    ends: str
    output: FloatArray


def assemble(
    record: Record, watch: BlockRecorder, rotaries: Sequence[Rotary], factors: Sequence[float]
) -> AttentionParts:
    """Assemble the parameters, inputs and output of the recorded attention.

    ``watch`` has the module calls of its layer. ``rotaries`` and ``factors`` are the rotary embeddings and the constant
    factors that the model may apply to queries and keys. Raise UnsupportedAttention if the attention does not follow
    the known formula.
    """
    earlier = [event for event in watch.events if event.after <= watch.wanted]
    later = [event for event in watch.events if event.after > watch.wanted]
    query, key, value = (_find_projection(role, record, earlier, rotaries, factors) for role in ROLES)
    if key.event.given.shape != value.event.given.shape or not is_equal(key.event.given, value.event.given):
        raise UnsupportedAttention(gettext_lazy("makes keys and values from different vectors"))
    vectors = query.event.given
    itself = is_equal(key.event.given, vectors)
    joined, product = _find_output_projection(record, later)
    entry = next((event for event in reversed(earlier) if is_equal(event.gave, vectors) and norm(event)), None)
    end = _find_layer_end(entry, vectors, joined, later[later.index(joined) + 1 :], watch.output)
    ahead = entry if entry is not None and (end.base is None or end.base is entry.given) else None
    heads, channels = record.heads, int(record.value.shape[2])
    wiring = LayerParameters(
        query=query.branch,
        key=key.branch,
        value=value.branch,
        output=np.ascontiguousarray(product.weight.reshape(heads, channels, -1)),
        output_bias=product.bias,
        before=None if ahead is None else norm(ahead),
        after=end.after,
        closing=None if end.closing is None else norm(end.closing),
        ends=end.ends,
    )
    calls = {"query": query.event, "key": key.event, "value": value.event, "output": joined}
    calls |= {} if ahead is None else {"before": ahead}
    calls |= {} if end.closing is None else {"closing": end.closing}
    names = {name: event.path for name, event in calls.items()}
    stream = vectors if ahead is None else ahead.given
    return AttentionParts(wiring, stream, None if itself else key.event.given, end.output, names)


def is_equal(one: FloatArray, other: FloatArray) -> bool:
    """Return True if two arrays are equal up to float32 rounding."""
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-5, atol=1e-6)


def _find_projection(
    role: str, record: Record, earlier: Sequence[Event], rotaries: Sequence[Rotary], factors: Sequence[float]
) -> FoundProjection:
    found = find(role, record, earlier, rotaries, factors)
    if found is None:
        raise UnsupportedAttention(gettext_lazy("has no single {role} matrix", role=_NAMES.get(role, role)))
    return found


def _find_output_projection(record: Record, later: Sequence[Event]) -> tuple[Event, Linear]:
    """Return W_O and its call: the first matrix after the attention that takes the concatenated heads."""
    width = record.heads * int(record.value.shape[2])
    for event in later:
        product = linear(event) if event.given.shape == (record.queries, width) else None
        if product is not None:
            return event, product
    raise UnsupportedAttention(gettext_lazy("has no single output matrix"))


def _find_layer_end(
    entry: Event | None, vectors: FloatArray, joined: Event, later: Sequence[Event], block: FloatArray | None
) -> _End:
    """Return the path of W_O's output, with ``ends`` "output" if it cannot be identified."""
    settled = next((event for event in later if is_equal(event.given, joined.gave) and norm(event)), None)
    added = joined.gave if settled is None else settled.gave
    after = None if settled is None else norm(settled)
    # In a post-norm block, which ends in a norm, the residual stream is the output of a norm; otherwise it is a sum.
    closes = block is not None and any(is_equal(event.gave, block) and norm(event) for event in later)
    for base in (*(() if entry is None else (entry.given,)), vectors):
        total = base + added
        taker = next((event for event in later if is_equal(event.given, total)), None)
        if taker is not None and closes and norm(taker):
            return _End(base, after, taker, "norm", taker.gave)
        if taker is not None:
            return _End(base, after, None, "sum", taker.given)
        if block is not None and is_equal(block, total):
            return _End(base, after, None, "sum", block)
        if block is not None and any(is_equal(event.gave, block - total) for event in later):
            return _End(base, after, None, "beside", joined.gave)
    return _End(None, None, None, "output", joined.gave)
