"""The image view of a vision transformer: mount and selection, drawn by picture.js."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import streamlit as st

from viz.components.picture.content import FACINGS, KINDS, PictureSelection, style
from viz.components.script import script


def mount(data: dict[str, Any], key: str, on_pick: Callable[[], None]) -> None:
    """Draw the view; ``on_pick`` runs if the user selects something, for ``picked_selection(key, …)``."""
    _COMPONENT(data=data, key=key, on_picked_change=on_pick)


def picked_selection(key: str, layers: int, heads: int, tokens: int) -> PictureSelection | None:
    """Return the selection, or None if the browser sent an invalid one; valid inside ``on_pick``."""
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
    """Return the pasted file, or None if nothing was pasted; valid inside ``on_pick``.

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
