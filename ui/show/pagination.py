"""A long list on a page: hits, misses or both, and a part of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar, Protocol, TypeVar

import streamlit as st

from i18n import _, gettext_lazy, translate
from ui.input.bound_widget import bound_widget
from ui.state.params import set_params

PER_LEAF = 6  # drawn at once: each takes a look into a trace
TITLE = gettext_lazy("The sentences behind the score")
FILTERS: dict[str, str] = {"all": gettext_lazy("All"), "hits": gettext_lazy("Hits"), "misses": gettext_lazy("Misses")}
SHOWN = gettext_lazy("Where the head does what its score counts, where it does not, or both")


class ScoredEntry(Protocol):
    """One entry of such a list."""

    @property
    def hit(self) -> bool:
        """Whether the score counts it."""
        ...


Entry = TypeVar("Entry", bound=ScoredEntry)


@dataclass(frozen=True)
class PaginationOptions:
    """What a page lets its reader choose of such a list; a page's options inherit it."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"outcome": tuple(FILTERS)}

    outcome: str = "all"
    leaf: int = 1  # which part of a long list is shown, from 1


def paginate(
    every: Sequence[Entry], kind: type[Any], options: PaginationOptions, about: str = SHOWN
) -> tuple[list[Entry], list[Entry]]:
    """The controls, which belong to the options ``kind`` of a page; the entries that are kept, and those to draw.

    ``about`` says what a hit is.
    """
    left, right = st.columns([2, 1])
    name = f"{kind.__name__.lower()}_outcome"
    st.session_state[name] = options.outcome
    left.segmented_control(
        _("Shown"), list(FILTERS), format_func=lambda outcome: translate(FILTERS[outcome]), required=True, key=name,
        help=translate(about), on_change=lambda: set_params(kind, outcome=st.session_state[name], leaf=1),
    )  # fmt: skip
    kept = filter_outcome(every, options.outcome)
    leaves = max(1, ceil(len(kept) / PER_LEAF))
    leaf = max(1, min(options.leaf, leaves))
    if leaves > 1:
        many = _("{all:,} in all, {at_a_time} at a time", all=len(kept), at_a_time=PER_LEAF)
        label = _("Part, of {leaves:,}", leaves=leaves)
        bound_widget(kind, "leaf", right.number_input, label, 1, leaves, shown=leaf, help=many)
    return kept, kept[(leaf - 1) * PER_LEAF : leaf * PER_LEAF]


def filter_outcome(every: Sequence[Entry], outcome: str) -> list[Entry]:
    """All of them, the hits, or the misses."""
    return [one for one in every if outcome == "all" or one.hit == (outcome == "hits")]
