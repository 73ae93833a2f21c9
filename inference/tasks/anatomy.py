"""What is this model made of? Its layers as its modules run, and its parameters by part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from i18n import gettext_lazy
from inference.tasks.model_request import InspectRequest

Numbers = npt.NDArray[np.float32]

ENTERS = -1  # among a step's sources: what enters the layer
SUBLAYERS = ("attention", "cross-attention", "feed-forward")

# What parameters are for.
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
    """A part of an attention as that of the cross-attention is called.

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
    """One box of a layer. ``sources`` are the steps whose results it reads, ENTERS for what enters the layer.

    ``kind`` is "norm", "attention", "cross-attention", "feed-forward", or "add" for the sum of its sources.
    """

    kind: str
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Flow:
    """The boxes of one layer in the order in which they run; ``leaves`` is the step whose result leaves the layer.

    ``followed`` says that every connection was found in the numbers of a pass: what a step read is what another made,
    or the sum of what others made. Where it is False, some connections are taken from the order of the calls alone.

    >>> post = Flow((LayerStep("attention", (-1,)), LayerStep("add", (-1, 0)), LayerStep("norm", (1,))), 2, True)
    >>> post.placement, post.parallel
    ('post', False)
    """

    steps: tuple[LayerStep, ...]
    leaves: int
    followed: bool

    @property
    def placement(self) -> str:
        """Where the norms stand: "post" after each addition (arXiv:1706.03762), "pre" before each part
        (arXiv:2002.04745), "both" before a part and on its result (arXiv:2105.13290), "branch" on a part's result only,
        "mixed", or "none"."""
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
        """Whether the feed-forward part reads nothing of what the attention before it made."""
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
        """Every step that a step depends on."""
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
    """Sizes of one attention. ``kv_heads`` are fewer than ``heads`` where several share keys and values."""

    heads: int
    kv_heads: int
    width: int  # d_k, numbers of one query
    value_width: int  # d_v


@dataclass(frozen=True, eq=False)
class Activation:
    """The function between the feed-forward part's matrices, as this model computes it.

    ``name`` is the formula that its values fit; "" where the module could not be asked, and then ``stated`` is all
    that is known. ``inputs`` and ``outputs`` are (point,) float32.
    """

    name: str
    stated: str  # the configuration's word for it
    inputs: Numbers
    outputs: Numbers


@dataclass(frozen=True)
class FeedForward:
    """Sizes of one feed-forward part. ``gated``: two matrices lead to ``hidden``, and their results are multiplied."""

    inputs: int
    hidden: int  # d_ff
    gated: bool
    activation: Activation
    experts: int = 1
    experts_used: int = 1  # by one token


@dataclass(frozen=True)
class StackEdge:
    """What runs before the first layer of a stack, or after its last: parts by name, in order, and what norm it is."""

    parts: tuple[str, ...]
    norm: str = ""


@dataclass(frozen=True)
class Stack:
    """N layers one after the other.

    ``alike`` counts those built as ``flow`` is, the commonest way; ``own`` those with parameters of their own.
    ``causal`` was measured: changing the last token changes nothing before it. ``norm`` is "LayerNorm" where adding a
    number to all inputs changes nothing (arXiv:1607.06450), else "RMSNorm" (arXiv:1910.07467).
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
    window: int | None = None  # tokens that its windowed layers look at
    windowed: int = 0  # how many layers have that window


@dataclass(frozen=True)
class Tensor:
    """One parameter tensor by its name in the model."""

    name: str
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many numbers it holds."""
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True)
class ParameterGroup:
    """Parameters of one kind in one place; each tensor of a model is in one part only.

    ``where`` is "", "encoder" or "decoder"; ``layers`` is 0 outside of layers.
    """

    where: str
    name: str
    count: int
    layers: int
    tensors: tuple[Tensor, ...]  # of the first layer, or all of them outside of layers


@dataclass(frozen=True)
class Top:
    """What the checkpoint has beyond the bare model: a head. ``count`` leaves out what is shared with the rest."""

    class_name: str
    count: int
    tensors: tuple[Tensor, ...]
    tied: bool  # it uses the token embeddings as a matrix of its own, arXiv:1608.05859


@dataclass(frozen=True)
class Build:
    """A model's architecture, from its modules and one small forward pass."""

    architecture: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    width: int  # d, numbers of one token's vector between layers
    vocabulary: int
    stacks: tuple[Stack, ...]
    positions: tuple[str, ...]  # of "learned", "sinusoidal", "rotary", "relative", "alibi"
    parts: tuple[ParameterGroup, ...]
    tied: tuple[tuple[str, str], ...]  # names of one and the same tensor
    tops: tuple[Top, ...]
    total: int  # the library's own count of this model's parameters
    limit: int  # tokens of one text that it reads here

    @cached_property
    def parameter_count(self) -> int:
        """The sum over the parts, which is ``total``."""
        return sum(part.count for part in self.parts)

    def stack(self, part: str) -> Stack | None:
        """The encoder or the decoder, where there is one."""
        return next((stack for stack in self.stacks if stack.part == part), None)


@dataclass(frozen=True)
class Anatomy(InspectRequest[Build]):
    """Asks for a model's architecture."""

    ANSWERED_BY: ClassVar[str] = "anatomy"
