"""The projector view: the page at 1.6 times its size without the sidebar, toggled by key or button."""

from __future__ import annotations

import streamlit as st

from viz.components.script import script, stylesheet, translated_words


def mount() -> None:
    """Draw the button, and listen for the key P outside text fields."""
    _COMPONENT(key="projector", data={"words": translated_words("projector/projector")})


_COMPONENT = st.components.v2.component(
    "headlight_projector",
    html='<div id="projector" class="hl"></div>',
    js=script("projector/projector"),
    css=stylesheet("shared/look", "projector/projector"),
)
