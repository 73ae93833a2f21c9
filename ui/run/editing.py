"""When a text is edited: both texts' traces, and what of the view stays between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from inference import Refusal
from ui.run.reading import READ, id_of, request_of
from ui.run.shelf import backend, shelf
from ui.state.choice import Choice
from ui.state.edited import kept
from ui.state.looked_at import seen

LONG = 5_000  # characters; the embedded model reads so much in less than a second
EDITED = "edited_trace"  # id of the trace of an edited text, which kept the head of the text before


def what_stays(before: Choice, after: Choice) -> tuple[dict[str, Any], list[str]]:
    """What of a view the edited text keeps, and a sentence for each word that is gone; nothing for a new text.

    The edited text is read here, once: the page finds its trace. Where it cannot be read, the page says why. A long
    text, of which nothing stays, is read by the page, which tells how far it is and has a way to stop it.
    """
    if len(after.text) + len(after.pair) + len(after.target) > LONG:
        return {}, []
    old = shelf().find(id_of(before))
    if before.opened or old is None or backend().status(after.model, after.revision or None) != "loaded":
        return {}, []
    try:
        new = backend().trace(request_of(after))
    except Refusal:
        return {}, []
    st.session_state[READ] = new.id
    found = kept(replace(before, **seen(old.id)), old, new)
    if found is None:
        return {}, []
    st.session_state[EDITED] = new.id
    return found


def was_edited(trace_id: str) -> bool:
    """Whether this trace's text was edited, and shows the head of the text before."""
    return bool(st.session_state.get(EDITED) == trace_id)
