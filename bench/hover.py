"""Latency from a pointer or key event to the paint, with 512 tokens and without another forward pass."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles

from bench.browser import Page, chromium
from bench.models import count_embedded, text_of
from bench.report import ReportRow
from bench.server import app
from bench.wrapped import COUNT

LIMIT = 100.0  # ms
TOKENS, REPEATS = 512, 20


def measure() -> Iterator[ReportRow]:
    """Yield a row each for hovering over a head and a token, and for selecting a head by click and by key."""
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
    """Return a row with the median latency of a kind of event."""
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
    """Return the number of forward passes in the app so far: the size of the counter file in bytes."""
    return count.stat().st_size if count.exists() else 0


def point(page: Page, turn: int) -> tuple[float, float]:
    """Return the coordinates of a head in the grid; each turn selects another head."""
    box = page.page.locator(".grid .pad canvas").bounding_box()
    across, down = (turn * 5 + 2) % 12, (turn * 7 + 1) % 6
    return box["x"] + box["width"] * (0.12 + 0.86 * across / 12), box["y"] + box["height"] * (0.16 + 0.82 * down / 6)


def time_first_picture(page: Page) -> float:
    """Wait for the first paint after the last event, and return the milliseconds in between."""
    end = time.perf_counter() + 20
    while time.perf_counter() < end:
        painted = [mark["time"] for mark in page.note("painted") if mark["time"] > page.note("asked") > 0]
        if painted and not page.note("armed"):
            return float(min(painted) - page.note("asked"))
        page.page.wait_for_timeout(15)
    raise TimeoutError(f"Nothing was painted; the page says: {page.says()}")


def hover_head(page: Page, turn: int) -> float:
    """Move the pointer to another head and return the milliseconds until the paint."""
    page.page.wait_for_timeout(150)
    page.page.evaluate("() => globalThis.bench.begin()")
    page.page.mouse.move(*point(page, turn))
    return time_first_picture(page)


def hover_token(page: Page, turn: int) -> float:
    """Move the pointer to another token and return the milliseconds until the paint."""
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
    """Click a head that is not selected and return the milliseconds until the paint.

    The browser fetches the head's exact map.
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
    """Select the next head by key and return the milliseconds until the paint."""
    page.page.locator(".figure .tabs button").first.focus()
    page.page.mouse.move(5, 5)
    page.settle(0.5)
    page.page.evaluate("() => globalThis.bench.begin()")
    page.page.keyboard.press("]")
    return time_first_picture(page)
