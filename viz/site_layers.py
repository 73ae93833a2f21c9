"""The attention of a layer in the file of a static site: rounded queries and keys, or finished maps.

Queries and keys are rotated to the principal axes of their scores, because most scores need only a few of these axes.
They are stored as integer multiples of a step. Each row has its own step: the largest power of two that changes no
weight too much. The keys are stored minus their mean over the tokens, which makes the numbers smaller. The softmax
ignores the difference, because it shifts all scores of a query equally.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.codec import LARGEST_WHOLE
from attention.mask import FloatArray
from attention.record import AnyRecord, MapRecord, Record

MOST_ERROR = 0.002  # largest difference of a weight; a layer beyond it is stored as finished maps
MOST_SHARE = 0.02  # largest difference of a weight as a share of the largest weight in its row
KEYS_SHARE = 0.8  # of the permitted difference, for the rounding of keys; the queries are rounded afterwards
DOUBLINGS = 16  # of a step, from the finest to one that rounds every number to zero
FINEST = 2.0**-6  # step of the keys, as a share of the step that their weights suggest
HALF = np.dtype("<f2")
Arrays = dict[str, tuple[FloatArray, str]]  # values and their coding by name
Booleans = npt.NDArray[np.bool_]
Fits = Callable[[FloatArray], Booleans]


def mask_rules(record: AnyRecord) -> dict[str, Any]:
    """Return the rules of a layer's mask and its soft cap, by name, without those that do not apply.

    The rule "causal" hides later keys. "left" and "right" are the largest distances of a visible key before and after
    its query. "softcap" is the limit of the scores.
    """
    if not isinstance(record, Record):
        return {}
    mask = record.mask
    rules = {"causal": mask.causal, "left": mask.left, "right": mask.right, "softcap": record.softcap}
    return {name: value for name, value in rules.items() if value not in (None, False)}


def layer_arrays(record: AnyRecord) -> tuple[Arrays, float]:
    """Return the arrays of a layer, each with the name of its coding, and the largest error of a weight.

    The arrays are rounded queries and keys, or else finished maps. Finished maps are stored if they are smaller, as in
    short texts, or if rounding would change a weight by more than MOST_ERROR.
    """
    if not isinstance(record, Record):
        assert isinstance(record, MapRecord)
        return _finished_maps(record.maps)
    exact = _maps(record)
    if exact.size <= record.query.size + record.key.size:
        return _finished_maps(exact)
    key = record.key
    if record.softcap is None and record.sinks is None:
        key = key - key.mean(axis=1, keepdims=True)
    centred = replace(record, query=record.query * np.float32(record.scale), key=key, scale=1.0, lse=None)
    if not np.isfinite(centred.query).all():
        return _finished_maps(exact)
    arrays, error = _round_layer(centred, exact)
    if not error <= MOST_ERROR:
        return _finished_maps(exact)
    if record.bias is not None:
        arrays["bias"] = (record.bias, "float32")
    if record.sinks is not None:
        arrays["sinks"] = (record.sinks, "float32")
    if record.mask.allowed is not None:
        arrays["hidden"] = ((~record.mask.allowed).astype(np.float32), "sqrt8")
    return arrays, error


def _finished_maps(maps: FloatArray) -> tuple[Arrays, float]:
    error = float(np.abs(maps.astype(HALF).astype(np.float32) - maps).max(initial=0))
    return {"maps": (maps, "float16")}, error


def _maps(record: Record) -> FloatArray:
    return np.stack([record.weights(head) for head in range(record.heads)])


def _round_layer(record: Record, exact: FloatArray) -> tuple[Arrays, float]:
    """Return queries and keys as whole numbers with the step of each row, and the largest error of a weight."""
    groups = len(record.key)
    shared = record.heads // groups  # heads that share a key-value head
    parts: dict[str, list[FloatArray]] = {"query": [], "query.step": [], "key": [], "key.step": []}
    largest = 0.0
    for group in range(groups):
        heads = slice(group * shared, (group + 1) * shared)
        own = replace(
            record,
            query=record.query[heads],
            key=record.key[group : group + 1],
            value=record.value[group : group + 1],
            bias=record.bias if record.bias is None or len(record.bias) == 1 else record.bias[heads],
            sinks=None if record.sinks is None else record.sinks[heads],
        )
        found, error = _round_group(own, exact[heads])
        for name, values in found.items():
            parts[name].append(values)
        largest = max(largest, error)
    coded = {name: "float32" if name.endswith("step") else "whole" for name in parts}
    return {name: (np.concatenate(values), coded[name]) for name, values in parts.items()}, largest


def _round_group(record: Record, exact: FloatArray) -> tuple[dict[str, FloatArray], float]:
    """Return the arrays of heads that share a key-value head, as ``_round_layer`` does."""
    query, key = _principal_axes(record.query.reshape(-1, record.query.shape[-1]), record.key[0])
    shape = (record.heads, record.queries, -1)
    limit = np.minimum(MOST_ERROR, MOST_SHARE * exact.max(axis=-1))  # (head, query)

    def differences(queries: FloatArray, keys: FloatArray) -> FloatArray:
        other = replace(record, query=queries.reshape(shape), key=keys[None])
        found: FloatArray = np.abs(_maps(other) - exact).max(axis=-1)
        return found

    def keys_fit(keys: FloatArray) -> Booleans:
        found: Booleans = differences(query, keys) <= KEYS_SHARE * limit
        return np.array([[found.all()]])

    key_step = _coarsest(key, FINEST * _suggested_steps(query, exact, limit), keys_fit)
    rounded = np.rint(key / key_step) * key_step

    def queries_fit(queries: FloatArray) -> Booleans:
        found: Booleans = differences(queries, rounded) <= limit
        return found.reshape(-1, 1)

    query_step = _coarsest(query, _smallest_steps(query), queries_fit)
    whole = np.rint(query / query_step)
    error = float(differences(whole * query_step, rounded).max())
    return {
        "query": whole.reshape(shape),
        "query.step": query_step.reshape(shape[:2]),
        "key": np.rint(key / key_step)[None],
        "key.step": key_step.reshape(1, -1),
    }, error


def _principal_axes(query: FloatArray, key: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return queries and keys with the same products, whose channels are uncorrelated, the largest first.

    >>> query, key = np.array([[3.0, 3.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> one, other = _principal_axes(query, key)
    >>> np.allclose(one @ other.T, query @ key.T), bool(abs(one[:, 1]).max() < 1e-6)
    (True, True)
    """
    (left, one), (right, other) = (np.linalg.qr(array.astype(np.float64)) for array in (query, key))
    turned, sizes, back = np.linalg.svd(one @ other.T)
    roots = np.sqrt(sizes)
    rank = len(sizes)
    found = (left @ turned[:, :rank] * roots, right @ back[:rank].T * roots)
    return found[0].astype(np.float32), found[1].astype(np.float32)


def _suggested_steps(query: FloatArray, exact: FloatArray, limit: FloatArray) -> FloatArray:
    """Return a power of two for each key, (key, 1): small if a weight on the key changes much with the score."""
    slopes = (exact * (1 - exact) / np.maximum(limit, 2.0**-24)[..., None]).reshape(len(query), -1)
    most = (slopes * np.linalg.norm(query, axis=1, keepdims=True)).max(axis=0)
    steps = 1 / np.maximum(most, 2.0**-24)
    found: FloatArray = np.exp2(np.rint(np.log2(np.minimum(steps, 4 * np.median(steps)))))
    return found[:, None]


def _smallest_steps(values: FloatArray) -> FloatArray:
    """Return the smallest power of two for each row, (row, 1), with numbers of at most LARGEST_WHOLE steps."""
    most = np.maximum(np.abs(values).max(axis=1, keepdims=True), 2.0**-24)
    found: FloatArray = np.exp2(np.ceil(np.log2(most / LARGEST_WHOLE)))
    return found


def _coarsest(values: FloatArray, finest: FloatArray, fits: Fits) -> FloatArray:
    """Return the largest steps of rows, (row, 1), for which ``fits`` accepts the rounded values.

    ``finest`` are the smallest steps, which are doubled DOUBLINGS times at most. ``fits`` returns a truth value for
    each row, or a single value for all.
    """
    smallest = _smallest_steps(values)
    low, high = np.zeros((2, *fits(values).shape), int)
    high += DOUBLINGS
    while (high - low > 1).any():
        middle = (low + high) // 2
        step = np.maximum(finest * np.exp2(middle), smallest)
        accepted = fits((np.rint(values / step) * step).astype(np.float32))
        low, high = np.where(accepted, middle, low), np.where(accepted, high, middle)
    steps: FloatArray = np.maximum(finest * np.exp2(low), smallest).astype(np.float32)
    return steps
