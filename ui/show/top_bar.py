"""The bar above every page: the search, the tour, the class, the projector view, the language and saved traces."""

from __future__ import annotations

import streamlit as st

from i18n import _
from ui.input.view_options import pick_language
from ui.show import tour
from ui.show.palette import draw_palette
from ui.show.saved_traces import draw_saved_traces
from ui.show.views import link_to_view
from viz.components.page_scripts import draw_projector


def draw_top_bar() -> None:
    """Draw the bar at the right edge above the page."""
    with st.container(key="top_bar", horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        draw_palette()
        tour.draw_button()
        link_to_view("classroom", _("Class"), icon=":material/groups:", help=_("Open a room, or join your teacher's."))
        draw_projector()
        pick_language()
        draw_saved_traces()
