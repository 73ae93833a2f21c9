"""A class: the teacher opens a room, students join by its code, follow, and answer."""

import streamlit as st

from ui.pages.classroom.desk import desk
from ui.pages.classroom.door import door, waiting
from ui.run.classes import myself, store
from ui.show.reading_help import reading_help
from ui.state import attending
from wording import _

st.title(_("A class"))
code = attending.code()
if code is not None and store().teaches(code, myself()):
    desk(code)
elif code is not None and store().version(code):
    waiting(code)
else:
    door(code)
with reading_help():
    st.markdown(
        _(
            "- A room lasts until its teacher closes it, or a day after the last change in it. Then nothing of it is "
            "kept but the files that the teacher has saved.\n"
            "- Students see nobody’s answers until the teacher shows them, and then without names.\n"
            "- Everything happens on the machine that runs this app; no other server is asked."
        )
    )
