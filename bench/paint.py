"""The time from a text to its complete view: the app against BertViz's model view, 128 tokens.

The app is timed from the key press in the text box until all parts of the view are painted, which includes the
forward pass. BertViz is timed from the request of its finished document, on the same machine, until it is painted
completely; its forward pass and the generation of the document are reported separately and not counted. Both times
end at the first task after the frame that shows the picture.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

from bench.bertviz_page import attention, document, painted_in, serve_document
from bench.browser import Page, chromium
from bench.models import count_embedded
from bench.report import ReportRow, upper_limit_row
from bench.server import app
from bench.texts import text_of

LIMIT = 1 / 20
TOKENS, HEADS = 128, 72
TEXTS, ROUNDS = 4, 2  # the app's texts per round; rounds, with a document of BertViz each


def measure() -> Iterator[ReportRow]:
    """Yield the row of the comparison."""
    began = time.perf_counter()
    maps, names = attention(TOKENS)
    html = document(maps, names)
    made = time.perf_counter() - began
    mine: list[float] = []
    theirs: list[float] = []
    with app() as server, serve_document(html) as url, chromium() as browser:
        page = Page(browser)
        page.open(server.url)
        page.wait_until_painted()
        page.settle()
        for turn in range(ROUNDS):
            mine += [time_text(page, seed) for seed in range(turn * TEXTS, (turn + 1) * TEXTS)]
            theirs.append(painted_in(browser, url, HEADS * TOKENS * TOKENS))
    value = median(mine) / median(theirs)
    figure = f"{value:.4f} = 1/{1 / value:.0f} ({median(mine):.0f} ms against {median(theirs) / 1000:.1f} s)"
    note = (
        f"medians of {len(mine)} texts ({min(mine):.0f}–{max(mine):.0f} ms) and {ROUNDS} documents in turns; running "
        f"the model for BertViz and making its document of {len(html) / 1e6:.0f} MB took {made:.1f} s more, not counted"
    )
    yield upper_limit_row(
        f"text submitted → all painted, {TOKENS} tokens / BertViz model view", LIMIT, value, figure, note
    )


def time_text(page: Page, seed: int) -> float:
    """Return the milliseconds for a new text."""
    took = page.submit(text_of(TOKENS, count_embedded, seed))
    page.settle()
    return took
