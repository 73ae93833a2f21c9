"""A notebook's cell of Headlight against BertViz's head view, of the same tensors, in Chromium.

Time is measured from the Python call to the first task after the frame with the picture, so it includes the
generation and the painting of the cell. BertViz draws the lines of its first layer; Headlight draws thumbnails of
all heads and a large map. BertViz's scripts are served locally instead of from a public host
(bench/bertviz_page.py), which favours BertViz.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.bertviz_page import NEEDED, attention, available_memory, head_document, painted_in, serve_document, serving
from bench.browser import Page, chromium
from bench.report import ReportRow

SIZES = (16, 128, 512)
HEADS = 12  # heads whose lines BertViz draws initially
PATIENCE = 120.0  # seconds for a page


def measure() -> Iterator[ReportRow]:
    """Yield a row for bytes and a row for time, for each length."""
    import headlight

    with chromium() as browser:
        for tokens in SIZES:
            maps, names = attention(tokens)
            mine, made = time_call(lambda maps=maps, names=names: headlight.view(maps, names)._repr_html_())  # type: ignore[misc]
            mine_all = made + cell_painted(browser, mine)
            if available_memory() < NEEDED:
                lacking = f"{kilo(mine)}, {mine_all:.2f} s; BertViz not made: too little memory is free"
                yield ReportRow(f"a notebook's cell, {tokens} tokens: ours", "told", lacking)
                continue
            theirs, made = time_call(lambda maps=maps, names=names: head_document(maps, names))  # type: ignore[misc]
            what = f"{kilo(mine)} against {kilo(theirs)}"
            yield ReportRow(f"a notebook's cell, {tokens} tokens, bytes: ours, BertViz's head view", "told", what)
            what = f"{mine_all:.2f} s against {wait_for_bertviz(browser, theirs, made, HEADS * tokens * tokens)}"
            yield ReportRow(f"from the call to painted, {tokens} tokens: ours, BertViz's head view", "told", what)


def time_call(call: Callable[[], str]) -> tuple[str, float]:
    """Return the result of a call, and its seconds."""
    began = time.perf_counter()
    return call(), time.perf_counter() - began


def cell_painted(browser: Any, cell: str) -> float:
    """Return the seconds from the request of a page with Headlight's cell until it is painted."""
    content = f"<!doctype html><meta charset=utf-8>{cell}".encode()
    page = Page(browser)
    try:
        with serving({"/": ("text/html; charset=utf-8", content)}) as url:
            page.page.goto(url, wait_until="commit")
            page.page.frame_locator("iframe").locator(".hl[data-painted]").wait_for(timeout=1000 * PATIENCE)
            return float(page.page.evaluate("() => globalThis.bench.afterFrame()")) / 1000
    finally:
        page.close()


def wait_for_bertviz(browser: Any, html: str, made: float, lines: int) -> str:
    """Return the time of BertViz's page as text, or a description of the failure."""
    try:
        with serve_document(html) as url:
            return f"{made + painted_in(browser, url, lines, PATIENCE) / 1000:.1f} s"
    except Exception as error:  # report a page that is too large for the browser
        return f"{made:.1f} s to HTML; not painted within {PATIENCE:.0f} s ({type(error).__name__})"


def kilo(html: str) -> str:
    """Format the size of a page in kB."""
    return f"{len(html.encode()) / 1000:,.0f} kB"
