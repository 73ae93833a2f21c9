"""The picture that a reader brings: opened at once, kept in the session, and nowhere else."""

from __future__ import annotations

import streamlit as st

from attention.picture import Picture
from inference import Refusal
from inference.pictures.opening import MOST_BYTES, opened
from ui.pages.pictures.options import ELSEWHERE, Pictures
from ui.pages.pictures.reading import forget_traces
from ui.run.refusals import say
from ui.state.opened_picture import close, opened_picture
from ui.state.options import choose_own
from wording import _, sentence, told

GIVEN, PROBLEM, ROUND = "picture_given", "picture_problem", "picture_round"
OTHER = "picture_beside"  # what stands beside it
DIGITS = 12  # of a picture's key, in the address
NOT_KEPT = sentence(
    "Your picture is not kept: it is in the memory of this session, and gone when the session ends. While a file of "
    "more than 1 MB is on its way, the server keeps what has come in a temporary file without a name."
)
GIVE_AGAIN = sentence(
    "This link is about a picture that a reader brought. A link cannot hold a picture, so bring it again; until then "
    "the sample is shown."
)


def bring(options: Pictures) -> None:
    """Where a picture is brought, by choosing, dragging or pasting a file, and the way back to the sample."""
    box = f"picture_file_{st.session_state.get(ROUND, 0)}"
    st.file_uploader(
        _("Bring a picture: PNG, JPEG or WebP"),
        type=["png", "jpg", "jpeg", "webp"],
        key=box,
        max_upload_size=MOST_BYTES // 1_000_000,
        on_change=_open,
        args=(box,),
        help=_("Choose a file or drag it here; while the picture below is shown, another can be pasted too."),
    )
    st.caption(told(NOT_KEPT))
    for problem in st.session_state.pop(PROBLEM, []):
        say(problem)
    if opened_picture() is not None or picture_of(options) is not None:
        st.button(_("Back to the sample"), on_click=_leave, help=_("The picture that you brought is forgotten."))
    elif options.given:
        say(GIVE_AGAIN, role="status")


def picture_of(options: Pictures) -> Picture | None:
    """The reader's own picture, where it is the one that is meant."""
    picture: Picture | None = st.session_state.get(GIVEN)
    return picture if picture is not None and options.given == picture.key[:DIGITS] else None


def _open(box: str) -> None:
    uploaded = st.session_state[box]
    if uploaded is not None:
        take(uploaded.getvalue())


def take(content: bytes) -> None:
    """Shows the picture in a file's content from now on; what is wrong with it is said when the page is drawn."""
    try:
        picture = opened(content)
    except Refusal as refusal:
        st.session_state[PROBLEM] = [refusal.message]
        return
    close()
    st.session_state[GIVEN] = picture
    choose_own(Pictures, given=picture.key[:DIGITS], **ELSEWHERE)


def _leave() -> None:
    """Forget it, and what the box still holds of it."""
    close()
    st.session_state.pop(GIVEN, None)
    st.session_state.pop(OTHER, None)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    forget_traces()
    choose_own(Pictures, given="", **ELSEWHERE)
