"""A row of tokens that can be picked, drawn by token_strip.js."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any, Literal

import streamlit as st

from viz.components.script import script, stylesheet, words_field

Mark = Literal["", "chosen", "target", "masked", "removed", "right", "missed", "wrong"]


@dataclass(frozen=True)
class TokenChip:
    """A token or word of a token strip, with its shade, mark and tooltip."""

    text: str
    shade: float | None = None  # 0..1 on the sequential palette, -1..1 on the diverging palette
    mark: Mark = ""
    glued: bool = False  # the chip touches the previous chip, since both are subwords of a word
    special: bool = False  # special tokens are pale
    title: str = ""  # for hover and for screen readers
    label: str = ""  # small text under the chip
    unknown: str = ""  # the token that replaces the text ("[UNK]"), drawn under the chip


@dataclass(frozen=True)
class StripLine:
    """A line from the chip of a query to the chip of a key; its width shows the weight, 0 to 1."""

    query: int
    key: int
    weight: float
    chosen: bool = False  # drawn in the accent colour


@dataclass(frozen=True)
class StripLines:
    """Lines between the tokens of a token strip, and their description ``caption`` for screen readers.

    A strip with lines draws its tokens larger.
    """

    lines: Sequence[StripLine]
    caption: str


def payload(
    chips: Sequence[TokenChip], title: str, picks: bool, diverging: bool, drawn: StripLines | None = None
) -> dict[str, Any]:
    """Return the data for token_strip.js, with the fields of its typedef StripData.

    If ``picks`` is set, chips can be clicked. With ``diverging``, shades are from -1 to 1 in two colours, else from 0
    to 1. ``drawn`` are the lines between chips.
    """
    row = {"title": title, "picks": picks, "diverging": diverging, "chips": [_chip(chip) for chip in chips]}
    lines = {} if drawn is None else {"lines": [asdict(line) for line in drawn.lines], "caption": drawn.caption}
    return {**row, **lines, **words_field("token_strip/token_strip")}


def mount(  # noqa: PLR0913  (independent options, by name)
    chips: Sequence[TokenChip],
    key: str,
    *,
    title: str,
    on_pick: Callable[[], None] | None = None,
    diverging: bool = False,
    drawn: StripLines | None = None,
) -> None:
    """Draw the chips, with lines between them if ``drawn`` is given; call ``on_pick`` if a chip is picked.

    Inside ``on_pick``, ``picked_chip(key)`` returns its index.
    """
    data = payload(chips, title, on_pick is not None, diverging, drawn)
    _COMPONENT(data=data, key=key, on_picked_change=on_pick or _nothing)


def picked_chip(key: str) -> int | None:
    """Return the index of the picked token, or None; call it inside ``on_pick``."""
    index = st.session_state.get(key, {}).get("picked")
    return index if type(index) is int and index >= 0 else None


def _nothing() -> None:
    return None


def _chip(chip: TokenChip) -> dict[str, Any]:
    """Return the text and the non-default fields of a chip, since a long text has thousands of chips."""
    values = {name: getattr(chip, name) for name in ("mark", "glued", "special", "title", "label", "unknown")}
    told = {name: value for name, value in values.items() if value}
    shade = {} if chip.shade is None or isnan(chip.shade) else {"shade": round(float(chip.shade), 4)}
    return {"text": chip.text, **shade, **told}


_COMPONENT = st.components.v2.component(
    "headlight_strip",
    html='<div id="strip"></div>',
    js=script("token_strip/token_strip"),
    css=stylesheet("shared/look", "token_strip/token_strip", "shared/arcs"),
)
