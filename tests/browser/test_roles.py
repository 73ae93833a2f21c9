"""Browser tests of the Roles page: roles of heads in a single text and in a set of sentences."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attention.roles import names, observe
from attention.trace import Trace
from attention.vectors import compare
from inference import LocalBackend, TraceRequest
from probing.formats import load_ready_set
from probing.results import name_heads
from probing.score import ScoringRun, ScoringState, score
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.visitor import DEEP_LINK, file_of, open_page, painted, read, said, table_of

TEXT = "The dog chased the cat until the cat climbed a tree."


@pytest.fixture(scope="module")
def trace() -> Trace:
    return LocalBackend().trace(TraceRequest(text=TEXT))


@pytest.fixture(scope="module")
def runs() -> dict[str, ScoringState]:
    """Return the scoring state of the embedded model for each ready set with annotated links."""
    backend, found = LocalBackend(), {}
    for name in ("grammar", "pronouns"):
        *_, found[name] = score(backend, ScoringRun(load_ready_set(name)))
    return found


def added_up(summary: str) -> int:
    """Return the sum of the head counts that a summary lists."""
    numbers = re.findall(r"(?:: |, |and )([0-9]+)(?: \(| have| attend)", summary)
    return sum(int(number) for number in numbers)


def test_roles_are_those_of_the_numbers_and_lead_to_the_texts_that_they_were_told_of(
    page: Page, app_url: str, problems: Problems, trace: Trace
) -> None:
    """The page covers a single text, then 100 sentences, a choice kept in the link.

    The table can be filtered and is saved whole.
    """
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/roles", text=TEXT, layer=0, head=2, only="previous", relations=0)
    found = observe(trace)
    roles = [names(found, layer, head) for layer, head in np.ndindex(6, 12)]
    some = sum(entry[:1] not in ([], ["broad"]) for entry in roles)
    text = said(page, r"\(texts: 1\):")
    assert f"{some} of 72 heads give at least 50% of their attention to one place" in text
    before = found.strength("previous")
    layer, head = divmod(int(before.argmax()), 12)
    assert (
        f"the token before: {sum('previous' in entry for entry in roles)} ({layer}-{head}, {before.max():.2f}" in text
    )
    assert added_up(text) == 72
    distances = compare(trace).distances() + np.diag([np.inf] * 72)
    assert f"(distance {distances.min():.2f} of at most 1)" in said(page, "are most similar")
    expect(page.get_by_text(re.compile(r"^1 of 72 heads\. "))).to_be_visible(timeout=3 * PATIENCE)
    waited = file_of(page.get_by_role("button", name="Save as CSV").first)
    lines = list(csv.DictReader(io.StringIO(table_of(waited.path()))))
    assert len(lines) == 72
    assert lines[2]["Roles"] == "the token before"  # Row 2 is head 0-2.
    assert float(lines[2]["the token before"]) > 0.99
    text = said(page, "^Head 0-2, the token before; hits: 1, misses: 0")
    share = observe(trace).strength("previous")[0, 2]
    assert f"over all texts {share:.2f}." in text
    expect(page.get_by_text(f"Hit · {share:.2f}")).to_be_visible(timeout=PATIENCE)

    click(page.get_by_role("radio", name="100 sentences"))
    said(page, r"\(texts: 100\):")
    expect(page).to_have_url(re.compile("source=sentences"))
    page.reload()
    said(page, r"\(texts: 100\):")
    said(page, "^Head 0-2, the token before; hits: 100, misses: 0")
    click(page.get_by_role("link", name="Open Attention heads").nth(1))
    expect(page).to_have_url(re.compile("head=2"))
    painted(page, layer=0, head=2)


def test_heads_are_named_on_sentences_that_the_name_was_not_chosen_on_and_a_relation_opens_them(
    page: Page, app_url: str, problems: Problems, runs: dict[str, ScoringState]
) -> None:
    """Finally, the test enters a text with Markdown and HTML, which must not load the image."""
    problems.allow(DEEP_LINK)
    told = name_heads([(run.tally, load_ready_set(name)) for name, run in runs.items()])
    clear = [row for row in told.values() if row.more]
    chosen = {"layer": 3, "head": 1, "relation": "coref", "outcome": "hits", "leaf": 2}
    open_page(page, app_url, "/roles", text=TEXT, only="relation", **chosen)
    expect(page.get_by_text(re.compile(rf"^{len(clear)} of 72 heads\. "))).to_be_visible(timeout=3 * PATIENCE)
    text = said(page, "half of 100 sentences")
    assert not clear  # With only 20 links, no head is significantly better than the best of three rules.
    assert not text[0].isdigit()  # No number of heads is stated.
    assert f"corrected for the {len(told)} heads above" in text
    assert "With random weights: 0." in text
    corpus, tally = load_ready_set("pronouns"), runs["pronouns"].tally
    counts = tally.counts_of("coref")
    assert counts is not None
    text = said(page, "^Head 3-1, coref, from ")
    direction = next(at for at, name in enumerate(corpus.directions) if f"from {name};" in text)
    hits = int(counts.hits_by_head[direction, 3, 1])
    assert f"hits: {hits}, misses: {40 - hits} in 40 links of 40 sentences." in text
    expect(page.get_by_text(re.compile("^Hit · line"))).to_have_count(min(6, hits - 6), timeout=PATIENCE)

    rest(page)
    read(page, "<b>cats</b> ![x](http://example.org/a.png) <script>alert(1)</script>")
    expect(page).to_have_url(re.compile("text=[^&]*example"))
    said(page, r"\(texts: 1\):")
    rest(page)
    assert page.locator("img[src*='example.org']").count() == 0
