"""Runs the page again when the teacher of its class has done something."""

from __future__ import annotations

import streamlit as st

from viz.components.script import script


def mount(address: str, version: int) -> None:
    """Ask at ``address`` whether the room's version is another than this; assets/app.css gives it no room."""
    _COMPONENT(key="follower", data={"address": address, "version": version}, on_changed_change=_nothing)


def _nothing() -> None:
    """The run that a change asks for is all that it needs."""


_COMPONENT = st.components.v2.component("headlight_follower", html="<span></span>", js=script("follower/follower"))
