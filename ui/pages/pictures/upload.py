"""Uploaded pictures, which are held in the session only."""

from __future__ import annotations

import streamlit as st

from attention.pictures import Picture
from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.pictures.image_files import MOST_BYTES, open_picture
from ui.pages.pictures.options import ELSEWHERE, PicturesOptions
from ui.pages.pictures.reading import forget_traces
from ui.run.notices import show_notice
from ui.state.params import set_params
from ui.state.session import close_picture, opened_picture

GIVEN, PROBLEM, ROUND = "picture_given", "picture_problem", "picture_round"
OTHER = "picture_beside"  # Session key: the second picture of a comparison.
DIGITS = 12  # The address contains so many digits of the picture's key.
NOT_KEPT = gettext_lazy(
    "Your image stays in this session's memory and is gone when it ends. Uploads above 1 MB pass through an "
    "unnamed temporary file."
)
GIVE_AGAIN = gettext_lazy("A link cannot contain an image. Add it again; until then the sample is shown.")


def draw_upload(options: PicturesOptions) -> None:
    """Draw the uploader, its errors, and the button that returns to the sample."""
    box = f"picture_file_{st.session_state.get(ROUND, 0)}"
    st.file_uploader(
        _("Add an image"),
        type=["png", "jpg", "jpeg", "webp"],
        key=box,
        max_upload_size=MOST_BYTES // 1_000_000,
        on_change=_open,
        args=(box,),
        help=_("PNG, JPEG or WebP; can also be dragged here or pasted"),
    )
    st.caption(translate(NOT_KEPT))
    for problem in st.session_state.pop(PROBLEM, []):
        show_notice(problem)
    if opened_picture() is not None or picture_of(options) is not None:
        st.button(_("Show sample"), on_click=_forget_picture, help=_("Your image is removed"))
    elif options.given:
        show_notice(GIVE_AGAIN, role="status")


def picture_of(options: PicturesOptions) -> Picture | None:
    """Return the uploaded picture if its key matches the options; None otherwise."""
    picture: Picture | None = st.session_state.get(GIVEN)
    return picture if picture is not None and options.given == picture.key[:DIGITS] else None


def _open(box: str) -> None:
    uploaded = st.session_state[box]
    if uploaded is not None:
        store_picture(uploaded.getvalue())


def store_picture(content: bytes) -> None:
    """Open a picture file and show it instead of an opened trace.

    If the file is invalid, keep the error for the next drawing of the page.
    """
    try:
        picture = open_picture(content)
    except UserError as refusal:
        st.session_state[PROBLEM] = [refusal.message]
        return
    close_picture()
    st.session_state[GIVEN] = picture
    set_params(PicturesOptions, given=picture.key[:DIGITS], **ELSEWHERE)


def _forget_picture() -> None:
    """Close an opened file, drop the uploaded pictures and their traces, and reset the uploader."""
    close_picture()
    st.session_state.pop(GIVEN, None)
    st.session_state.pop(OTHER, None)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    forget_traces()
    set_params(PicturesOptions, given="", **ELSEWHERE)
