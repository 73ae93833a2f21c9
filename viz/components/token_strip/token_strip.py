"""A sentence as a row of chips that can be picked: payload and mount. It is drawn by strip.js."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

import streamlit as st

from viz.components.script import script, stylesheet, words_field

Mark = Literal["", "chosen", "target", "masked", "removed", "right", "missed", "wrong"]


@dataclass(frozen=True)
class TokenChip:
    """One token or word as shown."""

    text: str
    shade: float | None = None  # 0..1 on the sequential palette; on a diverging strip -1..1
    mark: Mark = ""
    glued: bool = False  # touches the chip before it: pieces of one word
    special: bool = False  # pale
    title: str = ""  # shown on hover and told to screen readers
    label: str = ""  # small text under the chip
    unknown: str = ""  # what the model read in place of the text ("[UNK]"), under the chip too


def payload(chips: Sequence[TokenChip], title: str, picks: bool, diverging: bool) -> dict[str, Any]:
    """What strip.js draws; its typedef StripData has the same fields."""
    drawn = {"title": title, "picks": picks, "diverging": diverging, "chips": [_chip(chip) for chip in chips]}
    return {**drawn, **words_field("token_strip/token_strip")}


def mount(
    chips: Sequence[TokenChip],
    key: str,
    *,
    title: str,
    on_pick: Callable[[], None] | None = None,
    diverging: bool = False,
) -> None:
    """Draw the chips; ``on_pick`` runs when one is picked, and ``picked_chip(key)`` then says which."""
    data = payload(chips, title, on_pick is not None, diverging)
    _COMPONENT(data=data, key=key, on_picked_change=on_pick or _nothing)


def picked_chip(key: str) -> int | None:
    """Inside ``on_pick``: the index of the chip that was picked."""
    index = st.session_state.get(key, {}).get("picked")
    return index if type(index) is int and index >= 0 else None


def _nothing() -> None:
    return None


def _chip(chip: TokenChip) -> dict[str, Any]:
    """Only what differs from a plain chip: a long text has thousands."""
    values = {name: getattr(chip, name) for name in ("mark", "glued", "special", "title", "label", "unknown")}
    told = {name: value for name, value in values.items() if value}
    shade = {} if chip.shade is None or isnan(chip.shade) else {"shade": round(float(chip.shade), 4)}
    return {"text": chip.text, **shade, **told}


_COMPONENT = st.components.v2.component(
    "headlight_strip",
    html='<div id="strip"></div>',
    js=script("token_strip/token_strip"),
    css=stylesheet("shared/look", "token_strip/token_strip"),
)
