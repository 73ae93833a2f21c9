"""A layout for a projector: larger type, no sidebar; one key, or a button, there and back."""

from __future__ import annotations

import streamlit as st

from viz.components.script import script, stylesheet, words


def mount() -> None:
    """The button, and the key P wherever nothing is typed."""
    _COMPONENT(key="projector", data={"words": words("projector/projector")})


_COMPONENT = st.components.v2.component(
    "headlight_projector",
    html='<div id="projector" class="hl"></div>',
    js=script("projector/projector"),
    css=stylesheet("shared/look", "projector/projector"),
)
