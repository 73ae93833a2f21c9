"""The view A class: a teacher opens a room, and students join by its code, follow and answer."""

import streamlit as st

from i18n import _
from ui.pages.classroom.joining import door, draw_waiting_room
from ui.pages.classroom.teacher_view import desk
from ui.run.classes import store, visitor_secret
from ui.show.reading_help import reading_help
from ui.state import classroom


def draw_view() -> None:
    """Draw the view."""
    code = classroom.code()
    if code is not None and store().teaches(code, visitor_secret()):
        desk(code)
    elif code is not None and store().version(code):
        draw_waiting_room(code)
    else:
        door(code)
    with reading_help():
        st.markdown(
            _(
                "- A class is deleted when its teacher closes it, or a day after its last change. Only files "
                "that the teacher saved remain.\n- Students see answers only after the teacher shows them, "
                "without names.\n- All data stays on the machine that runs this app."
            )
        )
