"""One pass under way in which a text takes what another text's pass has: heads' outputs, and what enters a layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from attention.patches import Take, TakeHead
from inference.errors import Refusal
from inference.record.call import part_namer
from inference.record.edits import heads_of
from inference.record.layer_modules import changing_states
from inference.record.patches import Found, Lender, Lending, Place, Set, under_way


@contextmanager
def lent(model: Any, sets: Sequence[Set], lender: Lender) -> Iterator[None]:
    """One pass of a prepared model inside the block, with a set for each sample.

    Raises Refusal for a model that cannot be looked into so, and for a layer or a head that it does not have.
    """
    if not any(sets):
        yield
        return
    heads, states = _by_place(model, sets)
    lend = Lending(heads, states, lender, part_namer(model))
    with changing_states(model, sorted({part for part, _ in states}), lend.state), under_way(lend):
        yield


def check(model: Any, mine: Set, here: Mapping[str, int], there: Mapping[str, int]) -> None:
    """Raises Refusal for takes that name tokens, by part, which one of the two texts does not have."""
    first = next(iter(heads_of(model)))
    for take in mine:
        part = take.part or first
        if not take.pairs:
            raise Refusal("A head or a vector is taken at one token at least; none was named.", way_out="text")
        for side, (which, tokens) in enumerate((("first", here), ("second", there))):
            named, has = [pair[side] for pair in take.pairs], tokens.get(part, 0)
            if min(named) < 0 or max(named) >= has:
                raise Refusal(
                    f"Token {max(named)} of the {which} text's {part} was named, which has {has} tokens, counted from"
                    " 0. Pick others.",
                    way_out="text",
                )


def _by_place(model: Any, sets: Sequence[Set]) -> tuple[Mapping[Place, Found], Mapping[Place, Found]]:
    sizes = heads_of(model)
    heads: dict[Place, list[tuple[int, Set, Take]]] = {}
    states: dict[Place, list[tuple[int, Set, Take]]] = {}
    for sample, mine in enumerate(sets):
        for take in mine:
            part = take.part or next(iter(sizes))
            layers = sizes.get(part, ())
            head = take.head if isinstance(take, TakeHead) else 0
            if not (0 <= take.layer < len(layers) and 0 <= head < layers[take.layer]):
                has = f"{len(layers)} layers of {max(layers)} heads" if layers else "no such part"
                what = f"head {take.layer}-{head}" if isinstance(take, TakeHead) else f"layer {take.layer}"
                raise Refusal(f"No {what} is there: the {part} of this model has {has}, counted from 0. Pick another.")
            if part == "cross" and not isinstance(take, TakeHead):
                raise Refusal("What looks across shares its vectors with the decoder; name the decoder's instead.")
            places = heads if isinstance(take, TakeHead) else states
            places.setdefault((part, take.layer), []).append((sample, mine, take))
    return heads, states
