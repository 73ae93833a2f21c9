"""A picture on which a reader draws two regions, by pointer or by keys. It is drawn by regions.js."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from attention.patch_roles import Region, parse_region
from attention.pictures import Grid
from attention.trace import Trace
from viz.components.picture.content import grid_and_picture
from viz.components.script import script, stylesheet, words_field

NAMES = ("one", "other")


def mount(data: dict[str, Any], key: str, on_pick: Callable[[], None]) -> None:
    """Draw it; ``on_pick`` runs when a region was drawn, and ``picked_region(key, …)`` then has it."""
    _COMPONENT(data=data, key=key, on_picked_change=on_pick)


def payload(trace: Trace, photo: str, title: str, regions: dict[str, Region | None]) -> dict[str, Any]:
    """What regions.js draws; its typedef RegionsData has the same fields. ``photo`` is the picture's address."""
    grid, picture = grid_and_picture(trace)
    left, top, right, bottom = grid.box
    box = [left / picture.width, top / picture.height, right / picture.width, bottom / picture.height]
    return {
        "photo": photo,
        "title": title,
        "picture": {"width": picture.width, "height": picture.height},
        "grid": {"rows": grid.rows, "columns": grid.columns, "start": grid.start, "box": box},
        "regions": {name: None if (region := regions.get(name)) is None else list(region) for name in NAMES},
        **words_field("picture/regions"),
    }


def picked_region(key: str, grid: Grid) -> tuple[str, Region] | None:
    """Inside ``on_pick``: which region was drawn, and where; None for what is none."""
    found = st.session_state.get(key, {}).get("picked")
    if not isinstance(found, dict) or found.get("name") not in NAMES:
        return None
    region = parse_region(found.get("region"), grid)
    return None if region is None else (found["name"], region)


_COMPONENT = st.components.v2.component(
    "headlight_regions",
    html='<div id="regions"></div>',
    js=script("picture/regions"),
    css=stylesheet("shared/look", "picture/regions"),
)
