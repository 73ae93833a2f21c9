"""When a text is edited: both texts' traces, and what of the view stays between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from inference import UserError
from ui.run.services import get_backend, get_trace_store
from ui.run.traces import READ, id_of, request_of
from ui.state.edit_carry_over import carry_over
from ui.state.last_view import get_last_view
from ui.state.view_state import ViewState

LONG = 5_000  # characters; the embedded model reads so much in less than a second
EDITED = "edited_trace"  # id of the trace of an edited text, which kept the head of the text before


def what_stays(before: ViewState, after: ViewState) -> tuple[dict[str, Any], list[str]]:
    """What of a view the edited text keeps, and a sentence for each word that is gone; nothing for a new text.

    The edited text is read here, once: the page finds its trace. Where it cannot be read, the page says why. A long
    text, of which nothing stays, is read by the page, which tells how far it is and has a way to stop it.
    """
    if len(after.text) + len(after.pair) + len(after.target) > LONG:
        return {}, []
    old = get_trace_store().find(id_of(before))
    if before.opened or old is None or get_backend().status(after.model, after.revision or None) != "loaded":
        return {}, []
    try:
        new = get_backend().trace(request_of(after))
    except UserError:
        return {}, []
    st.session_state[READ] = new.id
    found = carry_over(replace(before, **get_last_view(old.id)), old, new)
    if found is None:
        return {}, []
    st.session_state[EDITED] = new.id
    return found


def was_edited(trace_id: str) -> bool:
    """Whether this trace's text was edited, and shows the head of the text before."""
    return bool(st.session_state.get(EDITED) == trace_id)
