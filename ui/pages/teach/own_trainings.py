"""A visitor's trainings as a list, so that none is lost with its link."""

from __future__ import annotations

import streamlit as st

from training.jobs.job import Look
from ui.pages.teach.options import Teach
from ui.run.refusals import say
from ui.run.teaching import queue, visitor
from ui.state.options import choose_own
from wording import _, sentence, told

SHOWN = 10  # the newest
STATES = {
    "waiting": sentence("waits"),
    "running": sentence("is being taught"),
    "stopped": sentence("stopped"),
    "failed": sentence("failed"),
    "done": sentence("taught"),
}


def draw() -> None:
    """A button for each, the newest first; nothing where there are none."""
    found = queue().of(visitor())
    if not found:
        return
    with st.expander(_("Your trainings ({n})", n=len(found))):
        for look in found[:SHOWN]:
            _row(look)
        if len(found) > SHOWN:
            say(_("The newest {n} are shown.", n=SHOWN), role="status")


def _row(look: Look) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("Look at it"),
            key=f"look_{look.job.id}",
            on_click=choose_own,
            args=(Teach,),
            kwargs={"job": look.job.id},
            help=_("How it goes, and what came of it"),
        )
        when = f"{look.job.begun[:16].replace('T', ' ')} UTC"
        say(f"{look.job.title} · {told(STATES[look.state])} · {when}", role="status")
