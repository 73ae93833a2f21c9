"""Sections of a page that are drawn only while they are open."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


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
