"""Notices about who can reach a class, and how long names and answers are stored."""

from __future__ import annotations

import streamlit as st

from classroom.store import KEPT
from i18n import _
from ui.run.notices import show_notice


def this_machine_only() -> None:
    """Show that students cannot reach the app, and how to start it for them."""
    show_notice(
        _(
            "Students cannot reach this app: it was started for this machine only. Restart it with “make run "
            "FOR=class” or “headlight serve”."
        ),
        role="status",
    )


def show_storage_time() -> None:
    """Show how long names and answers are stored, and who deletes them."""
    st.caption(
        _(
            "Names and answers are stored on the machine that runs this app until the teacher closes the "
            "class, or {hours} hours after its last change.",
            hours=int(KEPT // 3600),
        )
    )
