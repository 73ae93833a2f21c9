"""A table that its reader may sort, filter and copy."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

MISSING = "–"  # Streamlit's own is the English word None


def draw_table(columns: Any, *, place: DeltaGenerator | None = None, **more: Any) -> None:
    """Draws ``columns`` (values by heading, or one mapping for each row) in ``place``, here where none is given.

    ``more`` is as ``st.dataframe`` has it. A missing value is a dash.
    """
    (place or st).dataframe(columns, hide_index=True, placeholder=MISSING, **more)
