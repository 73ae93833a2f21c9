"""The search palette for pages, settings and terms, drawn by palette.js."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz.components.script import script, stylesheet, words_field


@dataclass(frozen=True)
class PaletteEntry:
    """An entry of the palette; ``note`` is shown below the title, and ``aliases`` are further words that find it.

    An entry that only informs has no ``id``.
    """

    id: str
    kind: str  # "page", "setting", "help" or "term".
    title: str
    note: str = ""
    aliases: str = ""


def payload(entries: Sequence[PaletteEntry]) -> dict[str, Any]:
    """Return the data for palette.js, with the fields of its typedef PaletteData.

    >>> payload([PaletteEntry("find", "page", "Find")])["entries"]
    [{'id': 'find', 'kind': 'page', 'title': 'Find', 'note': '', 'aliases': ''}]
    """
    return {"entries": [vars(entry) for entry in entries], **words_field("palette/palette")}


def mount(entries: Sequence[PaletteEntry], key: str, on_pick: Callable[[], None]) -> None:
    """Draw the palette's button; call ``on_pick`` if the visitor picks an entry.

    The id of the entry is session_state[key].picked.
    """
    _COMPONENT(data=payload(entries), key=key, on_picked_change=on_pick)


_COMPONENT = st.components.v2.component(
    "headlight_palette",
    html='<div id="palette" class="hl"></div>',
    js=script("palette/palette"),
    css=stylesheet("shared/look", "palette/palette"),
)
