"""The view Fine-tune a model: settings of a new training, or a training with its model's views."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference import UserError
from training.jobs.job import JobStatus
from ui.input.controls import bound_widget
from ui.pages.teach import changes, own_sentence, results, saved_model
from ui.pages.teach.options import TeachOptions
from ui.pages.teach.training_progress import draw_progress
from ui.pages.teach.training_request import begin
from ui.run.fine_tuning import queue, training_title, visitor
from ui.run.notices import show_notice
from ui.show.sections import reading_help
from ui.state.params import get_params, set_params

ANSWERING = ("results", "keep")  # The views of a model that answers questions.
LISTED = 10  # Only so many trainings are listed, the newest.
STATES = {
    "waiting": gettext_lazy("waiting"),
    "running": gettext_lazy("training"),
    "stopped": gettext_lazy("stopped"),
    "failed": gettext_lazy("failed"),
    "done": gettext_lazy("trained"),
}
VIEWS: Mapping[str, Callable[[JobStatus], None]] = {
    "results": results.draw,
    "try": own_sentence.draw,
    "changed": changes.draw_changes,
    "keep": saved_model.draw,
}


def draw_trainings() -> None:
    """Draw a button for each training of the visitor, the newest first."""
    found = queue().jobs_of(visitor())
    if not found:
        return
    with st.expander(_("Your trainings ({shown} of {n})", shown=min(LISTED, len(found)), n=len(found))):
        for look in found[:LISTED]:
            _draw_training(look)


def _draw_training(look: JobStatus) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("Open"),
            key=f"look_{look.job.id}",
            on_click=set_params,
            args=(TeachOptions,),
            kwargs={"job": look.job.id},
        )
        when = f"{look.job.begun[:16].replace('T', ' ')} UTC"
        show_notice(f"{training_title(look.job)} · {translate(STATES[look.state])} · {when}", role="status")


def draw_model_view(look: JobStatus) -> None:
    """Draw the view selector and the selected view."""
    names = ANSWERING if look.job.kind == "answer" else tuple(VIEWS)
    show = get_params(TeachOptions).show
    show = show if show in names else names[0]
    bound_widget(TeachOptions, "show", st.segmented_control, options=list(names), shown=show, required=True)
    VIEWS[show](look)


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- Fine-tuning adds a task head to a pretrained model and trains it on labelled rows ([BERT, "
                "arXiv:1810.04805](https://arxiv.org/abs/1810.04805)). *Train* rows are learned, *dev* rows "
                "choose the best step, *test* rows are scored at the end and at each stop.\n"
                "- Attention changes in any training. Only changes larger than with shuffled labels may be due "
                "to the task ([arXiv:2004.14448](https://arxiv.org/abs/2004.14448))."
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
    elif look.state in ("stopped", "failed") and look.job.owner == visitor():
        saved_model.draw_removal(look)


def draw_view() -> None:
    """Draw the view "Fine-tune a model"."""
    asked = get_params(TeachOptions)
    if asked.job:
        draw_training(asked)
    else:
        begin(asked)
        draw_trainings()
    how_to_read()
