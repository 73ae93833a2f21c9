"""After an edit the head stays: the head that the text would open on is offered, and not shown by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.view import View
from i18n import _
from ui.run.editing import was_edited
from ui.state.examples import example_of
from ui.state.selection import select
from ui.state.session import set_view_state
from ui.state.view_state import ViewState

OPEN: dict[str, Any] = {"layer": None, "head": None, "focus": None, "to": None, "facing": "out"}


def offer_strongest(choice: ViewState, view: View, selection: Mapping[str, Any]) -> tuple[int, int] | None:
    """A button that opens an edited text anew, where that would show another head than this; the head it would be."""
    if not was_edited(view.trace.id):
        return None
    anew = select(replace(choice, **OPEN), view, example_of(view.trace.text, view.trace.pair or ""))[0]
    layer, head = anew["layer"], anew["head"]
    if (layer, head) == (selection["layer"], selection["head"]):
        return layer, head
    st.button(
        _(
            "The strongest head for this text is now layer {layer} · head {head}: show it",
            layer=layer + choice.count,
            head=head + choice.count,
        ),
        on_click=set_view_state,
        kwargs=OPEN,
        help=_("The text was edited, and the head, the word and its target stayed. This opens it as a new text."),
    )
    return layer, head
