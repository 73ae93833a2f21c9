"""A forward pass drawn as rows of parts, each with its contribution to every token; stack.js draws it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from viz.components.script import script, stylesheet, words_field

MOST = 96  # cells of a strip at most; in longer texts several tokens share a cell
LEVELS = 255


@dataclass(frozen=True, eq=False)
class StackPart:
    """A part of the model in a forward pass, such as a head, with its contribution to each token.

    If the visitor picks the part, the component reports the number ``pick``.
    """

    name: str
    title: str  # for hover and for screen readers
    shares: npt.NDArray[np.float32]  # (token,) from 0 to 1
    pick: int  # the number that a pick reports


@dataclass(frozen=True, eq=False)
class StackRow:
    """A row of the drawing, such as a layer: its name, its parts, and the tokens to which they contribute."""

    name: str
    parts: tuple[StackPart, ...]
    tokens: tuple[str, ...]


def payload(
    rows: Sequence[StackRow], title: str, note: str, chosen: int, about: Sequence[tuple[str, str]] = ()
) -> dict[str, Any]:
    """Return the data for stack.js, with the fields of its typedef StackData.

    ``title`` is written above the drawing and ``note`` below it. ``chosen`` is the ``pick`` of the selected part.
    ``about`` is written into every file that the visitor saves.
    """
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
    """Return a colour level from 0 to 255 for each cell of a row of tokens; 255 is a contribution of 1.

    The row has at most MOST cells. In a longer text several tokens share a cell, which has their largest contribution.

    >>> levels(np.array([0.0, 0.5, 1.0], np.float32))
    [0, 128, 255]
    >>> len(levels(np.ones(1000, np.float32)))
    96
    """
    pieces = np.array_split(shares, min(len(shares), MOST))
    return [round(LEVELS * min(max(float(piece.max()), 0.0), 1.0)) for piece in pieces]


def mount(  # noqa: PLR0913  # the drawing and its keyword options
    rows: Sequence[StackRow],
    key: str,
    *,
    title: str,
    note: str,
    chosen: int,
    on_pick: Callable[[], None],
    about: Sequence[tuple[str, str]] = (),
) -> None:
    """Draw the rows; call ``on_pick`` if the visitor picks a part.

    Inside ``on_pick``, ``picked_part(key)`` returns the part.
    """
    _COMPONENT(data=payload(rows, title, note, chosen, about), key=key, on_picked_change=on_pick)


def picked_part(key: str) -> tuple[int, int | None] | None:
    """Return the number of the picked part and the clicked token (or None); None if nothing is picked.

    Call it inside ``on_pick``.
    """
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
