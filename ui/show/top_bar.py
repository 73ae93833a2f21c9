"""The bar above every page: search, tour, class of students, projector view, language and saved traces."""

from __future__ import annotations

import streamlit as st

from i18n import _, error_message
from ui.input.view_options import pick_language
from ui.run.notices import show_notice
from ui.run.services import get_trace_store
from ui.show import tour
from ui.show.palette import draw_palette
from ui.show.views import link_to_view
from ui.state.session import NEW_MODEL, get_view_state, open_picture, opened_picture, set_view_state
from viz.components.page_scripts import draw_projector

UPLOAD, PROBLEM = "opened_file", "open_problem"


def draw_top_bar() -> None:
    """Draw the bar at the right edge above the page."""
    with st.container(key="top_bar", horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        draw_palette()
        tour.draw_button()
        link_to_view("classroom", _("Class"), icon=":material/groups:", help=_("Open a class, or join your teacher's."))
        draw_projector()
        pick_language()
        _draw_saved_traces()


def _draw_saved_traces() -> None:
    """Draw the popover with the upload of a saved trace, and the button that closes it."""
    label = _("Open saved trace")
    with st.popover(label, key="saved_traces", icon=":material/folder_open:", type="tertiary"):
        _draw_upload(label)


def _draw_upload(label: str) -> None:
    """Draw the upload, the problem of the last file, and the button that closes an opened file."""
    st.file_uploader(
        label,
        type="safetensors",
        key=UPLOAD,
        on_change=_open,
        help=_("A file that “Save the trace” wrote."),
    )
    for problem in st.session_state.pop(PROBLEM, []):
        show_notice(problem)
    if opened_picture() is not None:
        show_notice(_("The file is of a picture."), role="status")
        link_to_view("pictures", _("Image attention"), icon=":material/image:")
    if get_view_state().opened:
        st.button(_("Close the file"), on_click=set_view_state, kwargs=NEW_MODEL, help=_("Back to the text above"))


def _open() -> None:
    uploaded = st.session_state[UPLOAD]
    if uploaded is None:
        return
    try:
        trace = get_trace_store().open(uploaded.getvalue())
    except ValueError as error:
        st.session_state[PROBLEM] = [error_message(error)]
        return
    if trace.picture is not None:  # A picture's trace has no text for other pages.
        open_picture(trace)
        return
    changes = {"text": trace.text, "pair": trace.pair or "", "target": trace.target_text or ""}
    set_view_state(**{**NEW_MODEL, **changes, "opened": trace.id})
