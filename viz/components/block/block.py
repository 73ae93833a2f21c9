"""A model drawn as its parts, with an explanation of each: payload and mount. It is drawn by block.js."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz.components.block.layout import LayerTower, ModelDrawing, draw
from viz.components.script import script, stylesheet, words_field


@dataclass(frozen=True)
class PaperLink:
    """Where something is from: a few words and its address."""

    text: str
    url: str


@dataclass(frozen=True)
class PartExplanation:
    """What is said about one part."""

    title: str
    text: str
    papers: tuple[PaperLink, ...] = ()


def payload(  # noqa: PLR0913  (the fields of what is drawn)
    towers: Sequence[LayerTower],
    title: str,
    file: str,
    told: Mapping[str, PartExplanation] | None = None,
    picked: str = "",
    sizes: Sequence[tuple[str, str, str]] = (),
) -> dict[str, Any]:
    """What block.js draws; its typedef BlockData has the same fields.

    ``title`` names the drawing for screen readers, ``file`` is the name that it is saved under. ``told`` is what is
    said about each part by its id; without it nothing can be picked. ``sizes`` are letters, their numbers and what
    they count.
    """
    wide = _drawing(draw(towers, beside=True))
    there = {shape.get("id") for shape in wide["shapes"]}
    told = {at: one for at, one in (told or {}).items() if at in there}  # a link may name a part that is not drawn
    return {
        "title": title,
        "file": file,
        "picked": picked,
        "sizes": [list(size) for size in sizes],
        "wide": wide,
        "narrow": _drawing(draw(towers, beside=False)),
        "told": {
            at: {
                "title": one.title,
                "text": one.text,
                "papers": [{"text": paper.text, "url": paper.url} for paper in one.papers],
            }
            for at, one in told.items()
        },
        **words_field("block/block"),
    }


def mount(data: Mapping[str, Any], key: str, on_pick: Callable[[], None] | None = None) -> None:
    """Draw it; ``on_pick`` runs when a part is picked, and ``picked_part(key)`` then says which."""
    _COMPONENT(data=dict(data), key=key, on_picked_change=on_pick or _nothing)


def picked_part(key: str) -> str | None:
    """Inside ``on_pick``: the id of the part that was picked."""
    part = st.session_state.get(key, {}).get("picked")
    return part if isinstance(part, str) else None


def _nothing() -> None:
    return None


def _drawing(drawing: ModelDrawing) -> dict[str, Any]:
    return {"width": drawing.width, "height": drawing.height, "shapes": list(drawing.shapes)}


_COMPONENT = st.components.v2.component(
    "headlight_block",
    html='<div id="block"></div>',
    js=script("block/block"),
    css=stylesheet("shared/look", "block/block"),
)
