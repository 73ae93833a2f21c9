"""The view of a picture on a Streamlit page (picture.js), and the marking of two regions (regions.js)."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import streamlit as st

from attention.patch_roles import Region, parse_region
from attention.pictures import Grid
from attention.trace import Trace
from viz.components.picture.content import FACINGS, KINDS, PictureSelection, grid_and_picture, style
from viz.components.script import script, stylesheet, words_field


def mount(data: dict[str, Any], key: str, on_pick: Callable[[], None]) -> None:
    """Draw the view of a picture; call ``on_pick`` if the visitor selects something.

    Inside ``on_pick``, ``picked_selection(key, …)`` returns the selection.
    """
    _COMPONENT(data=data, key=key, on_picked_change=on_pick)


def picked_selection(key: str, layers: int, heads: int, tokens: int) -> PictureSelection | None:
    """Return the visitor's selection, or None if it is invalid; call it inside ``on_pick``.

    ``layers``, ``heads`` and ``tokens`` are the numbers of the trace, which limit the selected indices.
    """
    found = st.session_state.get(key, {}).get("picked")
    if not isinstance(found, dict):
        return None
    ends = {"layer": layers, "head": heads, "token": tokens}
    numbers = {name: at for name in ends if type(at := found.get(name)) is int and 0 <= at < ends[name]}
    if len(numbers) < len(ends):
        return None
    if found.get("facing") not in FACINGS or found.get("by") not in KINDS:
        return None
    return PictureSelection(**numbers, facing=found["facing"], by=found["by"])


def pasted_file(key: str) -> bytes | None:
    """Return the file that the visitor pasted, or None; call it inside ``on_pick``.

    Invalid base64 gives an empty file.
    """
    found = st.session_state.get(key, {}).get("picked")
    if not isinstance(found, dict) or not isinstance(found.get("pasted"), str):
        return None
    try:
        return base64.b64decode(found["pasted"], validate=True)
    except ValueError:
        return b""


_COMPONENT = st.components.v2.component(
    "headlight_picture",
    html='<div id="picture"></div>',
    js=script("picture/picture"),
    css=style(),
)


NAMES = ("one", "other")


def mount_regions(data: dict[str, Any], key: str, on_pick: Callable[[], None]) -> None:
    """Draw a picture on which regions can be marked; call ``on_pick`` for each region.

    Inside ``on_pick``, ``picked_region(key, …)`` returns the region.
    """
    _REGIONS(data=data, key=key, on_picked_change=on_pick)


def regions_payload(trace: Trace, photo: str, title: str, regions: dict[str, Region | None]) -> dict[str, Any]:
    """Return the data for regions.js, with the fields of its typedef RegionsData.

    ``photo`` is the URL of the picture. ``regions`` maps the names of the two regions (NAMES) to their places, or to
    None.
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
    """Return the name and the place of the marked region, or None if invalid; call it inside ``on_pick``."""
    found = st.session_state.get(key, {}).get("picked")
    if not isinstance(found, dict) or found.get("name") not in NAMES:
        return None
    region = parse_region(found.get("region"), grid)
    return None if region is None else (found["name"], region)


_REGIONS = st.components.v2.component(
    "headlight_regions",
    html='<div id="regions"></div>',
    js=script("picture/regions"),
    css=stylesheet("shared/look", "picture/regions"),
)
