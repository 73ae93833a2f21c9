"""Drawing of Plotly figures on a page: the theme's colours, a toolbar, click handlers, and a menu of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.spreadsheet import file_stem
from i18n import _
from inference import LocalBackend
from ui.show.tables import download_button, page_provenance
from viz.figures.theme import DARK, LIGHT, Figure, Theme
from viz.paper import tables
from viz.paper.chart_table import axis_names, chart_table, figure_numbers, plain_text
from viz.paper.notebook import Computation, citation, computation_notebook, figure_methods
from viz.paper.page import FORMATS, LARGEST, SMALLEST, USUAL, WIDTHS, PaperOptions, render

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["toImage"]}  # The menu Download replaces it.


NOTEBOOK = "application/x-ipynb+json"


def theme() -> Theme:
    """Return the colour theme of the page, dark or light."""
    return DARK if st.context.theme.type == "dark" else LIGHT


About = Callable[[], Mapping[str, Any]]


def draw_chart(  # noqa: PLR0913  (keyword options of a figure)
    figure: Figure,
    key: str,
    *,
    place: DeltaGenerator | None = None,
    on_click: Callable[[str], None] | None = None,
    about: About = page_provenance,
    computation: Computation | None = None,
    test: str | None = "",
) -> None:
    """Draw a figure, and under it the menu of its files.

    ``place`` is the container, by default the current container. A click on a mark calls ``on_click`` with ``key``; the
    session state under that key then contains the mark. ``about`` returns the provenance of the numbers, by default the
    page's model and texts. ``computation`` is notebook code that computes the figure's numbers; without it, the menu
    offers no notebook. ``test`` are sentences on the sample and the test, for a paper's methods section; with None, the
    menu has no methods sentence, because the numbers are not computed.
    """
    clicks: dict[str, Any] = (
        {} if on_click is None else {"on_select": partial(on_click, key), "selection_mode": "points"}
    )
    with (place or st).container(key=f"figure_{key}", gap=None):
        st.plotly_chart(figure, theme=None, config=CONFIG, key=key, **clicks)
        _draw_menu(figure, key, about, computation, test)


@st.fragment
def _draw_menu(figure: Figure, key: str, provenance: About, computation: Computation | None, test: str | None) -> None:
    """Draw the menu Download; the file of the chosen format is made while the menu is open."""
    menu = st.popover(_("Download"), key=f"{key}_download", type="tertiary", on_change="rerun")
    if not menu.open:
        return
    from viz.paper.chart import is_flat  # imports matplotlib, which takes half a second

    images = list(FORMATS) if is_flat(figure) else []
    with menu:
        chosen = st.segmented_control(
            _("Format"),
            [*images, *tables.FORMATS, "html", *(["ipynb"] if computation else [])],
            key=f"{key}_format",
            default=images[0] if images else "csv",
            format_func=_format_name,
            required=True,
        )
        title = plain_text(figure.layout.title.text or "")
        about = {"figure": title, **provenance(), "axes": axis_names(figure)}
        methods = figure_methods(title, about, test or "")
        if chosen in images:
            content, kind = _draw_image(figure, key, chosen, about), FORMATS[chosen]
        elif chosen == "html":
            content, kind = figure.to_html(config=CONFIG).encode(), "text/html"
        elif chosen == "ipynb" and computation is not None:
            content = computation_notebook(computation, LocalBackend, methods, figure_numbers(figure))
            kind = NOTEBOOK
        else:
            content, kind = tables.table_file(chart_table(figure), chosen, about), tables.FORMATS[chosen]
        is_csv, name = chosen == "csv", f"headlight-{key.replace('_', '-')}"
        download_button(
            _("Download image") if chosen in images else _("Download"),
            content,
            f"{name}.csv" if is_csv else f"{file_stem(name, about)}.{chosen}",
            title,
            kind=kind,
            key=f"{key}_file",
            provenance=about if is_csv else None,
        )
        _draw_citation("" if test is None else methods)


def _draw_citation(methods: str) -> None:
    """Draw the methods sentence, unless it is "", and the citation, each with a button that copies it."""
    for label, text in ((_("Methods sentence"), methods), (_("Citation"), citation())):
        if text:
            st.caption(label)
            st.code(text, language=None, wrap_lines=True)


@st.fragment
def draw_notebook_menu(
    title: str,
    key: str,
    numbers: Callable[[], Sequence[float] | npt.NDArray[Any]],
    provenance: About,
    computation: Callable[[], Computation | None],
) -> None:
    """Draw a menu with the methods sentence, the citation and a notebook, for a figure named ``title``.

    ``numbers`` returns the figure's numbers, and ``computation`` the notebook code that computes them; if this is None,
    there is no notebook. ``provenance`` returns the origin of the numbers. All three are called only while the menu is
    open. Use this menu for figures that save their own images and tables.
    """
    menu = st.popover(_("Download"), key=f"{key}_download", type="tertiary", on_change="rerun")
    if not menu.open:
        return
    with menu:
        about = {"figure": title, **provenance()}
        methods = figure_methods(title, about, "")
        if (code := computation()) is not None:
            download_button(
                _("Python notebook"),
                computation_notebook(code, LocalBackend, methods, np.asarray(numbers(), np.float64)),
                f"{file_stem(f'headlight-{key}', about)}.ipynb",
                title,
                kind=NOTEBOOK,
                key=f"{key}_file",
                provenance=None,
            )
        _draw_citation(methods)


def _format_name(name: str) -> str:
    """Return the name of a format in the menu."""
    return {"parquet": "Parquet", "ipynb": _("Python notebook")}.get(name, name.upper())


def _draw_image(figure: Figure, key: str, file_format: str, about: Mapping[str, Any]) -> bytes:
    """Draw the options of an image and return the image."""
    from viz.paper.chart import draw_chart as draw_page

    names = {"column": _("Column, 3.3 in"), "page": _("Page, 7 in")}
    first, second = st.columns(2, vertical_alignment="bottom")
    width = first.selectbox(_("Width"), list(WIDTHS), key=f"{key}_width", format_func=names.__getitem__)
    size = second.number_input(_("Font size"), SMALLEST, LARGEST, USUAL, key=f"{key}_size")
    frame = first.checkbox(_("Frame"), value=True, key=f"{key}_frame")
    caption = second.checkbox(_("Caption"), value=True, key=f"{key}_caption")
    options = PaperOptions(file_format, width, int(size), frame, caption)
    return render(lambda: draw_page(figure, options, image_source(about)), file_format)


def image_source(about: Mapping[str, Any]) -> str:
    """Return the models and the texts of a figure, for the caption of its image.

    A comparison has a provenance for each side, ``first`` and ``second``.

    >>> image_source({"model": "bert", "text": "A cat.", "head": 3})
    'bert · A cat.'
    >>> image_source({"first": {"model": "bert", "text": "A cat."}, "second": {"model": "bert", "text": "A dog."}})
    'bert · A cat. · A dog.'
    """
    sides = [about[side] for side in ("first", "second") if side in about] or [about]
    return " · ".join(dict.fromkeys(str(side[name]) for name in ("model", "text") for side in sides if side.get(name)))
