"""The page Explore's view of all encoder, decoder and cross-attention heads for a translation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from i18n import _, translate
from ui.input.view_options import HELP, NAMES
from ui.pages.translate.heads import CrossHead, keep_head
from ui.pages.translate.options import SIDES, TranslateOptions
from ui.pages.translate.translation import Translation
from ui.run.notices import show_notice
from ui.run.services import get_trace_store
from ui.show.microscope import draw_microscope
from ui.state.params import set_params
from ui.state.session import UNSELECTED, get_view_state, set_view_state
from ui.state.view_state import ViewState

SIDE = "translate_side"


def parts(choice: ViewState, translation: Translation, head: CrossHead, options: TranslateOptions) -> None:
    """Draw the choice of the stack, then the view of its heads with this page's chosen cross head."""
    side = options.side
    trace = get_trace_store().by_writing(translation.trace) if side == "cross" else translation.trace
    st.session_state[SIDE] = side
    st.segmented_control(
        _("Attention"),
        list(SIDES),
        key=SIDE,
        format_func=lambda side: translate(NAMES[side]),
        required=True,
        on_change=_another,
        help=translate(HELP),
    )
    if side == "cross":
        choice = replace(choice, layer=head.layer, head=head.head)
    if side != "encoder" and choice.focus is None:
        choice = replace(choice, focus=None if options.step is None else min(options.step, translation.length))

    def on_keep(changes: Mapping[str, Any]) -> None:
        if side == "cross" and changes.get("layer") is not None:
            keep_head(changes["layer"], changes["head"])

    asked = (choice.text, choice.target, choice.model)
    draw_microscope(
        choice,
        trace,
        lambda: trace.id if asked == (get_view_state().text, get_view_state().target, get_view_state().model) else "",
        part=side,
        kept=on_keep,
    )
    if side != "encoder":
        show_notice(which_row(translation, side), "status")


def which_row(translation: Translation, side: str) -> str:
    """Return sentences on the token that a row's name refers to, with an example; "" if there is none."""
    row = translation.trace.target
    if row is None or len(row) < 3:
        return ""
    read, written = row.pieces[1], row.pieces[2]
    if side == "cross":
        return _(
            "Row “{written}”: the step after “{read}”, which writes “{written}”.",
            written=written,
            read=read,
        )
    return _(
        "Row “{read}”: the step after “{read}”, which writes “{written}”.",
        read=read,
        written=written,
    )


def _another() -> None:
    set_view_state(**UNSELECTED)
    set_params(TranslateOptions, side=st.session_state[SIDE])
