"""Latency from a pointer or key event to the paint, for a text of 512 tokens and for the longest text.

With 512 tokens, no event may cause a forward pass. The longest text has 8,192 tokens, on a random model of ModernBERT's
size (22 layers of 12 heads).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import quote

from bench.browser import Page, chromium
from bench.models import count_embedded, count_long, save_long, text_of
from bench.report import ReportRow
from bench.server import app, status
from bench.wrapped import COUNT

LIMIT = 100.0  # ms
TOKENS, REPEATS = 512, 20


def measure() -> Iterator[ReportRow]:
    """Yield rows for the latency of hovering over a head or a token, and of selecting a head by click or key."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        count = Path(folder) / "forwards"
        with app(environment={COUNT: str(count)}, module="bench.wrapped") as server:
            page = Page(browser)
            page.open(server.url)
            page.wait_until_painted()
            page.submit(text_of(TOKENS, count_embedded, seed=3))
            page.settle()
            ways = {
                "pointing at a head": lambda turn: hover_head(page, turn),
                "pointing at a token": lambda turn: hover_token(page, turn),
                "choosing a head by click": lambda turn: click_head(page, turn),
                "choosing a head by key": lambda _turn: next_head(page),
            }
            for what, way in ways.items():
                yield row(what, way, page, count)


def row(what: str, way: Callable[[int], float], page: Page, count: Path) -> ReportRow:
    """Return a row with the median latency of an event, and the forward passes that the event caused.

    ``what`` is the name of a pointer or key event. ``way`` triggers it and returns its latency in milliseconds.
    ``count`` is the counter file of the passes.
    """
    before = forwards(count)
    times = [way(turn) for turn in range(REPEATS)]
    page.settle()
    ran = forwards(count) - before
    longest = max((task["length"] for task in page.note("long")), default=0)
    ninth = quantiles(times, n=10)[-1]
    note = f"{REPEATS} times, 9 of 10 within {ninth:.0f} ms; the model ran {ran} times; longest task {longest:.0f} ms"
    passed = median(times) <= LIMIT and ran == 0
    return ReportRow(
        f"{what} → painted, {TOKENS} tokens", "≤ 100 ms, model not run", f"{median(times):.0f} ms", passed, note
    )


def forwards(count: Path) -> int:
    """Return the number of forward passes in the app so far, which is the size of the counter file in bytes."""
    return count.stat().st_size if count.exists() else 0


def point(page: Page, turn: int) -> tuple[float, float]:
    """Return the coordinates of a head in the grid of thumbnails, in pixels; it depends on ``turn``."""
    grid = page.page.locator(".grid .pad canvas")
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    across, down = (turn * 5 + 2) % 12, (turn * 7 + 1) % 6
    return box["x"] + box["width"] * (0.12 + 0.86 * across / 12), box["y"] + box["height"] * (0.16 + 0.82 * down / 6)


def time_first_picture(page: Page) -> float:
    """Return the milliseconds from the last pointer or key event until the next paint."""
    end = time.perf_counter() + 20
    while time.perf_counter() < end:
        painted = [mark["time"] for mark in page.note("painted") if mark["time"] > page.note("asked") > 0]
        if painted and not page.note("armed"):
            return float(min(painted) - page.note("asked"))
        page.page.wait_for_timeout(15)
    raise TimeoutError(f"Nothing was painted; the page says: {page.says()}")


def hover_head(page: Page, turn: int) -> float:
    """Move the pointer to another head; return the milliseconds until the next paint."""
    page.page.wait_for_timeout(150)
    page.page.evaluate("() => globalThis.bench.begin()")
    page.page.mouse.move(*point(page, turn))
    return time_first_picture(page)


def hover_token(page: Page, turn: int) -> float:
    """Move the pointer to another token; return the milliseconds until the next paint."""
    places = page.page.locator(".chips").first.evaluate(VISIBLE)
    x, y = places[(turn * 7 + 3) % len(places)]
    page.page.wait_for_timeout(150)
    page.page.evaluate("() => globalThis.bench.begin()")
    page.page.mouse.move(x, y)
    return time_first_picture(page)


# Centres of the visible tokens; the token strip scrolls.
VISIBLE = """(strip) => {
  const box = strip.getBoundingClientRect();
  const middles = [...strip.querySelectorAll("button")].map((chip) => chip.getBoundingClientRect())
    .map((r) => [r.x + r.width / 2, r.y + r.height / 2]);
  return middles.filter(([x, y]) => y > box.top + 4 && y < box.bottom - 4 && x > box.left && x < box.right);
}"""


def click_head(page: Page, turn: int) -> float:
    """Click a head that is not selected; return the milliseconds until the next paint.

    The browser fetches the head's exact map after the click.
    """
    page.page.mouse.move(5, 5)
    page.settle(0.4)
    kept = page.shown_state()
    for more in range(12):
        x, y = point(page, turn + more)
        for step in (0, 1):  # the description of a head can move the grid under the pointer
            page.page.mouse.move(x + step, y)
            page.settle(0.3)
        if page.shown_state() != kept:
            break
    page.page.mouse.down()
    page.page.evaluate("() => globalThis.bench.begin()")
    page.page.mouse.up()
    return time_first_picture(page)


def next_head(page: Page) -> float:
    """Select the next head by key; return the milliseconds until the next paint."""
    page.page.locator(".figure .tabs button").first.focus()
    page.page.mouse.move(5, 5)
    page.settle(0.5)
    page.page.evaluate("() => globalThis.bench.begin()")
    page.page.keyboard.press("]")
    return time_first_picture(page)


LONG_TOKENS = 8192
MEMORY = 24 * 2**30
LONG_PATIENCE = 1200.0  # seconds
FREEZE = 500.0  # ms for which a blocked main thread is perceived as a freeze


def measure_long() -> Iterator[ReportRow]:
    """Yield rows for the longest text: its trace, and its page in the browser."""
    with tempfile.TemporaryDirectory() as name:
        folder = save_long(Path(name) / "long")
        text = text_of(LONG_TOKENS, count_long, seed=4)
        yield measure_trace(folder)
        with app(environment={"HEADLIGHT_MODEL_FOLDERS": name}) as server, chromium() as browser:
            page = Page(browser)
            page.open(f"{server.url}/?model={quote(str(folder))}&text=The+baker+bought+a+lantern.")
            page.wait_until_painted()
            page.settle()
            page.frames.clear()
            page.fetched.clear()
            took = page.submit(text, LONG_PATIENCE)
            page.settle(2)
            longest = max((task["length"] for task in page.note("long")), default=0.0)
            received = sum(page.frames) + sum(size for address, size in page.fetched.items())
            turns = range(3, 3 + REPEATS // 4)
            clicks = [click_head(page, turn) for turn in turns]
            hovers = [hover_head(page, turn) for turn in turns]
            peak = server.peak()
        passed = peak <= MEMORY and longest <= FREEZE
        figure = (
            f"painted after {took / 1000:.1f} s; longest browser task {longest:.0f} ms; "
            f"server's peak {peak / 2**30:.1f} GiB"
        )
        note = (
            f"{received / 1e6:.1f} MB to the browser; then a head chosen by click is painted in {max(clicks):.0f} ms "
            f"and a head pointed at in {max(hovers):.0f} ms, the slowest of {len(turns)} each"
        )
        bar = f"works in 24 GiB, no browser task over {FREEZE:.0f} ms"
        yield ReportRow(f"{LONG_TOKENS:,} tokens, 264 heads, text submitted → painted", bar, figure, passed, note)


def measure_trace(folder: Path) -> ReportRow:
    """Measure the trace of the longest text in a separate process, without the app."""
    command = [sys.executable, "-m", "bench.hover", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    seconds = f"{found['cpu']:.0f} s of processor time, {found['seconds']:.0f} s on the wall"
    figure = f"{seconds}; peak {found['peak'] / 2**30:.1f} GiB"
    whole = 22 * 12 * LONG_TOKENS**2 * 4 / 2**30
    note = (
        f"model loaded before; {found['threads']} threads; the trace holds {found['bytes'] / 2**30:.2f} GiB where all "
        f"maps would be {whole:.0f} GiB"
    )
    return ReportRow(f"{LONG_TOKENS:,} tokens, trace alone", "works in 24 GiB", figure, found["peak"] <= MEMORY, note)


def trace(folder: Path) -> dict[str, float]:
    """Compute the trace of the longest text with the model in ``folder``; return its cost.

    The cost has the wall time "seconds" and the CPU time "cpu" in seconds, and the sizes "peak" (memory) and "bytes"
    (of the trace) in bytes.
    """
    from dataclasses import replace

    import torch

    from inference import LocalBackend, TraceRequest
    from inference.settings import Settings

    backend = LocalBackend(replace(Settings.from_env(), model_folders=(folder.parent,)))
    backend.trace(TraceRequest(model=str(folder), text="The baker bought a lantern."))
    began, cpu = time.perf_counter(), time.process_time()
    made = backend.trace(TraceRequest(model=str(folder), text=text_of(LONG_TOKENS, count_long, seed=4)))
    seconds, spent = time.perf_counter() - began, time.process_time() - cpu
    if len(made.source) != LONG_TOKENS:
        raise RuntimeError(f"The text has {len(made.source)} tokens, not {LONG_TOKENS}.")
    found = {"seconds": seconds, "cpu": spent, "peak": status("VmHWM"), "bytes": made.nbytes}
    return {**found, "threads": torch.get_num_threads()}


if __name__ == "__main__":
    print(json.dumps(trace(Path(sys.argv[1]))))
