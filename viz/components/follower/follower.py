"""A component that reruns the page if the teacher of the class changed something."""

from __future__ import annotations

import streamlit as st

from viz.components.script import script


def mount(address: str, version: int) -> None:
    """Poll ``address`` for a version other than ``version``; assets/app.css hides the component."""
    _COMPONENT(key="follower", data={"address": address, "version": version}, on_changed_change=_nothing)


def _nothing() -> None:
    """Accept the callback; the rerun that it causes is the whole effect."""


_COMPONENT = st.components.v2.component("headlight_follower", html="<span></span>", js=script("follower/follower"))
