"""An image on which the user draws two regions, by pointer or by keyboard, drawn by regions.js."""

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
    """Draw the image; ``on_pick`` runs if a region was drawn, and ``picked_region(key, …)`` returns it."""
    _COMPONENT(data=data, key=key, on_picked_change=on_pick)


def payload(trace: Trace, photo: str, title: str, regions: dict[str, Region | None]) -> dict[str, Any]:
    """Return the data that regions.js draws, with the fields of its typedef RegionsData.

    ``photo`` is the URL of the image.
    """
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
    """Return the name and the region that was drawn, or None if it is invalid; valid inside ``on_pick``."""
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
