"""Requests for the architecture of a model, the cost of its pass, and its predictions with dropout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray
from i18n import gettext_lazy
from inference.tasks.model_request import InspectRequest
from inference.tasks.predictions import BlankRequest, Guess

Numbers = npt.NDArray[np.float32]

ENTERS = -1  # among a step's sources: the input of the layer
SUBLAYERS = ("attention", "cross-attention", "feed-forward")

# Roles of parameters.
TOKENS: str = gettext_lazy("token embeddings")
POSITIONS: str = gettext_lazy("position embeddings")
SEGMENTS: str = gettext_lazy("segment embeddings")
PROJECTION: str = gettext_lazy("projection of the embeddings")
RELATIVE: str = gettext_lazy("relative positions")
INTO: str = gettext_lazy("attention: queries, keys, values")
OUT: str = gettext_lazy("attention: output")
INNER: str = gettext_lazy("attention: norms of queries and keys")
REST: str = gettext_lazy("attention: other")
FORWARD: str = gettext_lazy("feed-forward")
SCALES: str = gettext_lazy("scales")
NORMS: str = gettext_lazy("norms")
OUTER_NORMS: str = gettext_lazy("norms outside of the layers")
POOLER: str = gettext_lazy("pooler")
HEAD: str = gettext_lazy("head")
OTHER: str = gettext_lazy("other")
CROSSING: dict[str, str] = {
    INTO: gettext_lazy("cross-attention: queries, keys, values"),
    OUT: gettext_lazy("cross-attention: output"),
    INNER: gettext_lazy("cross-attention: norms of queries and keys"),
    REST: gettext_lazy("cross-attention: other"),
}


def crossing(name: str) -> str:
    """Return the name that a parameter group of self-attention has in cross-attention.

    >>> crossing(OUT)
    'cross-attention: output'
    """
    return CROSSING[name]


ORDER = (
    TOKENS, POSITIONS, SEGMENTS, PROJECTION, RELATIVE, INTO, OUT, INNER, REST,
    *(crossing(name) for name in (INTO, OUT, INNER, REST)),
    FORWARD, NORMS, SCALES, OUTER_NORMS, POOLER, HEAD, OTHER,
)  # fmt: skip


@dataclass(frozen=True)
class LayerStep:
    """A step of a layer: the call of a norm or sublayer, or an addition.

    ``kind`` is "norm", "attention", "cross-attention", "feed-forward" or "add". ``sources`` are the indices of the
    earlier steps whose results are the inputs of this step; ENTERS (-1) stands for the layer's input.
    """

    kind: str
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Flow:
    """The steps of a layer in the order of execution; the layer's output is the result of step ``leaves``.

    ``followed`` is True if the numbers of a pass verify every connection: each step's input equals an earlier result or
    a sum of earlier results. Otherwise some connections were guessed from the order of the calls.

    >>> post = Flow((LayerStep("attention", (-1,)), LayerStep("add", (-1, 0)), LayerStep("norm", (1,))), 2, True)
    >>> post.placement, post.parallel
    ('post', False)
    """

    steps: tuple[LayerStep, ...]
    leaves: int
    followed: bool

    @property
    def placement(self) -> str:
        """Return the placement of the norms in the layer: "post", "pre", "both", "branch", "mixed" or "none".

        "post" is a norm after each addition (arXiv:1706.03762), "pre" a norm before each sublayer (arXiv:2002.04745).
        "both" is a norm before each sublayer and on its result (arXiv:2105.13290), "branch" a norm on a sublayer's
        result only. "mixed" is any other combination.
        """
        roles = {self._role(at) for at, step in enumerate(self.steps) if step.kind == "norm"}
        named = {
            frozenset(): "none",
            frozenset({"post"}): "post",
            frozenset({"pre"}): "pre",
            frozenset({"branch"}): "branch",
            frozenset({"pre", "branch"}): "both",
        }
        return named.get(frozenset(roles), "mixed")

    @property
    def parallel(self) -> bool:
        """Return True if the feed-forward sublayer does not depend on the attention of its layer."""
        attentions = {at for at, step in enumerate(self.steps) if step.kind == "attention"}
        return any(
            step.kind == "feed-forward" and attentions and not attentions & self._behind(at)
            for at, step in enumerate(self.steps)
        )

    def _role(self, norm: int) -> str:
        source = self.steps[norm].sources[0]
        made_by = "" if source == ENTERS else self.steps[source].kind
        if made_by in SUBLAYERS:
            return "branch"
        readers = {step.kind for step in self.steps if norm in step.sources}
        return "post" if norm == self.leaves or "add" in readers else "pre"

    def _behind(self, at: int) -> set[int]:
        """Return every step that a step depends on."""
        found: set[int] = set()
        waiting = list(self.steps[at].sources)
        while waiting:
            step = waiting.pop()
            if step != ENTERS and step not in found:
                found.add(step)
                waiting.extend(self.steps[step].sources)
        return found


@dataclass(frozen=True)
class Heads:
    """The numbers of heads and of channels of an attention sublayer.

    ``kv_heads`` is less than ``heads`` if several heads share keys and values.
    """

    heads: int
    kv_heads: int
    width: int  # d_k, channels of a query
    value_width: int  # d_v


@dataclass(frozen=True, eq=False)
class Activation:
    """The activation function of the feed-forward sublayer, sampled by calling the module.

    ``outputs`` are its values at ``inputs``, both (point,) float32. ``name`` is the known formula that matches these
    values, or "" if none does. If the module could not be called, both arrays are empty and only ``stated`` is known.
    """

    name: str
    stated: str  # the name in the configuration
    inputs: Numbers
    outputs: Numbers


@dataclass(frozen=True)
class FeedForward:
    """The sizes of a feed-forward sublayer, in channels.

    If ``gated`` is True, two matrices map the input to ``hidden`` channels, and their results are multiplied.
    """

    inputs: int
    hidden: int  # d_ff
    gated: bool
    activation: Activation
    experts: int = 1
    experts_used: int = 1  # for each token


@dataclass(frozen=True)
class StackEdge:
    """The modules before the first layer of a stack or after its last layer.

    ``parts`` names their roles, and ``norm`` is "LayerNorm", "RMSNorm", or "" without a norm.
    """

    parts: tuple[str, ...]
    norm: str = ""


@dataclass(frozen=True)
class Stack:
    """A stack of layers, described by its most frequent layer.

    ``flow`` is the most frequent data flow, and ``alike`` the number of layers with this flow. ``own`` is the number of
    layers with separate parameters. ``causal`` was measured: True if a new last token changes no earlier vector.
    ``norm`` is "LayerNorm" if adding a constant to all inputs has no effect (arXiv:1607.06450), else "RMSNorm"
    (arXiv:1910.07467).
    """

    part: str  # "encoder" or "decoder"
    layers: int
    own: int
    alike: int
    flow: Flow
    causal: bool
    attention: Heads
    cross: Heads | None
    feed_forward: FeedForward | None
    norm: str
    norm_class: str
    inner_norms: bool  # queries and keys are normalised inside the attention (arXiv:2010.04245)
    before: StackEdge
    after: StackEdge
    window: int | None = None  # tokens that the layers with a window attend to
    windowed: int = 0  # number of layers with that window


@dataclass(frozen=True)
class Tensor:
    """A parameter tensor, named as in the model."""

    name: str
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """Return the number of elements of the tensor."""
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True)
class ParameterGroup:
    """The parameters with the same role in a stack; each tensor of a model belongs to a single group.

    ``where`` is the stack, "encoder" or "decoder"; it is "" for parameters of neither, and in a model with a single
    stack. ``count`` is the number of parameters in all layers. ``layers`` is the number of layers that have such
    tensors, 0 outside of layers.
    """

    where: str
    name: str
    count: int
    layers: int
    tensors: tuple[Tensor, ...]  # those of the first layer, or all tensors outside of layers


@dataclass(frozen=True)
class Top:
    """A task head of a checkpoint; ``count`` is the number of parameters that it adds to the bare model."""

    class_name: str
    count: int
    tensors: tuple[Tensor, ...]
    tied: bool  # its matrix is that of the token embeddings, arXiv:1608.05859


@dataclass(frozen=True)
class Build:
    """The architecture of a model, from its modules and a small forward pass."""

    architecture: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    width: int  # d_model, channels of a token's vector between layers
    vocabulary: int
    stacks: tuple[Stack, ...]
    positions: tuple[str, ...]  # any of "learned", "sinusoidal", "rotary", "relative", "alibi"
    parts: tuple[ParameterGroup, ...]
    tied: tuple[tuple[str, str], ...]  # pairs of names of the same tensor
    tops: tuple[Top, ...]
    total: int  # the number of parameters as transformers counts them
    limit: int  # most tokens of a text that it reads here

    @cached_property
    def parameter_count(self) -> int:
        """Return the sum of the parameters of all groups, which equals ``total``."""
        return sum(part.count for part in self.parts)

    def stack(self, part: str) -> Stack | None:
        """Return the stack "encoder" or "decoder", or None if the model lacks it."""
        return next((stack for stack in self.stacks if stack.part == part), None)


@dataclass(frozen=True)
class Anatomy(InspectRequest[Build]):
    """A request for the architecture of a model."""

    ANSWERED_BY: ClassVar[str] = "anatomy.answer"


@dataclass(frozen=True)
class MeasuredCost:
    """The measured cost of a forward pass; ``seconds`` are the wall-clock times of its repetitions.

    A first pass warms up and is not measured, unless it is too slow to be repeated. ``busy`` is the mean CPU time of
    the computing thread per pass, in seconds: the duration of a pass on an idle machine. ``peak_bytes`` is the peak
    memory of the tensors that the pass creates, without weights and the internal buffers of kernels.
    """

    tokens: int
    seconds: tuple[float, ...]
    busy: float
    peak_bytes: int
    threads: int

    @property
    def best(self) -> float:
        """Return the shortest wall-clock time in seconds, which other processes disturbed least."""
        return min(self.seconds)


@dataclass(frozen=True)
class CostRequest(InspectRequest[MeasuredCost]):
    """A request to measure the time and memory of a forward pass over ``tokens`` tokens.

    Answers are cached. To measure a second time, use another value of ``again``.
    """

    ANSWERED_BY: ClassVar[str] = "anatomy.measure_cost"

    tokens: int = 16
    again: int = 0


@dataclass(frozen=True, eq=False)
class DropoutResult:
    """The predictions for the first blank in several passes with dropout, compared with a pass without dropout."""

    undropped: Guess  # the most probable token without dropout
    probabilities: FloatArray  # (pass,) float32, for that token
    likeliest: tuple[str, ...]  # the most probable token of each pass
    cosines: FloatArray  # (pass,) float32: the blank's last hidden state, with and without dropout


@dataclass(frozen=True)
class Dropout(BlankRequest[DropoutResult]):
    """A request for ``passes`` passes with ``share`` percent dropout at every dropout layer.

    Each value is set to zero with that probability, drawn with ``seed``; the remaining values are divided by the
    probability of being kept (doi:10.5555/2627435.2670313). In BERT, dropout applies to the embeddings, the attention
    weights, and the outputs of attention and feed-forward sublayers.
    """

    ANSWERED_BY: ClassVar[str] = "anatomy.apply_dropout"

    share: int = 10
    passes: int = 8
    seed: int = 0
