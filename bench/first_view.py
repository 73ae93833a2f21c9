"""The bytes that the browser receives from the submission of a text to its first complete view."""

from __future__ import annotations

from collections.abc import Iterator

from bench.bertviz_page import page_bytes
from bench.browser import Page, chromium
from bench.models import count_embedded
from bench.report import ReportRow
from bench.server import app
from bench.texts import text_of

LIMIT = 1_000_000
TOKENS = 512
ROUTES = "/headlight/"


def measure() -> Iterator[ReportRow]:
    """Yield a row for all messages and requests: thumbnails of all heads, a matrix, and the lines view."""
    text = text_of(TOKENS, count_embedded, seed=2)
    with app() as server, chromium() as browser:
        page = Page(browser)
        page.open(server.url)
        page.wait_until_painted()
        page.settle()
        static = sum(size for address, size in page.fetched.items() if ROUTES not in address)
        opening = (sum(page.frames), sum(size for address, size in page.fetched.items() if ROUTES in address))
        page.frames.clear()
        page.fetched.clear()
        page.submit(text)
        page.page.get_by_role("button", name="Lines").or_(page.page.get_by_role("tab", name="Lines")).first.click()
        page.wait_until_painted()
        page.settle()
        messages = sum(page.frames)
        routes = {a: size for a, size in page.fetched.items() if ROUTES in a}
        others = sum(page.fetched.values()) - sum(routes.values())
    total = messages + sum(routes.values()) + others
    size, how = page_bytes(TOKENS)
    parts = ", ".join(f"{a.split('?')[0].rsplit('/', 1)[-1]} {s / 1000:.0f} kB" for a, s in routes.items())
    note = (
        f"unpacked: WebSocket {messages / 1000:.0f} kB in {len(page.frames)} messages, {parts}"
        + (f", other {others / 1000:.0f} kB" if others else "")
        + f"; before it, once: Streamlit's own files {static / 1e6:.1f} MB, first page {sum(opening) / 1000:.0f} kB;"
        f" BertViz's document {size / 1e6:.0f} MB ({how}), {size / total:,.0f} times as much"
    )
    what = f"bytes to the browser for the first full view, {TOKENS} tokens, 72 heads"
    yield ReportRow(what, "≤ 1 MB", f"{total / 1000:.0f} kB", total <= LIMIT, note)
