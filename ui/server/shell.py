"""The main script: what every page shares. It runs first, then the page."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from ui.attending.bar import attend, follow
from ui.input.languages import pick_language
from ui.input.sidebar import sidebar
from ui.places import ASSETS, ROOT
from ui.run.counters import PAGE_SECONDS
from ui.run.idle_collection import SCRIPTS
from ui.show import tour
from ui.state import attending, language
from ui.state.session import begin, current
from viz.components.projector import projector
from viz.components.rest import rest
from viz.components.theme_change import theme_change
from wording import pick_language_by, sentence, told

st.set_page_config(page_title="Headlight", page_icon=str(ASSETS / "icon.png"), layout="wide")
st.html(ASSETS / "app.css")
pick_language_by(language.here)
attending.take(language.take(st.query_params.to_dict()))
rest.mount()
theme_change.mount(language.tag())

# Section -> pages in the order of reading: file, title, icon, and the address where it is not the file's name.
PAGES: dict[str, list[tuple[str, str, str, str | None]]] = {
    sentence("Look"): [
        ("explore.py", sentence("Explore"), "grid_view", None),
        ("pictures.py", sentence("Pictures"), "image", None),
        ("compare.py", sentence("Side by side"), "compare", None),
        ("bertviz_views.py", sentence("BertViz"), "polyline", "bertviz"),
    ],
    sentence("Learn"): [
        ("classroom.py", sentence("A class"), "groups", None),
        ("tutorials.py", sentence("Tutorials"), "menu_book", None),
        ("lessons.py", sentence("Lessons"), "cast_for_education", None),
        ("step_by_step.py", sentence("Step by step"), "stairs", None),
        ("whole_pass.py", sentence("The whole pass"), "route", None),
        ("by_hand.py", sentence("By hand"), "calculate", None),
        ("positions.py", sentence("Positions"), "format_list_numbered", None),
        ("tokens.py", sentence("Tokens"), "content_cut", None),
        ("vectors.py", sentence("Vectors"), "scatter_plot", None),
        ("block.py", sentence("The block"), "view_agenda", None),
        ("why_attention.py", sentence("Why attention"), "lightbulb", None),
    ],
    sentence("Predict"): [
        ("masked_words.py", sentence("Masked words"), "border_color", None),
        ("next_sentence.py", sentence("Next sentence"), "compare_arrows", None),
        ("translate.py", sentence("Translate"), "translate", None),
        ("generate.py", sentence("Generate"), "edit_note", None),
    ],
    sentence("Probe"): [
        ("find.py", sentence("Find"), "travel_explore", None),
        ("measure.py", sentence("Measure"), "speed", None),
        ("roles.py", sentence("Roles"), "badge", None),
        ("cause.py", sentence("Cause"), "science", None),
        ("agreement.py", sentence("Agreement"), "balance", None),
        ("teach.py", sentence("Teach"), "school", None),
    ],
}

# Where it says nothing which model reads, and how its maps are looked at.
ALONE = ("by_hand", "classroom", "lessons", "pictures", "tutorials")


def _page(file: str, title: str, icon: str, address: str | None) -> StreamlitPage:
    first = file == "explore.py"
    return st.Page(ROOT / "pages" / file, title=told(title), icon=f":material/{icon}:", url_path=address, default=first)


pages = {told(section): [_page(*entry) for entry in entries] for section, entries in PAGES.items()}
page = st.navigation(pages, expanded=True)
with SCRIPTS.run(), PAGE_SECONDS.labels(page.url_path or "explore").time():
    seen = follow(page, {one.url_path: one for entries in pages.values() for one in entries})
    begin(page.url_path)
    tour.keep_own_choice(page.url_path)
    choice = current()
    with st.sidebar:
        if page.url_path not in ALONE:
            sidebar(choice)
        pick_language()
        projector.mount()
    attend(page, seen)
    tour.bar(page.url_path)
    page.run()
