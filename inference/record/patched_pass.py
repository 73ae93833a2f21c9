"""One pass under way in which a text takes what another text's pass has: heads' outputs, and what enters a layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from attention.activation_patching import Patch, PatchHead
from attention.trace import PART_NAMES
from i18n import gettext_lazy
from inference.errors import UserError
from inference.record.attention_call import part_namer
from inference.record.edit_hooks import call_of, heads_of
from inference.record.layer_modules import changing_states
from inference.record.patch_hooks import Found, PatchHook, PatchingPass, PatchSet, Place, use_patching


@contextmanager
def patch_activations(model: Any, sets: Sequence[PatchSet], lender: PatchHook) -> Iterator[None]:
    """One pass of a prepared model inside the block, with a set for each sample.

    Raises Refusal for a model that cannot be looked into so, and for a layer or a head that it does not have.
    """
    if not any(sets):
        yield
        return
    heads, states = _by_place(model, sets)
    lend = PatchingPass(heads, states, lender, part_namer(model))
    with changing_states(model, sorted({part for part, _ in states}), lend.state), use_patching(lend):
        yield


def check(model: Any, mine: PatchSet, here: Mapping[str, int], there: Mapping[str, int]) -> None:
    """Raises Refusal for takes that name tokens, by part, which one of the two texts does not have."""
    first = next(iter(heads_of(model)))
    for take in mine:
        part = take.part or first
        if not take.pairs:
            raise UserError(
                gettext_lazy("A head or a vector is taken at one token at least; none was named."), way_out="text"
            )
        for side, (which, tokens) in enumerate(((gettext_lazy("first"), here), (gettext_lazy("second"), there))):
            named, has = [pair[side] for pair in take.pairs], tokens.get(part, 0)
            if min(named) < 0 or max(named) >= has:
                raise UserError(
                    gettext_lazy(
                        "Token {named} of the {which} text's {part} was named, which has {tokens} tokens, counted from"
                        " 0. Pick others.",
                        named=max(named),
                        which=which,
                        part=PART_NAMES.get(part, part),
                        tokens=has,
                    ),
                    way_out="text",
                )


def _by_place(model: Any, sets: Sequence[PatchSet]) -> tuple[Mapping[Place, Found], Mapping[Place, Found]]:
    sizes = heads_of(model)
    heads: dict[Place, list[tuple[int, PatchSet, Patch]]] = {}
    states: dict[Place, list[tuple[int, PatchSet, Patch]]] = {}
    for sample, mine in enumerate(sets):
        for take in mine:
            part = take.part or next(iter(sizes))
            layers = sizes.get(part, ())
            head = take.head if isinstance(take, PatchHead) else 0
            if not (0 <= take.layer < len(layers) and 0 <= head < max(layers)):
                has = (
                    gettext_lazy("{layers} layers of {heads} heads", layers=len(layers), heads=max(layers))
                    if layers
                    else gettext_lazy("no such part")
                )
                what = (
                    gettext_lazy("head {layer}-{head}", layer=take.layer, head=head)
                    if isinstance(take, PatchHead)
                    else gettext_lazy("layer {layer}", layer=take.layer)
                )
                raise UserError(
                    gettext_lazy(
                        "No {what} is there: the {part} of this model has {has}, counted from 0. Pick another.",
                        what=what,
                        part=PART_NAMES.get(part, part),
                        has=has,
                    )
                )
            if part == "cross" and not isinstance(take, PatchHead):
                raise UserError(
                    gettext_lazy("What looks across shares its vectors with the decoder; name the decoder's instead.")
                )
            if isinstance(take, PatchHead):
                heads.setdefault((part, call_of(model, part, take.layer)), []).append((sample, mine, take))
            else:
                states.setdefault((part, take.layer), []).append((sample, mine, take))
    return heads, states
