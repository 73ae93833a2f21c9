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
                "- A room lasts until its teacher closes it, or a day after the last change in it. Then nothing of it "
                "is kept but the files that the teacher has saved.\n"
                "- Students see nobody’s answers until the teacher shows them, and then without names.\n"
                "- Everything happens on the machine that runs this app; no other server is asked."
            )
        )
