"""Drawing of Plotly figures on a page, with the theme's colours, a toolbar and click handlers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.figures.theme import DARK, LIGHT, Figure, Theme

CONFIG = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "scale": 2}}


def theme() -> Theme:
    """Return the colour theme of the page, dark or light."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def draw_chart(
    figure: Figure, key: str, *, place: DeltaGenerator | None = None, on_click: Callable[[str], None] | None = None
) -> None:
    """Draw a figure in ``place`` or the current container.

    ``on_click`` is called with ``key`` when a mark is clicked; the session state under that key contains the mark.
    """
    clicks: dict[str, Any] = (
        {} if on_click is None else {"on_select": partial(on_click, key), "selection_mode": "points"}
    )
    (place or st).plotly_chart(figure, theme=None, config=CONFIG, key=key, **clicks)
