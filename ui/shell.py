"""The main script: what every page shares. It runs first, then the page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui.session import begin
from ui.sidebar import sidebar

ROOT = Path(__file__).resolve().parents[1]

st.set_page_config(page_title="Headlight", page_icon=str(ROOT / "assets" / "icon.png"), layout="wide")
st.html(ROOT / "assets" / "app.css")

page = st.navigation(
    [
        st.Page(ROOT / "pages" / "explore.py", title="Explore", icon=":material/grid_view:", default=True),
        st.Page(ROOT / "pages" / "bertviz_views.py", title="BertViz", icon=":material/polyline:", url_path="bertviz"),
    ]
)
choice = begin(page.url_path)
with st.sidebar:
    sidebar(choice)
page.run()
