"""Teach page: the views of a fine-tuned model, and the control that selects a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from i18n import _, gettext_lazy, translate
from training.jobs.job import JobStatus
from ui.input.controls import bound_widget
from ui.pages.teach import changes, own_sentence, results, saved_model
from ui.pages.teach.options import SHOWS, TeachOptions
from ui.state.params import get_params

VIEWS: Mapping[str, Callable[[JobStatus], None]] = {
    "results": results.draw,
    "try": own_sentence.draw,
    "changed": changes.draw_changes,
    "keep": saved_model.draw,
}
HELP = gettext_lazy("How well it does, on a sentence of your own, what changed in its heads, and how to keep it")


def draw_view(look: JobStatus) -> None:
    """Draw the view selector and the selected view."""
    bound_widget(TeachOptions, "show", st.segmented_control, _("What to look at"), list(SHOWS), format_func=SHOWS.get,
            required=True, help=translate(HELP))  # fmt: skip
    VIEWS[get_params(TeachOptions).show](look)
