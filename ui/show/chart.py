"""How every figure is put on a page: its colours, its tools, and what a click in it does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.figures.theme import DARK, LIGHT, Figure, Theme

CONFIG = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "scale": 2}}


def theme() -> Theme:
    """The colours that fit the page."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def draw_chart(
    figure: Figure, key: str, *, place: DeltaGenerator | None = None, on_click: Callable[[str], None] | None = None
) -> None:
    """Put a figure on the page, in ``place`` or else in the current container, with its own colours.

    ``on_click`` is called with ``key`` when a mark is clicked; which one lies in the session's state under that key.
    """
    clicks: dict[str, Any] = (
        {} if on_click is None else {"on_select": partial(on_click, key), "selection_mode": "points"}
    )
    (place or st).plotly_chart(figure, theme=None, config=CONFIG, key=key, **clicks)
