"""What a taught model can be asked: one view after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from training.jobs.job import Look
from ui.input.picking import control
from ui.pages.teach import changed, kept, own_sentence, results
from ui.pages.teach.options import SHOWS, Teach
from ui.state.options import own
from wording import _, sentence, told

VIEWS: Mapping[str, Callable[[Look], None]] = {
    "results": results.draw,
    "try": own_sentence.draw,
    "changed": changed.draw,
    "keep": kept.draw,
}
HELP = sentence("How well it does, on a sentence of your own, what changed in its heads, and how to keep it")


def shown(look: Look) -> None:
    """The view that is chosen."""
    control(Teach, "show", st.segmented_control, _("What to look at"), list(SHOWS), format_func=SHOWS.get,
            required=True, help=told(HELP))  # fmt: skip
    VIEWS[own(Teach).show](look)
