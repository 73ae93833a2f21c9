"""What one pass lends another: noted in the pass over the other text, put into the pass over this one.

Both passes have the same samples in the same places, so a text that lends to itself changes nothing, bit for bit.
Like the edits of a pass, what is lent is a context variable, so threads that share a model do not mix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from attention.activation_patching import Patch, PatchHead
from inference.record.attention_call import AttentionCall, Repeats

PatchSet = tuple[Patch, ...]
Notes = dict[tuple[PatchSet, Patch, int], Tensor]  # what a set takes in one call at one place, (token, channel)
Place = tuple[str, int]  # part, layer
Found = Sequence[tuple[int, PatchSet, Patch]]  # sample, its set, one of the set


class PatchHook(Protocol):
    """What happens where a sample of a pass is to take something."""

    def apply(self, values: Tensor, mine: PatchSet, take: Patch, repeat: int = 0) -> Tensor | None:
        """Return the replacement of ``values`` (token, channel) of one sample, or None to keep them.

        ``repeat`` counts the calls of a layer that computes its attention in several (``call.Repeats``).
        """
        ...


@dataclass(frozen=True, eq=False)
class DonorHook:
    """The pass over the text that lends: its values are kept, and stay."""

    notes: Notes

    def apply(self, values: Tensor, mine: PatchSet, take: Patch, repeat: int = 0) -> None:
        """Keeps what the take names."""
        self.notes[mine, take, repeat] = values[[there for _, there in take.pairs]].clone()


@dataclass(frozen=True, eq=False)
class RecipientHook:
    """The pass over the text that is lent to."""

    notes: Notes

    def apply(self, values: Tensor, mine: PatchSet, take: Patch, repeat: int = 0) -> Tensor:
        """The values with what was noted in the place of those that the take names."""
        here = [at for at, _ in take.pairs]
        lent = self.notes[donor_set(mine), replace(take, seed=None), repeat]
        changed = values.clone()
        changed[here] = lent if take.seed is None else values[here] + _as_large(lent - values[here], take.seed)
        return changed


@dataclass(eq=False)
class PatchingPass:
    """One pass: who takes what at which place; counts the calls of each part to know the layer."""

    heads: Mapping[Place, Found]
    states: Mapping[Place, Found]
    lender: PatchHook
    part_of: Any  # Call -> the part that it belongs to
    seen: Counter[str] = field(default_factory=Counter)
    repeats: Repeats = field(default_factory=Repeats)

    def output(self, call: AttentionCall, output: Tensor) -> Tensor:
        """An attention's output (sample, head, query, channel) with what is taken. Asked for every call, in order."""
        part = self.part_of(call)
        repeat = self.repeats.count(call)
        self.seen[part] += not repeat
        found = self.heads.get((part, self.seen[part] - 1), ())
        changed = output
        for sample, mine, take in found:
            assert isinstance(take, PatchHead)
            other = self.lender.apply(output[sample, take.head], mine, take, repeat)
            if other is not None:
                changed = changed.clone() if changed is output else changed
                changed[sample, take.head] = other
        return changed

    def state(self, part: str, layer: int, vectors: Tensor) -> Tensor | None:
        """What enters a layer (sample, token, channel) with what is taken; None where nothing is."""
        changed = None
        for sample, mine, take in self.states.get((part, layer), ()):
            other = self.lender.apply(vectors[sample], mine, take)
            if other is not None:
                changed = vectors.clone() if changed is None else changed
                changed[sample] = other
        return changed


_lending: ContextVar[PatchingPass | None] = ContextVar("headlight_lending", default=None)


def current_patching() -> PatchingPass | None:
    """What is lent in the pass that this thread computes, if anything is."""
    return _lending.get()


@contextmanager
def use_patching(lend: PatchingPass) -> Iterator[None]:
    """Lends in the one pass inside the block."""
    token = _lending.set(lend)
    try:
        yield
    finally:
        _lending.reset(token)


def donor_set(mine: PatchSet) -> PatchSet:
    """The set as the text that lends knows it.

    >>> from attention.activation_patching import TakeState
    >>> donor_set((TakeState(2, ((1, 1),), seed=3),))
    (TakeState(layer=2, pairs=((1, 1),), part='', seed=None),)
    """
    return tuple(replace(take, seed=None) for take in mine)


def _as_large(change: Tensor, seed: int) -> Tensor:
    """A change in a random direction, for each token of the same length."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(change.shape, generator=generator).to(change)
    sizes = [tensor.float().norm(dim=-1, keepdim=True) for tensor in (change, drawn)]
    scaled: Tensor = drawn * (sizes[0] / sizes[1])
    return scaled.to(change.dtype)
