"""The main script: what every page shares. It runs first, then the page."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from ui.input.sidebar import sidebar
from ui.places import ASSETS, ROOT
from ui.run.idle_collection import SCRIPTS
from ui.state.session import begin
from viz.components.rest import rest
from viz.components.theme_change import theme_change

st.set_page_config(page_title="Headlight", page_icon=str(ASSETS / "icon.png"), layout="wide")
st.html(ASSETS / "app.css")
rest.mount()
theme_change.mount()

# Section -> pages in the order of reading: file, title, icon, and the address where it is not the file's name.
PAGES: dict[str, list[tuple[str, str, str, str | None]]] = {
    "Look": [
        ("explore.py", "Explore", "grid_view", None),
        ("compare.py", "Side by side", "compare", None),
        ("bertviz_views.py", "BertViz", "polyline", "bertviz"),
    ],
    "Learn": [
        ("tutorials.py", "Tutorials", "menu_book", None),
        ("step_by_step.py", "Step by step", "stairs", None),
        ("whole_pass.py", "The whole pass", "route", None),
        ("by_hand.py", "By hand", "calculate", None),
        ("positions.py", "Positions", "format_list_numbered", None),
        ("tokens.py", "Tokens", "content_cut", None),
        ("vectors.py", "Vectors", "scatter_plot", None),
        ("block.py", "The block", "view_agenda", None),
        ("why_attention.py", "Why attention", "lightbulb", None),
    ],
    "Predict": [
        ("masked_words.py", "Masked words", "border_color", None),
        ("next_sentence.py", "Next sentence", "compare_arrows", None),
        ("translate.py", "Translate", "translate", None),
        ("generate.py", "Generate", "edit_note", None),
    ],
    "Probe": [
        ("find.py", "Find", "travel_explore", None),
        ("measure.py", "Measure", "speed", None),
        ("roles.py", "Roles", "badge", None),
        ("cause.py", "Cause", "science", None),
        ("agreement.py", "Agreement", "balance", None),
        ("teach.py", "Teach", "school", None),
    ],
}

ALONE = ("by_hand", "tutorials")  # which model reads, and how its maps are looked at, says nothing there


def _page(file: str, title: str, icon: str, address: str | None) -> StreamlitPage:
    first = file == "explore.py"
    return st.Page(ROOT / "pages" / file, title=title, icon=f":material/{icon}:", url_path=address, default=first)


page = st.navigation(
    {section: [_page(*entry) for entry in entries] for section, entries in PAGES.items()}, expanded=True
)
with SCRIPTS.run():
    choice = begin(page.url_path)
    if page.url_path not in ALONE:
        with st.sidebar:
            sidebar(choice)
    page.run()
