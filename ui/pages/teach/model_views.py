"""Teach page: the views of a fine-tuned model, and the control that selects a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from training.jobs.job import JobStatus
from ui.input.controls import bound_widget
from ui.pages.teach import changes, own_sentence, results, saved_model
from ui.pages.teach.options import TeachOptions
from ui.state.params import get_params

VIEWS: Mapping[str, Callable[[JobStatus], None]] = {
    "results": results.draw,
    "try": own_sentence.draw,
    "changed": changes.draw_changes,
    "keep": saved_model.draw,
}


def draw_model_view(look: JobStatus) -> None:
    """Draw the view selector and the selected view."""
    bound_widget(TeachOptions, "show", st.segmented_control, required=True)
    VIEWS[get_params(TeachOptions).show](look)
