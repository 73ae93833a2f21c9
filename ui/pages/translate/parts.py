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
from ui.run.refusals import say
from ui.run.shelf import shelf
from ui.show.microscope import microscope
from ui.state.choice import Choice
from ui.state.options import choose_own
from ui.state.session import UNSELECTED, choose, current
from wording import _, told

SIDE = "translate_side"


def parts(choice: Choice, translation: Translation, head: CrossHead, options: Translate) -> None:
    """Which attention, then the microscope on it; of the cross heads the one that is chosen on this page."""
    side = options.side
    trace = shelf().by_writing(translation.trace) if side == "cross" else translation.trace
    st.session_state[SIDE] = side
    st.segmented_control(
        _("Attention"),
        list(SIDES),
        key=SIDE,
        format_func=lambda side: told(NAMES[side]),
        required=True,
        on_change=_another,
        help=told(HELP),
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
        say(which_row(translation, side), "status")


def which_row(translation: Translation, side: str) -> str:
    """Which row is which token's, with one of this translation."""
    row = translation.trace.target
    if row is None or len(row) < 3:
        return ""
    read, written = row.pieces[1], row.pieces[2]
    if side == "cross":
        return _(
            "A row bears the name of the token that its step writes, as everywhere on this page: the row "
            "“{written}” is the step after “{read}”, which writes “{written}”. ⟨end⟩ is the step after the last token.",
            written=written,
            read=read,
        )
    return _(
        "Here rows and columns are the tokens that stand already, so a row bears the name of the token read last: the "
        "row “{read}” is the step after “{read}”, which writes “{written}”.",
        read=read,
        written=written,
    )


def _another() -> None:
    choose(**UNSELECTED)
    choose_own(Translate, side=st.session_state[SIDE])
