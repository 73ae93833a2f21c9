"""Sections of a page: the help is open on the first visit; others are drawn only while they are open."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def a_page() -> None:
    import streamlit as st

    from ui.show.sections import reading_help
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


def a_folded_page() -> None:

    from ui.show.sections import open_section

    section = open_section("Rows", "rows_open")
    if section is not None:
        section.write("a row")


def test_a_folded_section_is_not_drawn() -> None:
    app = AppTest.from_function(a_folded_page).run()
    assert [section.label for section in app.expander] == ["Rows"]
    assert not app.markdown
    app.session_state["rows_open"] = True
    assert [text.value for text in app.run().expander[0].markdown] == ["a row"]
    app.session_state["rows_open"] = False
    assert not app.run().markdown
