"""Sections of a page that can be folded: “How to read”, and sections that are drawn only while they are open."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _, gettext_lazy, translate

USE = gettext_lazy(
    "- Attention does not show what the model uses ([arXiv:1902.10186](https://arxiv.org/abs/1902.10186), "
    "[arXiv:1908.04626](https://arxiv.org/abs/1908.04626)); ablation tests it."
)


def reading_help() -> DeltaGenerator:
    """Return the container of a page's folded “How to read” section, for the help text."""
    return st.expander(_("How to read"))


def draw_reading_help(text: str) -> None:
    """Draw the “How to read” section with ``text``, which ends with a list, and an item on attention."""
    with reading_help():
        st.markdown(f"{text}\n{translate(USE)}")


def open_section(label: str, key: str) -> DeltaGenerator | None:
    """Return the container of a section while it is open, and None while it is folded; it is folded at first.

    Check the container before the content is computed: then a folded section costs nothing, and the browser does not
    load the scripts of its tables and charts. ``key`` is the session key of its state, True while it is open.
    """
    section = st.expander(label, key=key, on_change="rerun")
    return section if section.open else None
