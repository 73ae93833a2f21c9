"""Actions of a visitor on the pages. Most of them wait for the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from playwright.sync_api import Download, FilePayload, FloatRect, Locator, Page, expect

from inference import EMBEDDED
from tests.support.atrest import PATIENCE, click, hears_clicks, rest
from tests.support.savedfiles import text_of
from ui.show.top_bar import UPLOAD
from ui.state.navigation import BY_VIEW, HIDDEN, title_of, view_fields

T = TypeVar("T")
SAVED_TRACE = f".st-key-{UPLOAD}"
FIELDS = ("base", "layer", "head", "focus", "tab")
# A page that is opened by its address first requests Streamlit's server below that address and gets a 404.
DEEP_LINK = r"404 \(Not Found\).*/_stcore/"


def open_page(page: Page, url: str, path: str = "/", **query: object) -> None:
    """Open a page of the app with a view in its address.

    A view that names no model is read by the embedded encoder, the default of the requests from which tests compute
    its numbers. An address without a query opens with the app's default model, and a lesson with its own.
    """
    named = {"model": EMBEDDED, **query} if query and path != "/lessons" else query
    page.goto(f"{url}{path}" + (f"?{urlencode(named)}" if named else ""))


def open_options(page: Page) -> None:
    """Open the popover of the view options."""
    click(page.get_by_role("button", name="View options"))


def open_saved_trace(page: Page, file: FilePayload | Path) -> None:
    """Open a file in the popover of saved traces"""
    if not page.locator(SAVED_TRACE).is_visible():
        click(page.locator(".st-key-saved_traces button"))
    page.locator(f"{SAVED_TRACE} input[type=file]").set_input_files(file)


def address_of(view: str) -> str:
    """Return the address of a view, such as "/?view=find"."""
    fields = urlencode(view_fields(view))
    return f"/{BY_VIEW[view].path}" + (f"?{fields}" if fields else "")


def go_to(page: Page, view: str) -> None:
    """Open a view of the app by the navigation and the tabs of its page."""
    there = BY_VIEW[view]
    place = page.locator(".st-key-top_bar") if there in HIDDEN else page.get_by_test_id("stSidebar")
    click(place.get_by_role("link", name=there.title, exact=True))
    if len(there.views) > 1:  # The link of the page that is open keeps its view.
        # The page before may have a control with the name of the tab.
        expect(page.get_by_role("heading", level=1)).to_have_text(there.title)
        click(page.get_by_role("radio", name=title_of(view), exact=True))


def open_class(page: Page, url: str) -> str:
    """Open a class of students on the page Class; return its code."""
    open_page(page, url, "/classroom")
    click(page.get_by_role("button", name="Open a class"))
    return page.locator("[data-testid=stMetricValue]").inner_text().strip()


def stands(page: Page) -> None:
    """Wait for the end of the page; the first page of an app waits for the import of libraries."""
    page.get_by_text("How to read").wait_for(timeout=2 * PATIENCE)


# This function waits without `expect`, because each failed check of an `expect` serialises the page for an error
# message, which took a fifteenth of the browser's time in these tests.
def said(page: Page, pattern: str) -> str:
    """Wait for the single note that matches a regular expression; return its text."""
    note = page.locator(".headlight-note").filter(has_text=re.compile(pattern))
    note.wait_for(timeout=3 * PATIENCE)
    return note.inner_text()


def says(page: Page, text: str | re.Pattern[str]) -> str:
    """Wait for the first note or refusal that contains ``text``; return its text."""
    note = page.locator(".headlight-note, .headlight-refusal").filter(has_text=text).first
    note.wait_for()
    return note.inner_text()


def file_of(button: Locator) -> Download:
    """Return the download of a button, after the page is at rest.

    The button is pressed by key, because late parts of the page would move it away from a click.
    """
    rest(button.page)
    with button.page.expect_download() as coming:
        button.press("Enter")
    return coming.value


def table_of(file: str | Path) -> str:
    """Return the table of a downloaded zip file, or a downloaded text."""
    return text_of(Path(file).read_bytes())


def painted(page: Page, **wanted: object) -> dict[str, str]:
    """Wait until the component has painted the fields ``wanted``; return all fields that it reports."""
    pattern = r"\|".join(re.escape(str(wanted[name])) if name in wanted else "[^|]*" for name in FIELDS)
    place = page.locator("[data-painted]").first
    expect(place).to_have_attribute("data-painted", re.compile(f"^{pattern}$"), timeout=PATIENCE)
    return dict(zip(FIELDS, str(place.get_attribute("data-painted")).split("|"), strict=True))


def text_box(page: Page) -> Locator:
    """Return the text box."""
    return page.get_by_role("textbox", name="Text", exact=True)


def read(page: Page, text: str) -> None:
    """Type a text and press Enter."""
    text_box(page).fill(text)
    text_box(page).press("Enter")


def matched(pattern: str | re.Pattern[str], text: str) -> re.Match[str]:
    """Return the match of ``pattern`` in ``text``; fail if there is none."""
    found = re.search(pattern, text)
    assert found, f"“{pattern}” is not in “{text}”"
    return found


def box_of(place: Locator) -> FloatRect:
    """Return an element's bounding box in pixels; fail if the element is not drawn."""
    box = place.bounding_box()
    assert box, f"{place} is not drawn"
    return box


def click_cell(page: Page, place: tuple[int, int], size: tuple[int, int]) -> None:
    """Click cell ``place`` (row, column) of the page's first heat map, which has ``size`` (rows, columns)."""
    chart = page.locator(".js-plotly-plot").first
    cells = chart.locator(".heatmaplayer image")
    cells.scroll_into_view_if_needed()
    rest(page)
    hears_clicks(chart)
    box = box_of(cells)
    down, across = ((at + 0.5) / many for at, many in zip(place, size, strict=True))
    page.mouse.click(box["x"] + box["width"] * across, box["y"] + box["height"] * down)


def known(value: T | None) -> T:
    """Return ``value``; fail if it is None."""
    assert value is not None
    return value
