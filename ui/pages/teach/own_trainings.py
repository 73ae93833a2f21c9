"""Teach page: the list of the visitor's trainings."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy, translate
from training.jobs.job import JobStatus
from ui.pages.teach.options import TeachOptions
from ui.run.fine_tuning import queue, visitor
from ui.run.notices import show_notice
from ui.state.params import set_params

SHOWN = 10  # Only so many trainings are listed, the newest.
STATES = {
    "waiting": gettext_lazy("waiting"),
    "running": gettext_lazy("training"),
    "stopped": gettext_lazy("stopped"),
    "failed": gettext_lazy("failed"),
    "done": gettext_lazy("trained"),
}


def draw() -> None:
    """Draw a button for each training of the visitor, the newest first; draw nothing if there are none."""
    found = queue().jobs_of(visitor())
    if not found:
        return
    with st.expander(_("Your trainings ({n})", n=len(found))):
        for look in found[:SHOWN]:
            _row(look)
        if len(found) > SHOWN:
            show_notice(_("The newest {n} are shown.", n=SHOWN), role="status")


def _row(look: JobStatus) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("Open"),
            key=f"look_{look.job.id}",
            on_click=set_params,
            args=(TeachOptions,),
            kwargs={"job": look.job.id},
        )
        when = f"{look.job.begun[:16].replace('T', ' ')} UTC"
        show_notice(f"{look.job.title} · {translate(STATES[look.state])} · {when}", role="status")
