"""Activation patching: a donor pass records activations, and a recipient pass substitutes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from attention.edits import Patch, PatchHead
from attention.trace import PART_NAMES
from i18n import gettext_lazy
from inference.errors import UserError
from inference.record.attention_call import AttentionCall, Repeats, part_namer
from inference.record.edit_hooks import call_of, check_place, heads_of
from inference.record.records import changing_states, register_post_hook


@contextmanager
def replacing_output(module: torch.nn.Module, change: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Inside the block, replace a module's output by ``change(module, output)`` unless that is None.

    Other threads that use the model are not affected.

    >>> double = torch.nn.Identity()
    >>> with replacing_output(double, lambda module, output: 2 * output):
    ...     double(torch.ones(2))
    tensor([2., 2.])
    >>> double(torch.ones(2))
    tensor([1., 1.])
    """
    handle = register_post_hook(module, lambda called, _args, _kwargs, output: change(called, output))
    try:
        yield
    finally:
        handle.remove()


PatchSet = tuple[Patch, ...]
Notes = dict[tuple[PatchSet, Patch, int], Tensor]  # by set, patch and repeat: activations (token, channel)
Place = tuple[str, int]  # stack, layer
Found = Sequence[tuple[int, PatchSet, Patch]]  # sample, its set of patches, a patch of the set


class PatchHook(Protocol):
    """A hook on the activations of a patch: the donor pass stores them, and the recipient pass replaces them."""

    def apply(self, values: Tensor, mine: PatchSet, take: Patch, repeat: int = 0) -> Tensor | None:
        """Return the replacement of a sample's ``values`` (token, channel), or None to leave them unchanged.

        ``take`` is the patch, and ``mine`` is the patch set of the sample. If a layer computes its attention in several
        calls, ``repeat`` is the number of the call (``attention_call.Repeats``).
        """
        ...


@dataclass(frozen=True, eq=False)
class DonorHook:
    """The hook of the donor pass, which stores activations for a later pass and changes none."""

    notes: Notes

    def apply(self, values: Tensor, mine: PatchSet, take: Patch, repeat: int = 0) -> None:
        """Store the activations of the donor tokens of the patch."""
        self.notes[mine, take, repeat] = values[[there for _, there in take.pairs]].clone()


@dataclass(frozen=True, eq=False)
class RecipientHook:
    """The hook of the recipient pass, which replaces activations by those that the donor pass stored."""

    notes: Notes

    def apply(self, values: Tensor, mine: PatchSet, take: Patch, repeat: int = 0) -> Tensor:
        """Return ``values`` with the donor's activations at the tokens of the patch.

        If the patch has a seed, a random vector is added to each token's activation instead, as a control. Its norm is
        that of the difference between the donor's activation and this activation.
        """
        here = [at for at, _ in take.pairs]
        lent = self.notes[donor_set(mine), replace(take, seed=None), repeat]
        changed = values.clone()
        changed[here] = lent if take.seed is None else values[here] + _as_large(lent - values[here], take.seed)
        return changed


class RandomHook(PatchHook):
    """A hook that adds to each patched activation a random vector of the same norm, as a control for patching."""

    def apply(self, values: Tensor, mine: PatchSet, take: Patch, repeat: int = 0) -> Tensor:  # noqa: ARG002  (a hook)
        """Return ``values`` with a random vector added at each token of the patch.

        The vector is drawn with the patch's seed and has the norm of the activation. The change is thus as large as
        that of an ablation, which subtracts the activation.
        """
        here = [at for at, _ in take.pairs]
        changed = values.clone()
        changed[here] = values[here] + _as_large(values[here], take.seed or 0)
        return changed


@dataclass(eq=False)
class PatchingPass:
    """The patches of a forward pass over a batch, and the hook ``lender`` that applies them.

    ``heads`` maps a stack and the number of an attention call in this stack to the patches of its head outputs.
    ``states`` maps a stack and a layer to the patches of the layer's input. ``seen`` counts the calls of each stack
    during the pass.
    """

    heads: Mapping[Place, Found]
    states: Mapping[Place, Found]
    lender: PatchHook
    part_of: Any  # a function from a call to the name of its stack
    seen: Counter[str] = field(default_factory=Counter)
    repeats: Repeats = field(default_factory=Repeats)

    def output(self, call: AttentionCall, output: Tensor) -> Tensor:
        """Return an attention's output (sample, head, query, channel) with its patches applied.

        Call this method exactly once for each call, in order.
        """
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
        """Return a layer's input (sample, token, channel) with patches applied, or None if the layer has no patches."""
        changed = None
        for sample, mine, take in self.states.get((part, layer), ()):
            other = self.lender.apply(vectors[sample], mine, take)
            if other is not None:
                changed = vectors.clone() if changed is None else changed
                changed[sample] = other
        return changed


_lending: ContextVar[PatchingPass | None] = ContextVar("headlight_lending", default=None)


def current_patching() -> PatchingPass | None:
    """Return the patches of the forward pass that this thread is computing, or None if it has none."""
    return _lending.get()


@contextmanager
def use_patching(lend: PatchingPass) -> Iterator[None]:
    """Inside the block, apply the patches ``lend``; the block must contain a single pass of this thread."""
    token = _lending.set(lend)
    try:
        yield
    finally:
        _lending.reset(token)


def donor_set(mine: PatchSet) -> PatchSet:
    """Return the patches of ``mine`` without their seeds, which do not affect the donor pass.

    >>> from attention.edits import PatchResidual
    >>> donor_set((PatchResidual(2, ((1, 1),), seed=3),))
    (PatchResidual(layer=2, pairs=((1, 1),), part='', seed=None),)
    """
    return tuple(replace(take, seed=None) for take in mine)


def _as_large(change: Tensor, seed: int) -> Tensor:
    """Return a random direction for each token, with the norm of that token's change."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(change.shape, generator=generator).to(change)
    sizes = [tensor.float().norm(dim=-1, keepdim=True) for tensor in (change, drawn)]
    scaled: Tensor = drawn * (sizes[0] / sizes[1])
    return scaled.to(change.dtype)


@contextmanager
def patch_activations(model: Any, sets: Sequence[PatchSet], lender: PatchHook) -> Iterator[None]:
    """Inside the block, patch a pass of a prepared model; ``sets`` has a set of patches for each sample.

    ``lender`` is the hook that stores activations (DonorHook) or replaces them (RecipientHook). Raise UserError if the
    model's activations cannot be patched, or if the model lacks a layer or a head of a patch.
    """
    if not any(sets):
        yield
        return
    heads, states = _by_place(model, sets)
    lend = PatchingPass(heads, states, lender, part_namer(model))
    with changing_states(model, sorted({part for part, _ in states}), lend.state), use_patching(lend):
        yield


def check(model: Any, mine: PatchSet, here: Mapping[str, int], there: Mapping[str, int]) -> None:
    """Raise UserError for patches without tokens, or with tokens that a text does not have.

    ``here`` and ``there`` are the numbers of tokens of the recipient's and of the donor's text, by stack.
    """
    first = next(iter(heads_of(model)))
    for take in mine:
        part = take.part or first
        if not take.pairs:
            raise UserError("A head or a vector is taken at one token at least; none was named.", way_out="text")
        for side, (which, tokens) in enumerate(((gettext_lazy("first"), here), (gettext_lazy("second"), there))):
            named, has = [pair[side] for pair in take.pairs], tokens.get(part, 0)
            if min(named) < 0 or max(named) >= has:
                raise UserError(
                    f"Token {max(named)} of the {which} text's {PART_NAMES.get(part, part)} was named,"
                    f" which has {has} tokens, counted from 0. Pick others.",
                    way_out="text",
                )


def _by_place(model: Any, sets: Sequence[PatchSet]) -> tuple[Mapping[Place, Found], Mapping[Place, Found]]:
    sizes = heads_of(model)
    heads: dict[Place, list[tuple[int, PatchSet, Patch]]] = {}
    states: dict[Place, list[tuple[int, PatchSet, Patch]]] = {}
    for sample, mine in enumerate(sets):
        for take in mine:
            part = take.part or next(iter(sizes))
            check_place(part, sizes.get(part, ()), take.layer, take.head if isinstance(take, PatchHead) else None)
            if part == "cross" and not isinstance(take, PatchHead):
                raise UserError(
                    gettext_lazy("Cross-attention shares its vectors with the decoder. Name the decoder's.")
                )
            if isinstance(take, PatchHead):
                heads.setdefault((part, call_of(model, part, take.layer)), []).append((sample, mine, take))
            else:
                states.setdefault((part, take.layer), []).append((sample, mine, take))
    return heads, states
