"""The interactive view of a picture: its payload, its files and its click events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from attention.trace import Trace
from i18n import _
from ui.pages.pictures.options import PicturesOptions
from ui.pages.pictures.upload import store_picture
from ui.routes.limits import in_language
from ui.routes.pictures import description_of
from ui.routes.traces import PREFIX
from ui.run.services import ViewOptions as Sight
from ui.run.services import trace_seal
from ui.state.params import set_params
from viz.components.picture import picture
from viz.components.picture.content import (
    PictureSelection,
    edge_head,
    grid_and_picture,
    part_of,
    payload,
    tokens_without_patch,
)

AGAIN = "picture_again"  # Session key: the number of repeated requests.


def selection_of(options: PicturesOptions, trace: Trace) -> PictureSelection:
    """Return the selection in the options, with defaults for parts that the trace lacks.

    The default token is the first token without a patch, else the central patch. The default head has the largest
    edge score.
    """
    grid, _picture = grid_and_picture(trace)
    records, alone = trace.records(part_of(trace)), tokens_without_patch(trace)
    token = alone[0] if alone else grid.token(grid.rows // 2, grid.columns // 2)
    if options.token is not None and options.token < len(trace.source):
        token = options.token
    layer, head = options.layer, options.head
    if layer is None or head is None or layer >= len(records) or head >= records[layer].heads:
        layer, head = edge_head(trace, alone[0] if alone else token)
    return PictureSelection(layer, head, token, options.facing, options.by)


def draw_picture(  # noqa: PLR0913  # all parts of the view
    trace: Trace,
    options: PicturesOptions,
    title: str,
    cited: str = "",
    slot: str = "",
    look: PictureSelection | None = None,
    meaning: Callable[[PictureSelection], Mapping[str, object]] = asdict,
) -> PictureSelection:
    """Draw the interactive view and return its selection.

    ``look`` overrides the selection in the options. ``slot`` distinguishes two views on a page. ``meaning`` maps
    the selection after a click to options.
    """
    look, key = look or selection_of(options, trace), f"picture{slot}"
    data = payload(trace, look, title, description_of(trace, cited), *route(trace))
    picture.mount(data, key, partial(_on_click, key, trace, meaning))
    return look


def route(trace: Trace) -> tuple[str, str]:
    """Return the base path and the query string for requests about a trace."""
    sight = Sight(part_of(trace)).query()
    query = f"{sight}&seal={trace_seal(trace.id)}&again={st.session_state.get(AGAIN, 0)}{in_language()}"
    return f"{PREFIX}/{trace.id}", query


def offer_files(trace: Trace, look: PictureSelection, title: str, cited: str) -> None:
    """Draw download buttons for the view as an HTML page and for the trace."""
    asked: Mapping[str, object] = {**asdict(look), "title": title, "cited": cited, "seal": trace_seal(trace.id)}
    files = st.container(horizontal=True)
    files.link_button(
        _("Save as page"),
        f"{PREFIX}/{trace.id}/picture.html?{urlencode(asked)}" + in_language(),
        icon=":material/download:",
        help=_("One HTML file with the image and up to 1.5 MB of maps"),
    )
    files.link_button(
        _("Save the trace"),
        f"{PREFIX}/{trace.id}/trace.safetensors?seal={trace_seal(trace.id)}" + in_language(),
        icon=":material/save:",
        help=_("The image and all results, to open again here"),
    )


def _on_click(key: str, trace: Trace, meaning: Callable[[PictureSelection], Mapping[str, object]]) -> None:
    """Store the clicked selection in the options, or load a pasted picture.

    If the server had forgotten the trace, count up AGAIN, which makes the view request its data again.
    """
    if (content := picture.pasted_file(key)) is not None:
        store_picture(content)
        return
    records = trace.records(part_of(trace))
    look = picture.picked_selection(key, len(records), records[0].heads, len(trace.source))
    if look is None:
        st.session_state[AGAIN] = st.session_state.get(AGAIN, 0) + 1
    else:
        set_params(PicturesOptions, **meaning(look))
