"""A long list on a page: hits, misses or both, and a part of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar, Protocol, TypeVar

import streamlit as st

from ui.input.picking import control
from ui.state.options import choose_own
from wording import _, sentence, told

PER_LEAF = 6  # drawn at once: each takes a look into a trace
TITLE = sentence("The sentences behind the score")
FILTERS: dict[str, str] = {"all": sentence("All"), "hits": sentence("Hits"), "misses": sentence("Misses")}
SHOWN = sentence("Where the head does what its score counts, where it does not, or both")


class Judged(Protocol):
    """One entry of such a list."""

    @property
    def hit(self) -> bool:
        """Whether the score counts it."""
        ...


Entry = TypeVar("Entry", bound=Judged)


@dataclass(frozen=True)
class Leaf:
    """What a page lets its reader choose of such a list; a page's options inherit it."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"outcome": tuple(FILTERS)}

    outcome: str = "all"
    leaf: int = 1  # which part of a long list is shown, from 1


def turned(
    every: Sequence[Entry], kind: type[Any], options: Leaf, about: str = SHOWN
) -> tuple[list[Entry], list[Entry]]:
    """The controls, which belong to the options ``kind`` of a page; the entries that are kept, and those to draw.

    ``about`` says what a hit is.
    """
    left, right = st.columns([2, 1])
    name = f"{kind.__name__.lower()}_outcome"
    st.session_state[name] = options.outcome
    left.segmented_control(
        _("Shown"), list(FILTERS), format_func=lambda outcome: told(FILTERS[outcome]), required=True, key=name,
        help=told(about), on_change=lambda: choose_own(kind, outcome=st.session_state[name], leaf=1),
    )  # fmt: skip
    kept = of_outcome(every, options.outcome)
    leaves = max(1, ceil(len(kept) / PER_LEAF))
    leaf = max(1, min(options.leaf, leaves))
    if leaves > 1:
        many = _("{all:,} in all, {at_a_time} at a time", all=len(kept), at_a_time=PER_LEAF)
        label = _("Part, of {leaves:,}", leaves=leaves)
        control(kind, "leaf", right.number_input, label, 1, leaves, shown=leaf, help=many)
    return kept, kept[(leaf - 1) * PER_LEAF : leaf * PER_LEAF]


def of_outcome(every: Sequence[Entry], outcome: str) -> list[Entry]:
    """All of them, the hits, or the misses."""
    return [one for one in every if outcome == "all" or one.hit == (outcome == "hits")]
