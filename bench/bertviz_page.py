"""BertViz's views, served locally for a comparison with the app, and Headlight's notebook cell.

BertViz's documents load require.js, d3 and jQuery from a public host. Here d3 and jQuery come from installed packages
(d3 5.7.0 in mpld3, jQuery in XStatic-jQuery), and a line of script replaces require.js. Nothing else is changed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from typing import Any

from bench.browser import Page, chromium
from bench.models import EMBEDDED, build, inputs, tokenizer
from bench.report import ReportRow

REQUIRE = '<script src="https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js"></script>'
SHIM = "window.require={config(){}};window.requirejs=(names,run)=>run(window.jQuery,window.d3);"
SCRIPTS = {"/jquery.js": ("XStatic-jQuery", "jquery.min.js"), "/d3.js": ("mpld3", "d3.v5.min.js")}
NEEDED = (
    10 * 2**30
)  # free memory, in bytes, needed for the document of 512 tokens, because every weight becomes a Python object
SMALL = 128


def attention(tokens: int) -> tuple[tuple[Any, ...], list[str]]:
    """Return the embedded model's attention maps of a generated text of ``tokens`` tokens, and the tokens."""
    import torch

    given = inputs(tokens)
    with torch.inference_mode():
        maps = build(EMBEDDED, "eager")(**given, output_attentions=True).attentions
    return maps, tokenizer().convert_ids_to_tokens(given["input_ids"][0])


def document(maps: tuple[Any, ...], names: list[str]) -> str:
    """Return the HTML of BertViz's model view (all layers and heads)."""
    from bertviz import model_view

    return str(model_view(maps, names, html_action="return").data)


def head_document(maps: tuple[Any, ...], names: list[str]) -> str:
    """Return the HTML of BertViz's head view, as in a notebook cell."""
    from bertviz import head_view

    return str(head_view(maps, names, html_action="return").data)


def page_bytes(tokens: int) -> tuple[int, str]:
    """Return the bytes of BertViz's model view for a text of ``tokens`` tokens, and a note on the measurement.

    If too little memory is free, the size is extrapolated from a shorter text.
    """
    if available_memory() > NEEDED:
        return made_apart(tokens), "made by bertviz"
    small = made_apart(SMALL)
    times = (tokens / SMALL) ** 2
    return int(
        small * times
    ), f"extrapolated: {small / 1e6:.0f} MB made by bertviz at {SMALL} tokens, times {times:.0f}"


def made_apart(tokens: int) -> int:
    """Return the bytes of BertViz's model view, which is created in a separate process to free its memory."""
    command = [sys.executable, "-m", "bench.bertviz_page", str(tokens)]
    return int(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]))


def available_memory() -> int:
    """Return the free memory of the machine in bytes."""
    import psutil

    return int(psutil.virtual_memory().available)


@contextmanager
def serve_document(html: str) -> Iterator[str]:
    """Inside the block, serve the HTML and BertViz's scripts locally; yield the address."""
    assert REQUIRE in html, "BertViz's document no longer loads require.js"
    local = "".join(f'<script src="{path}"></script>' for path in SCRIPTS) + f"<script>{SHIM}</script>"
    answers = {path: ("text/javascript", read_installed_file(*where)) for path, where in SCRIPTS.items()}
    with serving({**answers, "/": ("text/html; charset=utf-8", html.replace(REQUIRE, local).encode())}) as url:
        yield url


@contextmanager
def serving(answers: Mapping[str, tuple[str, bytes]]) -> Iterator[str]:
    """Inside the block, serve fixed (content type, body) responses locally; yield the address of "/"."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(answers))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def make_handler(answers: Mapping[str, tuple[str, bytes]]) -> type[BaseHTTPRequestHandler]:
    """Return a handler class for an HTTP server with fixed responses."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body = answers.get(self.path, ("text/plain", b""))
            self.send_response(200 if self.path in answers else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def read_installed_file(distribution: str, name: str) -> bytes:
    """Return the content of an installed package's file without importing the package."""
    return next(f for f in metadata.files(distribution) or [] if f.name == name).read_text(encoding="utf-8").encode()


def painted_in(browser: Any, url: str, elements: int, patience: float = 300.0) -> float:
    """Return the milliseconds from the request of a page until it has painted ``elements`` SVG elements.

    Raise TimeoutError if that takes more than ``patience`` seconds.
    """
    from bench.browser import Page

    page = Page(browser)
    try:
        page.page.goto(url, wait_until="load", timeout=patience * 1000)
        end = time.perf_counter() + patience
        count = "() => document.querySelectorAll('svg line, svg path, svg rect, svg polyline').length"
        while (drawn := page.page.evaluate(count)) < elements:
            if time.perf_counter() > end:
                raise TimeoutError(f"BertViz drew {drawn} of {elements} elements in {patience:.0f} s.")
        return float(page.page.evaluate("() => globalThis.bench.afterFrame()"))
    finally:
        page.close()


NOTEBOOK_SIZES = (16, 128, 512)
NOTEBOOK_HEADS = 12  # heads whose lines BertViz draws initially
CELL_PATIENCE = 120.0  # seconds for a page


def measure_notebook() -> Iterator[ReportRow]:
    """Yield rows that compare Headlight's notebook cell with BertViz's: bytes, and time until painted."""
    import headlight

    with chromium() as browser:
        for tokens in NOTEBOOK_SIZES:
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
            what = (
                f"{mine_all:.2f} s against {wait_for_bertviz(browser, theirs, made, NOTEBOOK_HEADS * tokens * tokens)}"
            )
            yield ReportRow(f"from the call to painted, {tokens} tokens: ours, BertViz's head view", "told", what)


def time_call(call: Callable[[], str]) -> tuple[str, float]:
    """Call a function; return its result and the seconds that it took."""
    began = time.perf_counter()
    return call(), time.perf_counter() - began


def cell_painted(browser: Any, cell: str) -> float:
    """Return the seconds from the request of a page with Headlight's cell until the cell is painted."""
    content = f"<!doctype html><meta charset=utf-8>{cell}".encode()
    page = Page(browser)
    try:
        with serving({"/": ("text/html; charset=utf-8", content)}) as url:
            page.page.goto(url, wait_until="commit")
            page.page.frame_locator("iframe").locator(".hl[data-painted]").wait_for(timeout=1000 * CELL_PATIENCE)
            return float(page.page.evaluate("() => globalThis.bench.afterFrame()")) / 1000
    finally:
        page.close()


def wait_for_bertviz(browser: Any, html: str, made: float, lines: int) -> str:
    """Return the time until BertViz's page is painted, as text for a report, or the reason of a failure.

    ``made`` is the seconds that creating the HTML took; they are added. The page is painted if it has ``lines`` SVG
    elements.
    """
    try:
        with serve_document(html) as url:
            return f"{made + painted_in(browser, url, lines, CELL_PATIENCE) / 1000:.1f} s"
    except Exception as error:  # report a page that is too large for the browser
        return f"{made:.1f} s to HTML; not painted within {CELL_PATIENCE:.0f} s ({type(error).__name__})"


def kilo(html: str) -> str:
    """Format the size of an HTML page in kB."""
    return f"{len(html.encode()) / 1000:,.0f} kB"


if __name__ == "__main__":
    print(json.dumps(len(document(*attention(int(sys.argv[1]))).encode())))
