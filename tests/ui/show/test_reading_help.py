"""The help of a page: open on the first visit, and unchanged until the reader leaves the page."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def a_page() -> None:
    import streamlit as st

    from ui.show.reading_help import reading_help
    from ui.state.session import VIEW

    st.session_state[VIEW] = st.session_state.get("asked", "one")
    with reading_help():
        st.write("three lines")


def is_open(app: AppTest, page: str) -> bool:
    app.session_state["asked"] = page
    app.run()
    return bool(app.expander[0].proto.expanded)


def test_help_is_open_on_the_first_visit_of_each_page() -> None:
    app = AppTest.from_function(a_page).run()
    first = [is_open(app, page) for page in ("one", "one", "two", "two", "one", "two", "three")]
    assert first == [True, True, True, True, False, False, True]
