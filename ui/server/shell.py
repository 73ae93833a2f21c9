"""The main script of Streamlit, which runs before each page: the setup that all pages share."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from i18n import set_language_source, translate
from ui.classroom import attend, follow
from ui.paths import ASSETS, ROOT
from ui.run.counters import PAGE_SECONDS
from ui.run.current_lesson import open_lesson
from ui.run.idle_collection import SCRIPTS
from ui.show import tour
from ui.show.top_bar import draw_top_bar
from ui.show.views import browser_title
from ui.state import classroom, language
from ui.state.navigation import FIELD, GROUPS, HIDDEN, AppPage, view_at
from ui.state.session import begin, current_view
from viz.components.page_scripts import track_idle, watch_theme

st.set_page_config(page_title="Headlight", page_icon=str(ASSETS / "icon.png"), layout="wide")
st.html(ASSETS / "app.css")
set_language_source(language.session_language)
classroom.take_address(language.take_address(st.query_params.to_dict()))
track_idle()
watch_theme(language.tag())


def _page(page: AppPage) -> StreamlitPage:
    return st.Page(
        ROOT / "pages" / f"{page.file}.py",
        title=translate(page.title),
        icon=f":material/{page.icon}:",
        url_path=page.path or None,
        default=page.path == "",
        visibility="hidden" if page in HIDDEN else "visible",
    )


groups = {translate(name): [_page(page) for page in pages] for name, pages in GROUPS.items()}
page = st.navigation({**groups, "": [_page(page) for page in HIDDEN]}, expanded=True)
view = view_at(page.url_path, st.query_params.get(FIELD))
with SCRIPTS.run(), PAGE_SECONDS.labels(view).time():
    seen = follow(page.url_path)
    begin(page.url_path)
    tour.keep_own_choice(view)
    if current_view() == classroom.LESSONS:
        open_lesson()
    st.set_page_config(page_title=(title := browser_title()))
    draw_top_bar()
    with st.container(key="above_title"):
        attend(seen)
        tour.bar(view)
    page.run()
    if (now := browser_title()) != title:  # another model than the selected one has answered
        st.set_page_config(page_title=now)
