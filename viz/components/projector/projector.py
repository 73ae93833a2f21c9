"""The projector view: everything 1.6 times as large, without the sidebar, entered and left by a key or a button."""

from __future__ import annotations

import streamlit as st

from viz.components.script import script, stylesheet, translated_words


def mount() -> None:
    """The button, and the key P wherever nothing is typed."""
    _COMPONENT(key="projector", data={"words": translated_words("projector/projector")})


_COMPONENT = st.components.v2.component(
    "headlight_projector",
    html='<div id="projector" class="hl"></div>',
    js=script("projector/projector"),
    css=stylesheet("shared/look", "projector/projector"),
)
