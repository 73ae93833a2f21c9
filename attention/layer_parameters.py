"""How one attention layer is wired: its own matrices, norms and rotary positions, as values without a model.

The block is y = norm?(x + W_O · heads + b_O) after q, k, v = rotary?(norm?(W · norm?(x) + b)); what a model does not
have is None. Post-norm as in arXiv:1706.03762, pre-norm as in arXiv:2002.04745.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attention.mask import FloatArray


@dataclass(frozen=True, eq=False)
class Norm:
    """LayerNorm (arXiv:1607.06450) or RMSNorm (arXiv:1910.07467).

    ``weight`` is what is multiplied with, also for a model that stores it less one (Gemma). ``wide``: a norm of queries
    or keys that takes all heads together, not each by itself.
    """

    kind: str  # "layer" or "rms"
    eps: float
    weight: FloatArray | None = None  # (channel,)
    bias: FloatArray | None = None  # (channel,)
    wide: bool = False


@dataclass(frozen=True, eq=False)
class Rotary:
    """Rotary positions, arXiv:2104.09864: pairs of channels turn by position times frequency.

    The first 2 * pairs channels turn. Channel i goes with i + pairs, or with its neighbour where ``neighbours``.
    """

    frequencies: FloatArray  # (pair,) radians per token
    scale: float = 1.0  # by which cosine and sine are multiplied, arXiv:2309.00071
    neighbours: bool = False


@dataclass(frozen=True, eq=False)
class ProjectionParameters:
    """How a layer makes its queries, its keys or its values.

    ``factor`` is what a model multiplies them with before the dot products, 1 in most.
    """

    weight: FloatArray  # (input, head, channel)
    bias: FloatArray | None = None  # (head, channel)
    norm: Norm | None = None
    rotary: Rotary | None = None
    factor: float = 1.0

    @property
    def parameters(self) -> int:
        """Numbers that were trained: of the matrix, its bias and its norm."""
        return sum(array.size for array in _arrays(self.weight, self.bias, *_norm_arrays(self.norm)))


@dataclass(frozen=True, eq=False)
class LayerParameters:
    """One attention, from the vectors of the residual stream to those vectors with the attention's part added.

    ``ends`` says how far the model's own way is known: "norm" (after the norm that follows the sum), "sum" (after the
    sum), "output" (after W_O only, because what follows could not be recognised) or "beside" (likewise after W_O: the
    model adds the feed-forward layer's part in the same sum, arXiv:2204.02311, so that the sum alone never exists).
    """

    query: ProjectionParameters
    key: ProjectionParameters
    value: ProjectionParameters
    output: FloatArray  # W_O, (head, channel, output)
    output_bias: FloatArray | None = None  # (output,)
    before: Norm | None = None  # of the vectors, before W_Q, W_K, W_V
    after: Norm | None = None  # of what W_O gives, before it is added
    closing: Norm | None = None  # of the sum
    ends: str = "sum"

    @property
    def heads(self) -> int:
        """Number of heads that look."""
        return int(self.query.weight.shape[1])

    @property
    def kv_heads(self) -> int:
        """Number of heads that keys and values have; fewer than ``heads`` in grouped-query attention."""
        return int(self.key.weight.shape[1])

    @property
    def parameters(self) -> dict[str, int]:
        """Trained numbers by matrix, biases and norms of queries and keys included."""
        joined = sum(array.size for array in _arrays(self.output, self.output_bias))
        parts = {"W_Q": self.query, "W_K": self.key, "W_V": self.value}
        return {**{name: branch.parameters for name, branch in parts.items()}, "W_O": joined}

    def arrays(self) -> Iterator[FloatArray]:
        """Every array it holds."""
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
