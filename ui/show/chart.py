"""Drawing of Plotly figures on a page: the theme's colours, a toolbar, click handlers, and a menu of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.spreadsheet import file_stem
from i18n import _
from ui.show.tables import download_button, page_provenance
from viz.figures.theme import DARK, LIGHT, Figure, Theme
from viz.paper import tables
from viz.paper.chart import draw_chart as draw_page
from viz.paper.chart import is_flat
from viz.paper.chart_table import chart_table, plain_text
from viz.paper.page import FORMATS, LARGEST, SMALLEST, USUAL, WIDTHS, PaperOptions, render

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["toImage"]}  # The menu Download replaces it.


def theme() -> Theme:
    """Return the colour theme of the page, dark or light."""
    return DARK if st.context.theme.type == "dark" else LIGHT


About = Callable[[], Mapping[str, Any]]


def draw_chart(
    figure: Figure,
    key: str,
    *,
    place: DeltaGenerator | None = None,
    on_click: Callable[[str], None] | None = None,
    about: About = page_provenance,
) -> None:
    """Draw a figure, and under it the menu of its files.

    ``place`` is the container, by default the current one. ``on_click`` is called with ``key`` when a mark is clicked;
    the session state under that key then contains the mark. ``about`` returns the provenance of the numbers, by default
    the page's model and texts.
    """
    clicks: dict[str, Any] = (
        {} if on_click is None else {"on_select": partial(on_click, key), "selection_mode": "points"}
    )
    with (place or st).container(key=f"figure_{key}", gap=None):
        st.plotly_chart(figure, theme=None, config=CONFIG, key=key, **clicks)
        _draw_menu(figure, key, about)


@st.fragment
def _draw_menu(figure: Figure, key: str, provenance: About) -> None:
    """Draw the menu Download; the file of the chosen format is made while the menu is open."""
    menu = st.popover(_("Download"), key=f"{key}_download", type="tertiary", on_change="rerun")
    if not menu.open:
        return
    images = list(FORMATS) if is_flat(figure) else []
    with menu:
        chosen = st.segmented_control(
            _("Format"),
            [*images, *tables.FORMATS],
            key=f"{key}_format",
            default=images[0] if images else "csv",
            format_func=lambda name: name.capitalize() if name == "parquet" else name.upper(),
            required=True,
        )
        title = plain_text(figure.layout.title.text or "")
        about = {"figure": title, **provenance()}
        name = f"headlight-{key.replace('_', '-')}"
        stem = file_stem(name, about)
        is_image, is_csv = chosen in images, chosen == "csv"
        download_button(
            _("Download image") if is_image else _("Download"),
            _draw_image(figure, key, chosen, about)
            if is_image
            else tables.table_file(chart_table(figure), chosen, about),
            f"{name}.csv" if is_csv else f"{stem}.{chosen}",
            title,
            kind=FORMATS[chosen] if is_image else tables.FORMATS[chosen],
            key=f"{key}_file",
            provenance=about if is_csv else None,
        )


def _draw_image(figure: Figure, key: str, file_format: str, about: Mapping[str, Any]) -> bytes:
    """Draw the options of an image and return the image."""
    names = {"column": _("Column, 3.3 in"), "page": _("Page, 7 in")}
    first, second = st.columns(2, vertical_alignment="bottom")
    width = first.selectbox(_("Width"), list(WIDTHS), key=f"{key}_width", format_func=names.__getitem__)
    size = second.number_input(_("Font size"), SMALLEST, LARGEST, USUAL, key=f"{key}_size")
    frame = first.checkbox(_("Frame"), value=True, key=f"{key}_frame")
    caption = second.checkbox(_("Caption"), value=True, key=f"{key}_caption")
    options = PaperOptions(file_format, width, int(size), frame, caption)
    source = " · ".join(str(about[name]) for name in ("model", "text") if name in about)
    return render(lambda: draw_page(figure, options, source), file_format)
