"""A pass as rows of parts, each with a strip of how much it gives every token: payload and mount, drawn by stack.js."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from viz.components.script import script, stylesheet, words_field

MOST = 96  # cells of a strip; of more tokens, several share one
LEVELS = 255


@dataclass(frozen=True, eq=False)
class StackPart:
    """One part as shown."""

    name: str
    title: str  # said on hover and to screen readers
    shares: npt.NDArray[np.float32]  # (token,) from 0 to 1
    pick: int  # what picking it reports


@dataclass(frozen=True, eq=False)
class StackRow:
    """Parts that belong together, such as a layer's, in their order; ``tokens`` are what cells stand for."""

    name: str
    parts: tuple[StackPart, ...]
    tokens: tuple[str, ...]


def payload(
    rows: Sequence[StackRow], title: str, note: str, chosen: int, about: Sequence[tuple[str, str]] = ()
) -> dict[str, Any]:
    """What stack.js draws; its typedef StackData has the same fields. ``chosen`` is the ``pick`` of one part."""
    return {
        "title": title,
        "note": note,
        "chosen": chosen,
        "about": [list(pair) for pair in about],
        "rows": [
            {
                "name": row.name,
                "tokens": list(row.tokens),
                "parts": [
                    {"name": part.name, "title": part.title, "pick": part.pick, "levels": levels(part.shares)}
                    for part in row.parts
                ],
            }
            for row in rows
        ],
        **words_field("stack/stack"),
    }


def levels(shares: npt.NDArray[np.float32]) -> list[int]:
    """Shares as levels of colour, the largest of those that have a cell in common.

    >>> levels(np.array([0.0, 0.5, 1.0], np.float32))
    [0, 128, 255]
    >>> len(levels(np.ones(1000, np.float32)))
    96
    """
    pieces = np.array_split(shares, min(len(shares), MOST))
    return [round(LEVELS * min(max(float(piece.max()), 0.0), 1.0)) for piece in pieces]


def mount(  # noqa: PLR0913  # what is drawn, and what a page may add by name
    rows: Sequence[StackRow],
    key: str,
    *,
    title: str,
    note: str,
    chosen: int,
    on_pick: Callable[[], None],
    about: Sequence[tuple[str, str]] = (),
) -> None:
    """Draw the rows; ``on_pick`` runs when a part is picked, and ``picked_part(key)`` then says which."""
    _COMPONENT(data=payload(rows, title, note, chosen, about), key=key, on_picked_change=on_pick)


def picked_part(key: str) -> tuple[int, int | None] | None:
    """Inside ``on_pick``: what the part reports, and the token whose cell was clicked, if one was."""
    place = st.session_state.get(key, {}).get("picked")
    if not isinstance(place, list) or [type(number) for number in place] != [int] * 2 or place[0] < 0:
        return None
    return place[0], place[1] if place[1] >= 0 else None


_COMPONENT = st.components.v2.component(
    "headlight_stack",
    html='<div id="stack"></div>',
    js=script("stack/stack"),
    css=stylesheet("shared/look", "stack/stack"),
)
