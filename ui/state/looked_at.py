"""The head that was looked at last, so that another page can begin with it where the reader has chosen none."""

from __future__ import annotations

import streamlit as st

from ui.state.choice import Choice
from ui.state.session import choose, current

LOOKED_AT = "looked_at"  # (model, layer, head) of the head that stood large on the last page


def look_at(model: str, layer: int, head: int) -> None:
    """A head stands large on this page."""
    st.session_state[LOOKED_AT] = (model, layer, head)


def begin_with(choice: Choice) -> Choice:
    """The choice, with the head that was looked at last chosen where none is; once, so that the browser's way back
    leads back, and only where the same model reads."""
    model, layer, head = st.session_state.pop(LOOKED_AT, ("", None, None))
    if choice.layer is not None or model != choice.model:
        return choice
    choose(layer=layer, head=head)
    return current()
