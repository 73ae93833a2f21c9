"""What a visitor does on the pages, in words; each waits until the component says what it has painted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from playwright.sync_api import Download, FloatRect, Locator, Page, expect

from tests.support.atrest import PATIENCE, rest
from tests.support.savedfiles import text_of

T = TypeVar("T")
FIELDS = ("base", "layer", "head", "focus", "tab")
# A page opened by its own address looks for Streamlit's server beside that address first, and is told 404.
DEEP_LINK = r"404 \(Not Found\).*/_stcore/"


def open_page(page: Page, url: str, path: str = "/", **query: object) -> None:
    """Open a page of the app with a view in its address."""
    page.goto(f"{url}{path}" + (f"?{urlencode(query)}" if query else ""))


def stands(page: Page) -> None:
    """Wait for the page's end; the app's first answer waits for its libraries, and they for a busy machine."""
    page.get_by_text("How to read this").wait_for(timeout=2 * PATIENCE)


# Waited for, not expected: at each look in vain an `expect` writes the whole page down, for what it would say in the
# end; that was a fifteenth of what the browser does in these tests.
def said(page: Page, pattern: str) -> str:
    """The one note on the page that reads like this regular expression, once it stands."""
    note = page.locator(".headlight-note").filter(has_text=re.compile(pattern))
    note.wait_for(timeout=3 * PATIENCE)
    return note.inner_text()


def says(page: Page, text: str | re.Pattern[str]) -> str:
    """The first note or refusal on the page that has this text, once it stands."""
    note = page.locator(".headlight-note, .headlight-refusal").filter(has_text=text).first
    note.wait_for()
    return note.inner_text()


def file_of(button: Locator) -> Download:
    """What a button saves: pressed by key once the page is at rest, since what comes late would move a click's aim."""
    rest(button.page)
    with button.page.expect_download() as coming:
        button.press("Enter")
    return coming.value


def table_of(file: str | Path) -> str:
    """Return the table of a downloaded zip, or of a downloaded text."""
    return text_of(Path(file).read_bytes())


def painted(page: Page, **wanted: object) -> dict[str, str]:
    """Wait until the component has painted (with these fields, where given); what it says it has painted."""
    pattern = r"\|".join(re.escape(str(wanted[name])) if name in wanted else "[^|]*" for name in FIELDS)
    place = page.locator("[data-painted]").first
    expect(place).to_have_attribute("data-painted", re.compile(f"^{pattern}$"), timeout=PATIENCE)
    return dict(zip(FIELDS, str(place.get_attribute("data-painted")).split("|"), strict=True))


def text_box(page: Page) -> Locator:
    """Where a visitor types."""
    return page.get_by_role("textbox", name="Text", exact=True)


def read(page: Page, text: str) -> None:
    """Type a text and press Enter."""
    text_box(page).fill(text)
    text_box(page).press("Enter")


def matched(pattern: str | re.Pattern[str], text: str) -> re.Match[str]:
    """Where a text has this pattern, which it must."""
    found = re.search(pattern, text)
    assert found, f"“{pattern}” is not in “{text}”"
    return found


def box_of(place: Locator) -> FloatRect:
    """Where something stands on the page, in pixels; it must be drawn."""
    box = place.bounding_box()
    assert box, f"{place} is not drawn"
    return box


def known(value: T | None) -> T:
    """A value that may be missing in other cases, and must not in this one."""
    assert value is not None
    return value
