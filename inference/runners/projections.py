"""W_Q, W_K, W_V of any architecture, found by what they do: their output, split into heads, is the recorded q, k or v.

Between the two may stand a norm of the heads, rotary positions and a constant factor; each is tried, and what is found
is checked against every recorded number.
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

Columns = npt.NDArray[np.intp]  # (head, channel): of a matrix's output
ROLES = ("query", "key", "value")


@dataclass(frozen=True, eq=False)
class FoundProjection:
    """One branch, and the call it was found in."""

    branch: ProjectionParameters
    event: Event


def find(
    role: str, record: Record, events: Sequence[Event], rotaries: Sequence[Rotary], factors: Sequence[float]
) -> FoundProjection | None:
    """The branch that made the recorded queries, keys or values; the latest call that fits.

    ``events`` are the calls before the attention; ``factors`` are what a model may multiply vectors with before the dot
    products. None where no call fits.
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
    """The rotary positions that a model may use: every set of frequencies that it keeps, in both ways of pairing."""
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
    """Where one role's heads may stand in the output of a matrix that makes one, two or all three of them."""
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
    if width == sum(sizes.values()):  # group by group: the queries that share a key, the key, the value
        group = heads // kv_heads
        starts = {"query": 0, "key": group * channels, "value": (group + 1) * channels}
        step = width // kv_heads
        shared = group if role == "query" else 1
        inside = starts[role] + np.arange(shared * shape[1]).reshape(shared, shape[1])
        yield np.concatenate([inside + step * at for at in range(kv_heads)])


def _branch(  # noqa: PLR0913  # all that a projection is recognised by
    product: Linear,
    columns: Columns,
    gave: FloatArray,
    recorded: FloatArray,
    norms: Sequence[Event],
    rotaries: Sequence[Rotary],
    factors: Sequence[float],
) -> ProjectionParameters | None:
    """The way from a matrix's output to the recorded vectors, or None."""
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
    """The norms that were given these heads, each by itself or all side by side."""
    by_token = projected.transpose(1, 0, 2)
    for event in events:
        each = any(is_close(event.given, form) for form in (projected, by_token))
        if each or is_close(event.given, flatten(projected)):
            found = norm(event)
            if found is not None:
                yield found if each else Norm(found.kind, found.eps, found.weight, found.bias, wide=True)
