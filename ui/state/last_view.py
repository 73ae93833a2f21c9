"""What was looked at last: another page begins with that head, and an edited text keeps the view, where the reader has
chosen none."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ui.state.session import get_view_state, set_view_state
from ui.state.view_state import ViewState

LOOKED_AT = "looked_at"  # (model, layer, head) of the head that stood large on the last page
SEEN = "seen_view"  # (id of the trace, what of a choice its picture stood for)


def last_view_entries(model: str, trace_id: str, view: dict[str, Any]) -> dict[str, Any]:
    """What the session's state holds while this head stands large on this page, and this word and its target are
    shown, chosen or not."""
    seen = {name: view[name] for name in ("layer", "head", "focus", "to")}
    return {LOOKED_AT: (model, view["layer"], view["head"]), SEEN: (trace_id, seen)}


def set_last_view(model: str, trace_id: str, view: dict[str, Any]) -> None:
    """This is shown now."""
    st.session_state.update(last_view_entries(model, trace_id, view))


def get_last_view(trace_id: str) -> dict[str, Any]:
    """What was shown of this trace last; nothing where it was not shown."""
    last, view = st.session_state.get(SEEN, ("", {}))
    return dict(view) if last == trace_id else {}


def begin_with(choice: ViewState) -> ViewState:
    """The choice, with the head that was looked at last chosen where none is; once, so that the browser's way back
    leads back, and only where the same model reads."""
    model, layer, head = st.session_state.pop(LOOKED_AT, ("", None, None))
    if choice.layer is not None or model != choice.model:
        return choice
    set_view_state(layer=layer, head=head)
    return get_view_state()
