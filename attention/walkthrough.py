"""One attention layer computed step by step from its weights and its input, without the model.

    x → norm? → W_Q, W_K, W_V → norm?, rotary? → q · k → × scale → soft cap?, bias?, mask → softmax → Σ weight · v
      → heads side by side → W_O → norm? → + x → norm?         (arXiv:1706.03762, section 3.2; "?": in some models)

Mask, bias, scale, soft cap and sinks are rules of the layer, not results, and are read from its record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.layer_parameters import LayerParameters, Norm, ProjectionParameters, Rotary
from attention.mask import BoolArray, FloatArray
from attention.record import Record

Rows = npt.NDArray[np.intp]


def normalise(vectors: FloatArray, norm: Norm) -> FloatArray:
    """Each vector of (..., channel) brought to mean 0 and variance 1 ("layer"), or to mean square 1 ("rms").

    >>> normalise(np.array([[1.0, 3.0]], np.float32), Norm("layer", 0.0)).tolist()
    [[-1.0, 1.0]]
    """
    centred = vectors - vectors.mean(axis=-1, keepdims=True) if norm.kind == "layer" else vectors
    found: FloatArray = centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(norm.eps))
    if norm.weight is not None:
        found = found * norm.weight
    return found if norm.bias is None else found + norm.bias


def rotate(vectors: FloatArray, rotary: Rotary) -> FloatArray:
    """Vectors (head, token, channel) turned by their token's position, counted from 0.

    >>> quarter = Rotary(np.array([np.pi / 2], np.float32))
    >>> rotate(np.array([[[1, 0], [1, 0]]], np.float32), quarter).round(5).tolist()
    [[[1.0, 0.0], [-0.0, 1.0]]]
    """
    pairs = len(rotary.frequencies)
    angles = np.arange(vectors.shape[1], dtype=np.float32)[:, None] * rotary.frequencies  # (token, pair)
    cos, sin = np.cos(angles) * np.float32(rotary.scale), np.sin(angles) * np.float32(rotary.scale)
    first, second = (
        (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2))
        if rotary.neighbours
        else (slice(0, pairs), slice(pairs, 2 * pairs))
    )
    turned: FloatArray = vectors.copy()
    turned[..., first] = vectors[..., first] * cos - vectors[..., second] * sin
    turned[..., second] = vectors[..., second] * cos + vectors[..., first] * sin
    return turned


def project(vectors: FloatArray, branch: ProjectionParameters) -> FloatArray:
    """x · W + b for every head, (token, input) -> (head, token, channel)."""
    width, heads, channels = branch.weight.shape
    flat = vectors @ branch.weight.reshape(width, heads * channels)
    if branch.bias is not None:
        flat += branch.bias.reshape(-1)
    found: FloatArray = np.ascontiguousarray(flat.reshape(len(vectors), heads, channels).transpose(1, 0, 2))
    return found


def flatten(vectors: FloatArray) -> FloatArray:
    """Heads side by side, (head, token, channel) -> (token, head * channel).

    >>> flatten(np.array([[[1.0, 2.0]], [[3.0, 4.0]]], np.float32)).tolist()
    [[1.0, 2.0, 3.0, 4.0]]
    """
    heads, tokens, channels = vectors.shape
    found: FloatArray = vectors.transpose(1, 0, 2).reshape(tokens, heads * channels)
    return found


def normalise_heads(vectors: FloatArray, norm: Norm) -> FloatArray:
    """A norm of queries or keys, (head, token, channel): of each head, or of all heads side by side (``wide``)."""
    if not norm.wide:
        return normalise(vectors, norm)
    heads, tokens, channels = vectors.shape
    found: FloatArray = normalise(flatten(vectors), norm).reshape(tokens, heads, channels).transpose(1, 0, 2)
    return found


@dataclass(frozen=True, eq=False)
class ProjectionSteps:
    """One of queries, keys and values through its stages, each (head, token, channel)."""

    projected: FloatArray
    normed: FloatArray | None
    rotated: FloatArray | None

    @property
    def last(self) -> FloatArray:
        """What enters the dot products, before the branch's factor."""
        return next(stage for stage in (self.rotated, self.normed, self.projected) if stage is not None)


def make(vectors: FloatArray, branch: ProjectionParameters) -> ProjectionSteps:
    """Queries, keys or values of vectors (token, input)."""
    projected = project(vectors, branch)
    normed = None if branch.norm is None else normalise_heads(projected, branch.norm)
    before = projected if normed is None else normed
    return ProjectionSteps(projected, normed, None if branch.rotary is None else rotate(before, branch.rotary))


@dataclass(frozen=True, eq=False)
class WeightSteps:
    """How some queries weigh every key, each (row, key), float32; -inf where the mask hides a key."""

    dots: FloatArray  # q · k
    scale: float
    scaled: FloatArray
    capped: FloatArray | None  # where the layer has a soft cap
    bias: FloatArray | None  # what is added
    allowed: BoolArray
    scores: FloatArray  # what enters the softmax
    weights: FloatArray
    sink: float | None  # a score that takes its share of every row and is dropped


def weigh(  # noqa: PLR0913
    queries: FloatArray, keys: FloatArray, record: Record, head: int, rows: Rows, factor: float = 1.0
) -> WeightSteps:  # the terms of the formula
    """Queries (row, channel), which stand at ``rows``, against keys (key, channel), by the layer's rules.

    ``factor`` is what the model multiplies queries and keys with beforehand; the scale is all of it together.
    """
    scale = factor * record.scale
    dots: FloatArray = queries @ keys.T
    scaled: FloatArray = dots * np.float32(scale)
    cap = record.softcap
    capped: FloatArray | None = None if cap is None else np.tanh(scaled / np.float32(cap)) * np.float32(cap)
    bias: FloatArray | None = None if record.bias is None else record.bias[head % len(record.bias)][rows]
    scores = scaled if capped is None else capped
    scores = scores.copy() if bias is None else scores + bias
    allowed = record.mask.block(rows, slice(None))
    if allowed is None:
        allowed = np.ones(scores.shape, bool)
    scores[~allowed] = -np.inf
    sink = None if record.sinks is None else float(record.sinks[head])
    return WeightSteps(dots, scale, scaled, capped, bias, allowed, scores, softmax(scores, sink), sink)


def softmax(scores: FloatArray, sink: float | None = None) -> FloatArray:
    """Weights of each row of scores (row, key); a sink takes a share of its own. All zero where every key is masked.

    >>> softmax(np.log(np.array([[1, 3]], np.float32))).tolist()
    [[0.25, 0.75]]
    """
    top = scores.max(axis=1, keepdims=True, initial=-np.inf if sink is None else sink)
    top[np.isneginf(top)] = 0
    powers: FloatArray = np.exp(scores - top)
    total = powers.sum(axis=1, keepdims=True) + (0 if sink is None else np.exp(np.float32(sink) - top))
    weights: FloatArray = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
    return weights


@dataclass(frozen=True, eq=False)
class LayerSteps:
    """The whole way for some rows (tokens that look), against all keys."""

    rows: Rows
    normed: FloatArray | None  # (token, channel), all tokens; None without a norm before
    query: ProjectionSteps
    key: ProjectionSteps
    value: ProjectionSteps
    context: FloatArray  # (head, row, channel): the weighted sums of values
    joined: FloatArray  # (row, head * channel)
    output: FloatArray  # (row, channel): after W_O
    settled: FloatArray | None  # (row, channel): after the norm of the output
    summed: FloatArray | None  # (row, channel): with the residual added; None where the wiring ends before
    closed: FloatArray | None  # (row, channel): after the norm of the sum

    @property
    def last(self) -> FloatArray:
        """What the model has at the same place, (row, channel)."""
        ends = (self.closed, self.summed, self.output)
        return next(stage for stage in ends if stage is not None)


def trace_layer_steps(
    wiring: LayerParameters,
    record: Record,
    stream: FloatArray,
    memory: FloatArray | None = None,
    rows: Rows | None = None,
) -> LayerSteps:
    """Every step for the tokens ``rows`` (all without it), from the residual stream (token, channel).

    ``memory`` is what cross-attention takes keys and values from, (key, channel): the encoder's output.
    """
    rows = np.arange(len(stream)) if rows is None else rows
    normed = None if wiring.before is None else normalise(stream, wiring.before)
    vectors = stream if normed is None else normed
    source = vectors if memory is None else memory
    query, key, value = make(vectors, wiring.query), make(source, wiring.key), make(source, wiring.value)
    context = np.stack([_context(wiring, record, query, key, value, head, rows) for head in range(wiring.heads)])
    joined = flatten(context)
    heads, channels, width = wiring.output.shape
    output = joined @ wiring.output.reshape(heads * channels, width)
    if wiring.output_bias is not None:
        output += wiring.output_bias
    settled = None if wiring.after is None else normalise(output, wiring.after)
    added = output if settled is None else settled
    summed = stream[rows] + added if wiring.ends in ("sum", "norm") else None
    closed = None if wiring.closing is None or summed is None else normalise(summed, wiring.closing)
    return LayerSteps(rows, normed, query, key, value, context, joined, output, settled, summed, closed)


def weigh_head(  # noqa: PLR0913
    wiring: LayerParameters, record: Record, query: ProjectionSteps, key: ProjectionSteps, head: int, rows: Rows
) -> WeightSteps:  # the terms of the formula
    """The weighing of one head, from queries and keys as they were made."""
    keys = key.last[head // (wiring.heads // wiring.kv_heads)]
    return weigh(query.last[head][rows], keys, record, head, rows, wiring.query.factor * wiring.key.factor)


def _context(  # noqa: PLR0913
    wiring: LayerParameters,
    record: Record,
    query: ProjectionSteps,
    key: ProjectionSteps,
    value: ProjectionSteps,
    head: int,
    rows: Rows,
) -> FloatArray:  # the terms of the formula
    """One head's weighted sums of values, (row, channel)."""
    weights = weigh_head(wiring, record, query, key, head, rows).weights
    values = value.last[head // (wiring.heads // wiring.kv_heads)]
    found: FloatArray = weights @ values * np.float32(wiring.value.factor)
    return found
