"""Browser tests of the download button: current content, independent sessions, no rerun of the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.apps import Scripts
from tests.support.atrest import click
from tests.support.repository import ROOT

PAGE = """
import streamlit as st

from ui.show.tables import download_button

state = st.session_state
state.setdefault("drawn", 0)
state.drawn += 1
count = st.number_input("Count", 0, 100, key="count")

download_button("Save as CSV", f"count\\n{count}\\n", "count.csv", "The number")
_, right = st.columns(2)
download_button("Save the bytes", bytes([count]), "count.bin", "One byte", kind="application/octet-stream", place=right)
st.text(f"drawn {state.drawn} with {count}")
"""


@pytest.fixture(scope="module")
def url(scripts: Scripts) -> str:
    return scripts.page("saving", PAGE)


def saved(page: Page, label: str) -> tuple[str, bytes]:
    with page.expect_download() as waiting:
        click(page.get_by_role("button", name=label))
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def test_a_file_holds_what_the_page_shows_whatever_others_do_meanwhile(url: str, page: Page) -> None:
    page.goto(url)
    for count in (1, 2):
        click(page.get_by_role("button", name="Increment"))
        expect(page.get_by_text(f"drawn {count + 1} with {count}")).to_be_visible()
    other = page.context.new_page()  # A new page opens another session.
    other.goto(url)
    click(other.get_by_role("button", name="Increment"))
    expect(other.get_by_text("drawn 2 with 1")).to_be_visible()
    other.close()
    assert saved(page, "Save as CSV") == ("count.csv", b"count\n2\n")
    assert saved(page, "Save the bytes") == ("count.bin", b"\x02")
    expect(page.get_by_text("drawn 3 with 2")).to_be_visible()


def test_no_page_has_another_button_that_saves() -> None:
    pages = [ROOT / "app.py", *(path for room in ("pages", "ui", "viz") for path in (ROOT / room).rglob("*.py"))]
    assert [path.name for path in pages if ".download_button(" in path.read_text(encoding="utf-8")] == ["tables.py"]
