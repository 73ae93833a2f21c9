"""BertViz's own views, unmodified but for where its scripts come from, to measure against.

Its document loads require.js, d3 and jQuery from a public host; here they are served from the same machine, from
installed packages (d3 5.7.0 in mpld3, jQuery in XStatic-jQuery), and a line of script stands in for require.js.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from typing import Any

from bench.models import EMBEDDED, build, inputs, tokenizer

REQUIRE = '<script src="https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js"></script>'
SHIM = "window.require={config(){}};window.requirejs=(names,run)=>run(window.jQuery,window.d3);"
SCRIPTS = {"/jquery.js": ("XStatic-jQuery", "jquery.min.js"), "/d3.js": ("mpld3", "d3.v5.min.js")}
NEEDED = 10 * 2**30  # bytes that must be free for making the document of 512 tokens, whose numbers become objects
SMALL = 128


def attention(tokens: int) -> tuple[tuple[Any, ...], list[str]]:
    """Every map of the embedded model for a text of so many tokens, as the model itself gives them; and the tokens."""
    import torch

    given = inputs(tokens)
    with torch.inference_mode():
        maps = build(EMBEDDED, "eager")(**given, output_attentions=True).attentions
    return maps, tokenizer().convert_ids_to_tokens(given["input_ids"][0])


def document(maps: tuple[Any, ...], names: list[str]) -> str:
    """What bertviz.model_view returns."""
    from bertviz import model_view

    return str(model_view(maps, names, html_action="return").data)


def head_document(maps: tuple[Any, ...], names: list[str]) -> str:
    """What bertviz.head_view returns: what a notebook's cell holds."""
    from bertviz import head_view

    return str(head_view(maps, names, html_action="return").data)


def page_bytes(tokens: int) -> tuple[int, str]:
    """Bytes of the document for so many tokens, and how that is known."""
    if available_memory() > NEEDED:
        return made_apart(tokens), "made by bertviz"
    small = made_apart(SMALL)
    times = (tokens / SMALL) ** 2
    return int(
        small * times
    ), f"extrapolated: {small / 1e6:.0f} MB made by bertviz at {SMALL} tokens, times {times:.0f}"


def made_apart(tokens: int) -> int:
    """Bytes of the document, made in a process of its own, whose memory is then free again."""
    command = [sys.executable, "-m", "bench.bertviz_page", str(tokens)]
    return int(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]))


def available_memory() -> int:
    """Bytes of memory that programs can still have."""
    import psutil

    return int(psutil.virtual_memory().available)


@contextmanager
def serve_document(html: str) -> Iterator[str]:
    """The document on this machine, with its scripts from here; its address."""
    assert REQUIRE in html, "BertViz's document no longer loads require.js"
    local = "".join(f'<script src="{path}"></script>' for path in SCRIPTS) + f"<script>{SHIM}</script>"
    answers = {path: ("text/javascript", read_installed_file(*where)) for path, where in SCRIPTS.items()}
    with serving({**answers, "/": ("text/html; charset=utf-8", html.replace(REQUIRE, local).encode())}) as url:
        yield url


@contextmanager
def serving(answers: Mapping[str, tuple[str, bytes]]) -> Iterator[str]:
    """Fixed answers on this machine, each with its kind; the address of "/"."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(answers))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def make_handler(answers: Mapping[str, tuple[str, bytes]]) -> type[BaseHTTPRequestHandler]:
    """A server of a few fixed answers."""

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
    """A file of an installed package, which is not imported."""
    return next(f for f in metadata.files(distribution) or [] if f.name == name).read_text(encoding="utf-8").encode()


def painted_in(browser: Any, url: str, elements: int, patience: float = 300.0) -> float:
    """Milliseconds from asking for the page until every element is drawn and the frame with them is on screen."""
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


if __name__ == "__main__":
    print(json.dumps(len(document(*attention(int(sys.argv[1]))).encode())))
