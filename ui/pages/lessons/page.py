"""The view Lessons: list, player, teacher's key and editor."""

import streamlit as st

from i18n import _
from ui.pages.lessons.current_lesson import adopt_link_draft, get_lesson, is_withheld
from ui.pages.lessons.listing import listing
from ui.pages.lessons.markdown import translate_markdown
from ui.pages.lessons.options import OWN, TEACHER, WRITE, LessonsOptions
from ui.pages.lessons.playing import draw_lesson
from ui.pages.lessons.teaching import draw_teachers_key
from ui.pages.lessons.writing import draw_editor
from ui.run.notices import show_notes
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.session import restore_view_state


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- Each step shows a view and asks a question: look, predict, answer, compare. Answers stay "
                "until the app restarts: save the worksheet.\n- Correct answers are computed from the model "
                "if possible. Layers and heads count from 0.\n- Keys: Alt+Page Down for the next step, "
                "Alt+Page Up for the previous step."
            )
        )


def draw_view() -> None:
    """Draw the view."""
    options = get_params(LessonsOptions)
    adopt_link_draft(options)
    place = st.empty()
    only_play = is_withheld(options)
    if options.lesson == OWN and options.show == WRITE and not only_play:
        place.header(_("Your own lesson"))
        show_notes()
        draw_editor()
    else:
        chosen = get_lesson(options)
        if chosen is not None:
            place.header(translate_markdown(chosen.lesson.title))
        show_notes()
        if chosen is None:
            restore_view_state()
            listing()
        elif options.show == TEACHER and not only_play and chosen.lesson.teacher is not None:
            draw_teachers_key(chosen, chosen.lesson.teacher)
        else:
            draw_lesson(chosen, options)
    how_to_read()
