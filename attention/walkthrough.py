"""Step-by-step computation of an attention layer, and the arithmetic of an attention weight in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.mask import BoolArray, FloatArray
from attention.record import Record
from i18n import gettext_lazy, ngettext_lazy, translate


@dataclass(frozen=True, eq=False)
class Norm:
    """The parameters of a LayerNorm (arXiv:1607.06450) or RMSNorm (arXiv:1910.07467).

    ``weight`` is the actual multiplier, also for models that store it minus one (Gemma). ``wide`` means that a norm of
    queries or keys spans all heads together instead of each head separately.
    """

    kind: str  # "layer" or "rms"
    eps: float
    weight: FloatArray | None = None  # (channel,)
    bias: FloatArray | None = None  # (channel,)
    wide: bool = False


@dataclass(frozen=True, eq=False)
class Rotary:
    """Rotary position embeddings (arXiv:2104.09864): pairs of channels rotate by position times frequency.

    The first 2 * pairs channels are rotated. Channel i is paired with i + pairs, or with its neighbour if
    ``neighbours``.
    """

    frequencies: FloatArray  # (pair,) radians per token
    scale: float = 1.0  # multiplier of cosine and sine (arXiv:2309.00071)
    neighbours: bool = False


@dataclass(frozen=True, eq=False)
class ProjectionParameters:
    """Parameters of the projection to queries, keys or values.

    ``factor`` is a multiplier of the result before the dot products, 1 in most models.
    """

    weight: FloatArray  # (input, head, channel)
    bias: FloatArray | None = None  # (head, channel)
    norm: Norm | None = None
    rotary: Rotary | None = None
    factor: float = 1.0

    @property
    def parameters(self) -> int:
        """Return the number of trained parameters of the matrix, its bias and its norm."""
        return sum(array.size for array in _arrays(self.weight, self.bias, *_norm_arrays(self.norm)))


@dataclass(frozen=True, eq=False)
class LayerParameters:
    """Parameters of an attention layer, from its input in the residual stream to its output.

    ``ends`` names the last step that is known to match the model: "sum" is the residual sum, and "norm" the norm after
    it. "output" and "beside" mean that W_O is the last such step, for two reasons. With "output", the next step of the
    model was not recognised. With "beside", the model adds attention and feed-forward output in a single sum
    (arXiv:2204.02311).
    """

    query: ProjectionParameters
    key: ProjectionParameters
    value: ProjectionParameters
    output: FloatArray  # W_O, (head, channel, output)
    output_bias: FloatArray | None = None  # (output,)
    before: Norm | None = None  # norm of the input, before W_Q, W_K and W_V
    after: Norm | None = None  # norm of the output of W_O, before the residual sum
    closing: Norm | None = None  # norm of the residual sum
    ends: str = "sum"

    @property
    def heads(self) -> int:
        """Return the number of query heads."""
        return int(self.query.weight.shape[1])

    @property
    def kv_heads(self) -> int:
        """Return the number of key-value heads, which is less than ``heads`` in grouped-query attention."""
        return int(self.key.weight.shape[1])

    @property
    def parameters(self) -> dict[str, int]:
        """Return the number of trained parameters by matrix, with biases and the norms of queries and keys."""
        joined = sum(array.size for array in _arrays(self.output, self.output_bias))
        parts = {"W_Q": self.query, "W_K": self.key, "W_V": self.value}
        return {**{name: branch.parameters for name, branch in parts.items()}, "W_O": joined}

    def arrays(self) -> Iterator[FloatArray]:
        """Yield every array of the parameters."""
        for branch in (self.query, self.key, self.value):
            frequencies = None if branch.rotary is None else branch.rotary.frequencies
            yield from _arrays(branch.weight, branch.bias, *_norm_arrays(branch.norm), frequencies)
        yield from _arrays(
            self.output,
            self.output_bias,
            *_norm_arrays(self.before),
            *_norm_arrays(self.after),
            *_norm_arrays(self.closing),
        )


def _norm_arrays(norm: Norm | None) -> tuple[FloatArray | None, ...]:
    return () if norm is None else (norm.weight, norm.bias)


def _arrays(*arrays: FloatArray | None) -> Iterator[FloatArray]:
    yield from (array for array in arrays if array is not None)


Rows = npt.NDArray[np.intp]


def normalise(vectors: FloatArray, norm: Norm) -> FloatArray:
    """Normalise each vector (..., channel) to mean 0 and variance 1 ("layer") or to mean square 1 ("rms").

    >>> normalise(np.array([[1.0, 3.0]], np.float32), Norm("layer", 0.0)).tolist()
    [[-1.0, 1.0]]
    """
    centred = vectors - vectors.mean(axis=-1, keepdims=True) if norm.kind == "layer" else vectors
    found: FloatArray = centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(norm.eps))
    if norm.weight is not None:
        found = found * norm.weight
    return found if norm.bias is None else found + norm.bias


def rotate(vectors: FloatArray, rotary: Rotary) -> FloatArray:
    """Rotate vectors (head, token, channel) by their token position, counted from 0.

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
    """Compute x · W + b of a projection for every head, (token, input) -> (head, token, channel)."""
    width, heads, channels = branch.weight.shape
    flat = vectors @ branch.weight.reshape(width, heads * channels)
    if branch.bias is not None:
        flat += branch.bias.reshape(-1)
    found: FloatArray = np.ascontiguousarray(flat.reshape(len(vectors), heads, channels).transpose(1, 0, 2))
    return found


def flatten(vectors: FloatArray) -> FloatArray:
    """Concatenate the heads, (head, token, channel) -> (token, head * channel).

    >>> flatten(np.array([[[1.0, 2.0]], [[3.0, 4.0]]], np.float32)).tolist()
    [[1.0, 2.0, 3.0, 4.0]]
    """
    heads, tokens, channels = vectors.shape
    found: FloatArray = vectors.transpose(1, 0, 2).reshape(tokens, heads * channels)
    return found


def normalise_heads(vectors: FloatArray, norm: Norm) -> FloatArray:
    """Normalise queries or keys (head, token, channel), per head, or across all heads if ``norm.wide`` is set."""
    if not norm.wide:
        return normalise(vectors, norm)
    heads, tokens, channels = vectors.shape
    found: FloatArray = normalise(flatten(vectors), norm).reshape(tokens, heads, channels).transpose(1, 0, 2)
    return found


@dataclass(frozen=True, eq=False)
class ProjectionSteps:
    """Queries, keys or values after each step, shape (head, token, channel)."""

    projected: FloatArray
    normed: FloatArray | None
    rotated: FloatArray | None

    @property
    def last(self) -> FloatArray:
        """Return the vectors after the last step, not yet multiplied by the ``factor`` of the projection."""
        return next(stage for stage in (self.rotated, self.normed, self.projected) if stage is not None)


def make(vectors: FloatArray, branch: ProjectionParameters) -> ProjectionSteps:
    """Compute queries, keys or values from vectors (token, input), and keep all intermediate steps."""
    projected = project(vectors, branch)
    normed = None if branch.norm is None else normalise_heads(projected, branch.norm)
    before = projected if normed is None else normed
    return ProjectionSteps(projected, normed, None if branch.rotary is None else rotate(before, branch.rotary))


@dataclass(frozen=True, eq=False)
class WeightSteps:
    """Steps from dot products to attention weights, shape (row, key) float32.

    Masked keys are -inf in ``scores``.
    """

    dots: FloatArray  # q · k
    scale: float
    scaled: FloatArray
    capped: FloatArray | None  # None without a soft cap
    bias: FloatArray | None  # None without a bias
    allowed: BoolArray
    scores: FloatArray  # input of the softmax
    weights: FloatArray
    sink: float | None  # score of the attention sink, which takes a share of every row and is dropped


def weigh(  # noqa: PLR0913
    queries: FloatArray, keys: FloatArray, record: Record, head: int, rows: Rows, factor: float = 1.0
) -> WeightSteps:  # the terms of the formula
    """Compute the attention weights of queries (row, channel) on keys (key, channel).

    ``rows`` holds the positions of the queries. ``factor`` multiplies the score scale of ``record``.
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
    """Return the softmax of each row of scores (row, key); rows with every key masked are zero.

    ``sink`` is the score of an attention sink, whose share of each row is dropped.

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
    """The results of all steps of an attention layer, for some query tokens and all keys."""

    rows: Rows
    normed: FloatArray | None  # (token, channel) of all tokens; None without a norm before the projections
    query: ProjectionSteps
    key: ProjectionSteps
    value: ProjectionSteps
    context: FloatArray  # (head, row, channel), weighted sums of values
    joined: FloatArray  # (row, head * channel)
    output: FloatArray  # (row, channel), after W_O
    settled: FloatArray | None  # (row, channel), after the norm of the output
    summed: FloatArray | None  # (row, channel), after the residual sum; None if ``ends`` is an earlier step
    closed: FloatArray | None  # (row, channel), after the norm of the sum

    @property
    def last(self) -> FloatArray:
        """Return the result of the last step up to which the computation matches the model, shape (row, channel)."""
        ends = (self.closed, self.summed, self.output)
        return next(stage for stage in ends if stage is not None)


def trace_layer_steps(
    wiring: LayerParameters,
    record: Record,
    stream: FloatArray,
    memory: FloatArray | None = None,
    rows: Rows | None = None,
) -> LayerSteps:
    """Compute every step of an attention layer from the residual stream (token, channel).

    ``rows`` selects the query tokens, by default all. ``memory`` (key, channel) is the encoder output, from which
    cross-attention computes keys and values.
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
    """Compute the attention weights of a head from the projected queries and keys."""
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
    """Return the weighted sums of values of a head, shape (row, channel)."""
    weights = weigh_head(wiring, record, query, key, head, rows).weights
    values = value.last[head // (wiring.heads // wiring.kv_heads)]
    found: FloatArray = weights @ values * np.float32(wiring.value.factor)
    return found


SHOWN = 3  # number of products that are written out
BIAS, MASKED = gettext_lazy("bias"), gettext_lazy("(masked)")


@dataclass(frozen=True)
class Products:
    """The largest terms of a dot product, as the two factors of each term, and the sum of all others.

    ``channels`` are the indices of these terms in the vectors. ``left`` is the number of the other terms, ``rest``
    their sum, and ``total`` the dot product itself.
    """

    channels: tuple[int, ...]
    terms: tuple[tuple[float, float], ...]
    left: int
    rest: float
    total: float


def products(one: FloatArray, other: FloatArray, shown: int = SHOWN) -> Products:
    """Return the ``shown`` largest terms, by absolute value, of the dot product of two vectors (channel,).

    >>> products(np.array([1.0, 2.0, 0.5]), np.array([3.0, -4.0, 0.2]), shown=2)
    Products(channels=(1, 0), terms=((2.0, -4.0), (1.0, 3.0)), left=1, rest=0.1, total=-4.9)
    """
    each = np.asarray(one, np.float64) * np.asarray(other, np.float64)
    order = np.argsort(-np.abs(each), kind="stable")
    top = tuple(int(at) for at in order[:shown])
    terms = tuple((float(one[at]), float(other[at])) for at in top)
    return Products(top, terms, len(each) - len(top), float(each[order[shown:]].sum()), float(each.sum()))


def lines(query: FloatArray, key: FloatArray, weighing: WeightSteps, at: int) -> tuple[str, ...]:
    """Return the computation of an attention weight, from dot product to softmax, as LaTeX rows.

    ``query`` and ``key`` (channel,) are the inputs of the dot product. ``weighing`` has the steps of this query only,
    and ``at`` is the index of the key. The rows are meant for an aligned block.
    """
    dot, score, name = float(weighing.dots[0, at]), float(weighing.scaled[0, at]), "s"
    found = [*_sum(r"q \cdot k", products(query, key)), f"&= {number(dot)}"]
    found.append(rf"s &= {_times(len(query), weighing.scale, dot)} = {number(score)}")
    if weighing.capped is not None:
        before, score, name = score, float(weighing.capped[0, at]), name + "'"
        found.append(rf"{name} &= \mathrm{{cap}}({number(before)}) = {number(score)}")
    if weighing.bias is not None and weighing.bias.any():
        bias, before, name = float(weighing.bias[0, at]), score, name + "'"
        score = before + bias
        found.append(
            rf"{name} &= {number(before)} + \underbrace{{{_format_signed(bias)}}}_{{\text{{{translate(BIAS)}}}}}"
            rf" = {number(score)}"
        )
    if not weighing.allowed[0, at]:
        return (*found, rf"a &= e^{{-\infty}} = 0 \quad \text{{{translate(MASKED)}}}")
    total = rf"\textstyle\sum_j e^{{{name}_j}}"
    total = total if weighing.sink is None else rf"(e^t + {total})"
    return (*found, rf"a &= e^{{{name}}} / {total}", *_softmax(weighing, score, total, at))


def format_projection(vector: FloatArray, weights: FloatArray, bias: float | None, name: str) -> tuple[str, ...]:
    """Return the computation of one channel of x · W + b as LaTeX rows, for an aligned block.

    ``vector`` and ``weights`` are (input,). ``name`` is the left-hand side in LaTeX.
    """
    found = products(vector, weights)
    added = "" if bias is None else rf"&\quad + \underbrace{{{_format_signed(bias)}}}_{{b}} "
    return (*_sum(name, found), f"{added or '&'}= {number(found.total + (bias or 0.0))}")


def align_rows(rows: Iterable[str]) -> str:
    """Join LaTeX rows to an aligned block.

    >>> align_rows(["a &= 1", "b &= 2"])
    '\\\\begin{aligned}a &= 1 \\\\\\\\ b &= 2\\\\end{aligned}'
    """
    return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def number(value: float) -> str:
    """Format a number with two decimals for LaTeX.

    >>> number(-0.001), number(2.345), number(float("-inf"))
    ('0.00', '2.35', '-\\\\infty')
    """
    if np.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    return f"{round(value, 2) + 0.0:.2f}"


def _format_signed(value: float) -> str:
    """Format a number with brackets if it is negative, for use after an operator."""
    return f"({number(value)})" if number(value).startswith("-") else number(value)


def _sum(name: str, found: Products) -> tuple[str, ...]:
    """Return a sum as at most two rows, so that it fits on a phone."""
    terms = [rf"{_format_signed(one)} \cdot {_format_signed(other)}" for one, other in found.terms]
    rest = [rf"\underbrace{{{_format_signed(found.rest)}}}_{{\text{{{_smaller(found.left)}}}}}"] if found.left else []
    first, second = " + ".join(terms[:2]), " + ".join([*terms[2:], *rest])
    return (f"{name} &= {first}", *([rf"&\quad + {second}"] if second else []))


def _smaller(left: int) -> str:
    return translate(ngettext_lazy("the other one", "the other {n} together", left, n=left))


def _times(channels: int, scale: float, dot: float) -> str:
    if np.isclose(scale, channels**-0.5, rtol=1e-6):
        return rf"{number(dot)} \,/\, \sqrt{{{channels}}}"
    return rf"{number(dot)} \cdot {scale:.4g}"


LARGEST_EXP = 1e6  # Powers and sums up to this number, and powers down to its inverse, are written as numbers.


def _softmax(weighing: WeightSteps, score: float, name: str, at: int) -> tuple[str, ...]:
    """Return the rows of the softmax: the power and the sum of powers, which is ``name`` in LaTeX, and their ratio.

    Numbers that are too large or too small are replaced by the logarithm of the sum.
    """
    finite = weighing.scores[0][weighing.allowed[0]].astype(np.float64)
    entries = finite if weighing.sink is None else np.append(finite, weighing.sink)
    top = float(entries.max())
    total = top + float(np.log(np.exp(entries - top).sum()))
    weight = _format_weight(float(weighing.weights[0, at]))
    if max(total, -score) < np.log(LARGEST_EXP):
        power, powers = _three_digits(np.exp(score)), _three_digits(np.exp(total))
        return (rf"&= e^{{{number(score)}}} / {powers} = {power} / {powers} = {weight}",)
    return (
        rf"&= e^{{{number(score)} - \ln {name}}}",
        rf"&= e^{{{number(score)} - {_format_signed(total)}}} = {weight}",
    )


def _format_weight(value: float) -> str:
    """Format a weight for LaTeX with two decimals, or with two significant digits if it is below 0.01.

    >>> _format_weight(0.126), _format_weight(0.002906), _format_weight(4.2e-8), _format_weight(0.0)
    ('0.13', '0.0029', '4.2 \\\\cdot 10^{-8}', '0.00')
    """
    if value == 0 or value >= 0.01:
        return number(value)
    digits, power = f"{value:.1e}".split("e")
    return f"{value:.2g}" if value >= 1e-4 else rf"{digits} \cdot 10^{{{int(power)}}}"


def _three_digits(value: float) -> str:
    """Format a positive number for LaTeX with three significant digits, or as an integer.

    >>> _three_digits(62.49), _three_digits(0.01234), _three_digits(12345.6)
    ('62.5', '0.0123', '12{,}346')
    """
    digits = (
        f"{value:,.0f}"
        if value >= 1000
        else np.format_float_positional(value, precision=3, unique=False, fractional=False, trim="-")
    )
    return digits.replace(",", "{,}")
