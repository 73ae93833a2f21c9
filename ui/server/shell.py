"""The main script of Streamlit: the setup that all pages share; it runs before each page."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from i18n import gettext_lazy, set_language_source, translate
from ui.classroom import attend, follow
from ui.input.sidebar import pick_language, sidebar
from ui.paths import ASSETS, ROOT
from ui.run.counters import PAGE_SECONDS
from ui.run.idle_collection import SCRIPTS
from ui.show import tour
from ui.state import classroom, language
from ui.state.session import begin, get_view_state
from viz.components.idle_tracker import idle_tracker
from viz.components.projector import projector
from viz.components.theme_change import theme_change

st.set_page_config(page_title="Headlight", page_icon=str(ASSETS / "icon.png"), layout="wide")
st.html(ASSETS / "app.css")
set_language_source(language.session_language)
classroom.take_address(language.take_address(st.query_params.to_dict()))
idle_tracker.mount()
theme_change.mount(language.tag())

# Section -> pages in reading order: file, title, icon, and the address if it differs from the file's name.
PAGES: dict[str, list[tuple[str, str, str, str | None]]] = {
    gettext_lazy("Look"): [
        ("explore.py", gettext_lazy("Explore"), "grid_view", None),
        ("pictures.py", gettext_lazy("Pictures"), "image", None),
        ("compare.py", gettext_lazy("Side by side"), "compare", None),
        ("bertviz_views.py", gettext_lazy("BertViz"), "polyline", "bertviz"),
    ],
    gettext_lazy("Learn"): [
        ("classroom.py", gettext_lazy("A class"), "groups", None),
        ("tutorials.py", gettext_lazy("Tutorials"), "menu_book", None),
        ("lessons.py", gettext_lazy("Lessons"), "cast_for_education", None),
        ("step_by_step.py", gettext_lazy("Step by step"), "stairs", None),
        ("whole_pass.py", gettext_lazy("The whole pass"), "route", None),
        ("by_hand.py", gettext_lazy("By hand"), "calculate", None),
        ("positions.py", gettext_lazy("Positions"), "format_list_numbered", None),
        ("tokens.py", gettext_lazy("Tokens"), "content_cut", None),
        ("vectors.py", gettext_lazy("Vectors"), "scatter_plot", None),
        ("block.py", gettext_lazy("The block"), "view_agenda", None),
        ("why_attention.py", gettext_lazy("Why attention"), "lightbulb", None),
    ],
    gettext_lazy("Predict"): [
        ("masked_words.py", gettext_lazy("Masked words"), "border_color", None),
        ("next_sentence.py", gettext_lazy("Next sentence"), "compare_arrows", None),
        ("translate.py", gettext_lazy("Translate"), "translate", None),
        ("generate.py", gettext_lazy("Generate"), "edit_note", None),
    ],
    gettext_lazy("Probe"): [
        ("find.py", gettext_lazy("Find"), "travel_explore", None),
        ("measure.py", gettext_lazy("Measure"), "speed", None),
        ("roles.py", gettext_lazy("Roles"), "badge", None),
        ("cause.py", gettext_lazy("Cause"), "science", None),
        ("agreement.py", gettext_lazy("Agreement"), "balance", None),
        ("teach.py", gettext_lazy("Teach"), "school", None),
    ],
}

# Pages without the sidebar of model and view options.
ALONE = ("by_hand", "classroom", "lessons", "pictures", "tutorials")


def _page(file: str, title: str, icon: str, address: str | None) -> StreamlitPage:
    first = file == "explore.py"
    return st.Page(
        ROOT / "pages" / file, title=translate(title), icon=f":material/{icon}:", url_path=address, default=first
    )


pages = {translate(section): [_page(*entry) for entry in entries] for section, entries in PAGES.items()}
page = st.navigation(pages, expanded=True)
with SCRIPTS.run(), PAGE_SECONDS.labels(page.url_path or "explore").time():
    seen = follow(page, {one.url_path: one for entries in pages.values() for one in entries})
    begin(page.url_path)
    tour.keep_own_choice(page.url_path)
    choice = get_view_state()
    with st.sidebar:
        if page.url_path not in ALONE:
            sidebar(choice)
        pick_language()
        projector.mount()
    attend(page, seen)
    tour.bar(page.url_path)
    page.run()
