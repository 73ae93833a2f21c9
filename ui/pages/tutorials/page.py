"""The view Tutorials: claims of tutorials compared with the models, in the order of teaching."""

import streamlit as st

from i18n import _
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.pages.tutorials.drawing import draw
from ui.pages.tutorials.options import TutorialsOptions
from ui.pages.tutorials.themes import STATIONS
from ui.run.notices import show_notes
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.session import get_view_state


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A theme is a way through this app in the order in which tutorials teach: each station leads to a "
                "page that shows it on a real model, with the model and the text that it needs. The browser's back "
                "button leads back here.\n"
                "- Beside it stands what is often told, and what a model of this app shows: the numbers in these "
                "sentences are computed now, from the model's own weights or a set's own rows; what is a record says "
                "so.\n"
                "- One model is one model: what all-MiniLM-L6-v2 or headlight-bert shows, a larger one may not. Where "
                "a sentence is about your text, it is the text above."
            )
        )


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    compose(chosen, "encoder", chip=False)  # a theme may read two texts, regardless of the chosen model
    options = get_params(TutorialsOptions)
    show_notes()
    bound_widget(TutorialsOptions, "theme", st.segmented_control, required=True)
    draw(STATIONS[options.theme], chosen, options)
    how_to_read()
