"""What shall we find out? Lessons: read, look, answer, and see what the model's numbers say."""

import streamlit as st

from ui.pages.lessons.attending import kept_from
from ui.pages.lessons.known import known, take
from ui.pages.lessons.listing import listing
from ui.pages.lessons.markdown import told
from ui.pages.lessons.options import OWN, TEACHER, WRITE, Lessons
from ui.pages.lessons.playing import play
from ui.pages.lessons.teaching import teach
from ui.pages.lessons.writing import write
from ui.run.refusals import say_notes
from ui.show.reading_help import reading_help
from ui.state.options import own
from ui.state.session import give_back
from wording import _


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            _(
                "- A lesson leads through views of this app, step by step: look, say what you expect, answer, and see "
                "what the numbers say. Answers stay in this window until you save the worksheet.\n"
                "- What is right is computed from the model while you wait, where it can be. Layers and heads are "
                "counted from 0.\n"
                "- Keys: Alt+Page Down for the next step, Alt+Page Up for the one before."
            )
        )


options = own(Lessons)
take(options)
heading = st.empty()
only_play = kept_from(options)
if options.lesson == OWN and options.show == WRITE and not only_play:
    heading.title(_("What shall your lesson ask?"))
    say_notes()
    write()
else:
    chosen = known(options)
    heading.title(_("What shall we find out?") if chosen is None else told(chosen.lesson.title))
    say_notes()
    if chosen is None:
        give_back()
        listing()
    elif options.show == TEACHER and not only_play and chosen.lesson.teacher is not None:
        teach(chosen, chosen.lesson.teacher)
    else:
        play(chosen, options)
how_to_read()
