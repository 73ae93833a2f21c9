"""The view Teach: fine-tuning on labelled texts, compared with a bag-of-words model (TF-IDF)."""

import streamlit as st

from i18n import _
from inference import UserError
from ui.pages.teach import own_trainings
from ui.pages.teach.model_views import draw_model_view
from ui.pages.teach.options import TeachOptions
from ui.pages.teach.training_progress import draw_progress
from ui.pages.teach.training_request import begin
from ui.run.fine_tuning import queue
from ui.run.notices import show_notice
from ui.show.reading_help import reading_help
from ui.state.params import get_params, set_params


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A model that has read much gets one new layer, its head, and learns from rows with answers: in "
                "each step some rows are told, and all weights move a little towards the answers ([BERT, "
                "arXiv:1810.04805](https://arxiv.org/abs/1810.04805)). The rows are in three parts: *train* is "
                "learned from, by *dev* the best step is chosen, and *test* is looked at once, in the end.\n"
                "- The dashed line is what counting words reaches on the same rows (TF-IDF and logistic regression), "
                "in a second and without any model. Where it wins, it is the better choice.\n"
                "- Attention changes in any training, also with nothing to learn. So two *twins* learn the same rows "
                "with their labels shuffled, and only what goes beyond their changes is told as the task's "
                "([arXiv:2004.14448](https://arxiv.org/abs/2004.14448))."
            )
        )


def draw_training(options: TeachOptions) -> None:
    """Draw the progress of a training run and, once there is a model, its results."""
    try:
        look = queue().look(options.job)
    except UserError as refusal:
        show_notice(refusal.message)
        st.button(
            _("Teach a model"),
            on_click=set_params,
            args=(TeachOptions,),
            kwargs={"job": ""},
            help=_("Data and settings"),
        )
        return
    draw_progress(look)
    if look.has_model:
        draw_model_view(look)


def draw_view() -> None:
    """Draw the view."""
    asked = get_params(TeachOptions)
    if asked.job:
        draw_training(asked)
    else:
        begin(asked)
        own_trainings.draw()
    how_to_read()
