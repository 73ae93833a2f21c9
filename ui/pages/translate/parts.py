"""The Explore component for exactly this translation: encoder, decoder and cross-attention, every head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from ui.input.parts import HELP, NAMES
from ui.pages.translate.heads import CrossHead, keep_head
from ui.pages.translate.options import SIDES, Translate
from ui.pages.translate.translation import Translation
from ui.show.microscope import microscope
from ui.state.choice import Choice
from ui.state.options import choose_own
from ui.state.session import UNSELECTED, choose, current

SIDE = "translate_side"


def parts(choice: Choice, translation: Translation, head: CrossHead, options: Translate) -> None:
    """Which attention, then the microscope on it; of the cross heads the one that is chosen on this page."""
    trace, side = translation.trace, options.side
    st.session_state[SIDE] = side
    st.segmented_control(
        "Attention",
        list(SIDES),
        key=SIDE,
        format_func=NAMES.__getitem__,
        required=True,
        on_change=_another,
        help=HELP,
    )
    if side == "cross":
        choice = replace(choice, layer=head.layer, head=head.head)
    if side != "encoder" and choice.focus is None:
        choice = replace(choice, focus=None if options.step is None else min(options.step, translation.length))

    def kept(changes: Mapping[str, Any]) -> None:
        if side == "cross" and changes.get("layer") is not None:
            keep_head(changes["layer"], changes["head"])

    asked = (choice.text, choice.target, choice.model)
    microscope(
        choice,
        trace,
        lambda: trace.id if asked == (current().text, current().target, current().model) else "",
        part=side,
        kept=kept,
    )
    if side != "encoder":
        st.caption("Rows are what the decoder has read: the row of a token is the step that writes the *next* one.")


def _another() -> None:
    choose(**UNSELECTED)
    choose_own(Translate, side=st.session_state[SIDE])
