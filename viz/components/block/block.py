"""The model diagram with explanations of its parts: payload and mount, drawn by block.js."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz.components.block.layout import LayerTower, ModelDrawing, draw
from viz.components.script import script, stylesheet, words_field


@dataclass(frozen=True)
class PaperLink:
    """The title and the address of a source."""

    text: str
    url: str


@dataclass(frozen=True)
class PartExplanation:
    """The explanation of a part."""

    title: str
    text: str
    papers: tuple[PaperLink, ...] = ()


def payload(  # noqa: PLR0913  (the fields of the payload)
    towers: Sequence[LayerTower],
    title: str,
    file: str,
    told: Mapping[str, PartExplanation] | None = None,
    picked: str = "",
    sizes: Sequence[tuple[str, str, str]] = (),
) -> dict[str, Any]:
    """Return the data that block.js draws, with the fields of its typedef BlockData.

    ``title`` names the drawing for screen readers, ``file`` is the name of saved files. ``told`` maps the id of a
    part to its explanation; without ``told`` no part can be picked. ``sizes`` are (letter, number, meaning).
    """
    wide = _drawing(draw(towers, beside=True))
    there = {shape.get("id") for shape in wide["shapes"]}
    told = {
        at: one for at, one in (told or {}).items() if at in there
    }  # an explanation may belong to a part that is not drawn
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
    """Draw the diagram; ``on_pick`` runs if a part is picked, and ``picked_part(key)`` returns its id."""
    _COMPONENT(data=dict(data), key=key, on_picked_change=on_pick or _nothing)


def picked_part(key: str) -> str | None:
    """Return the id of the picked part, or None; valid inside ``on_pick``."""
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
