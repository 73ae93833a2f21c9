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
                "- Fine-tuning adds a task head to a pretrained model and trains it on labelled rows ([BERT, "
                "arXiv:1810.04805](https://arxiv.org/abs/1810.04805)). *Train* rows are learned, *dev* rows "
                "choose the best step, and *test* rows are scored once, at the end.\n- The dashed line is a "
                "bag-of-words baseline (TF-IDF and logistic regression). If it wins, use it.\n- Attention "
                "changes in any training. Two controls therefore learn shuffled labels; only larger changes "
                "are due to the task ([arXiv:2004.14448](https://arxiv.org/abs/2004.14448))."
            )
        )


def draw_training(options: TeachOptions) -> None:
    """Draw the progress of a training run and, once there is a model, its results."""
    try:
        look = queue().look(options.job)
    except UserError as refusal:
        show_notice(refusal.message)
        st.button(
            _("New training"),
            on_click=set_params,
            args=(TeachOptions,),
            kwargs={"job": ""},
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
