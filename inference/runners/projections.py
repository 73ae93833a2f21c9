"""Identification of W_Q, W_K and W_V in any architecture by their output: the recorded q, k or v.

A norm of the heads, rotary positions and a constant factor may come in between; each is tried, and the result is
checked against every recorded number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
from attention.record import Record
from attention.walkthrough import Norm, ProjectionParameters, Rotary, flatten, normalise_heads, rotate
from inference.runners.block_recorder import Event
from inference.runners.formulas import Linear, is_close, linear, norm

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
    """Return the projection of the recorded queries, keys or values, from the latest call that fits.

    ``events`` are the calls before the attention; ``factors`` are the constants that may scale the vectors before
    the dot products. Return None if no call fits.
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
    """Return the rotary positions that a model may use.

    They are all its sets of frequencies, with both ways of pairing channels.
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
