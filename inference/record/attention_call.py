"""One attention as a value: the arguments it was called with, and which part of its model it belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import ref

from torch import Tensor

from i18n import gettext_lazy
from inference.errors import UserError

CROSS = re.compile(r"(^|\.)(encoder_attn|encdecattention|crossattention|cross_attn)(\.|$)", re.IGNORECASE)
DECODER = re.compile(r"(^|\.)decoder\.")
PICTURE = re.compile(r"(^|\.)(vision_model|vision_tower|visual)\.")


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """The arguments of one attention, and its log-sum-exp where the kernel gives it for free."""

    path: str
    query: Tensor  # (batch, head, query, channel)
    key: Tensor  # (batch, kv_head, key, channel)
    value: Tensor  # (batch, kv_head, key, channel)
    mask: Tensor | None  # (batch or 1, head or 1, query, key), bool or additive
    bias: Tensor | None  # (batch or 1, head, query, key)
    scale: float
    causal: bool  # the module's own rule, before the length of the text is looked at
    softcap: float | None
    sinks: Tensor | None  # (head,), or (batch, head) where an edit took some away
    lse: Tensor | None = None  # (batch, head, query)

    @property
    def looks_back(self) -> bool:
        """Whether its own rule hides later keys here; a mask, where there is one, already says so."""
        return self.causal and self.mask is None and self.query.shape[2] > 1


@dataclass(eq=False)
class Repeats:
    """Recognizes calls that compute the same weights as the call before them, for other values.

    DiffLlama weighs each half of its values in a call of its own. Both calls get the same tensors, not equal copies:
    layers that share a module, as in ALBERT, never do.
    """

    number: int = 0
    last: tuple[ref[Tensor] | None, ...] = field(default=(), repr=False)  # weak: the pass frees its tensors as before

    def count(self, call: AttentionCall) -> int:
        """Return how many calls directly before this one had its queries, keys and mask. Ask once for every call."""
        given = (call.query, call.key, call.mask, call.bias, call.sinks)
        same = len(self.last) == len(given) and all(
            tensor is None if before is None else before() is tensor and tensor is not None
            for before, tensor in zip(self.last, given, strict=True)
        )
        self.number = self.number + 1 if same else 0
        self.last = tuple(None if tensor is None else ref(tensor) for tensor in given)
        return self.number


def part_namer(model: Any) -> Callable[[AttentionCall], str]:
    """Says which part a call belongs to: by its module's place, else by whether it may look ahead.

    Of a model for pictures and texts, what reads the picture is the encoder.
    """
    two = bool(getattr(model.config, "is_encoder_decoder", False))
    sees = hasattr(model.config, "vision_config") and not two

    def name(call: AttentionCall) -> str:
        if CROSS.search(call.path):
            return "cross"
        if sees:
            return "encoder" if PICTURE.search(call.path) else "decoder"
        return "decoder" if (DECODER.search(call.path) if two else call.causal) else "encoder"

    return name


def part_names(model: Any, calls: Sequence[AttentionCall]) -> list[str]:
    """Which part each call belongs to."""
    return list(map(part_namer(model), calls))


def refuse_uneven(model: Any, by_part: Mapping[str, Sequence[int]]) -> None:
    """Raise Refusal if the layers of a part differ in their number of heads, as after pruning."""
    for part, heads in by_part.items():
        if len(set(heads)) > 1:
            raise UserError(
                gettext_lazy(
                    "{name} cannot be traced: the layers of its {part} have {heads} heads, and all must have as many. "
                    "Load the unpruned model.",
                    name=type(model).__name__,
                    part=part,
                    heads=", ".join(map(str, heads)),
                )
            )
