"""A visitor on the Roles page: what heads are for, in one text and in many."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attention.roles import names, observe
from attention.similarity import compare
from attention.trace import Trace
from inference import LocalBackend, TraceRequest
from probing.rows import rows
from probing.score import Run, score
from tests.support.browser import PATIENCE, Problems, rest
from tests.support.visitor import DEEP_LINK, file_of, open_page
from ui.run.ready_sets import ready

TEXT = "The dog chased the cat until the cat climbed a tree."


@pytest.fixture(scope="module")
def trace() -> Trace:
    return LocalBackend().trace(TraceRequest(text=TEXT))


def said(page: Page, pattern: str) -> str:
    note = page.locator(".headlight-note").filter(has_text=re.compile(pattern))
    expect(note).to_be_visible(timeout=3 * PATIENCE)
    return note.inner_text()


def test_roles_are_those_of_the_numbers(page: Page, app_url: str, problems: Problems, trace: Trace) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/roles", text=TEXT, relations=0)
    found = observe(trace)
    roles = [names(found, layer, head) for layer, head in np.ndindex(6, 12)]
    some = sum(any(role != "broad" for role in entry) for entry in roles)
    text = said(page, "^In 1 text, ")
    assert f"{some} of 72 heads give 50 % of their attention or more to one kind of place" in text
    before = found.strength("previous")
    layer, head = divmod(int(before.argmax()), 12)
    assert (
        f"the token before: {sum('previous' in entry for entry in roles)} ({layer}-{head}, {before.max():.2f}" in text
    )
    distances = compare(trace).distances() + np.diag([np.inf] * 72)
    assert f"(distance {distances.min():.2f} of at most 1)" in said(page, "^Most alike are heads")


def test_many_sentences_show_more_and_are_kept_in_the_link(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/roles", text=TEXT)
    said(page, "^In 1 text, ")
    page.get_by_role("radio", name="100 sentences").click()
    said(page, "^In 100 texts, ")
    expect(page).to_have_url(re.compile("source=sentences"))
    page.reload()
    said(page, "^In 100 texts, ")


def test_the_table_is_filtered_and_saved_whole(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/roles", text=TEXT, only="previous")
    expect(page.get_by_text(re.compile("^1 of 72 heads"))).to_be_visible(timeout=3 * PATIENCE)
    waited = file_of(page.get_by_role("button", name="Save the table"))
    lines = list(csv.DictReader(io.StringIO(waited.path().read_text(encoding="utf-8-sig"))))
    assert len(lines) == 72
    assert lines[2]["roles"] == "token before"  # head 0-2
    assert float(lines[2]["token before"]) > 0.99


def test_heads_that_find_a_relation_are_those_clearly_above_the_rule(
    page: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    corpus = ready("grammar")
    *_, state = score(LocalBackend(), Run(corpus))
    clear = {
        (row.layer, row.head)
        for row in rows(state.tally, corpus)
        if row.low > row.baseline and row.n >= 20 and row.relation not in ("all", "punct")
    }
    open_page(page, app_url, "/roles", text=TEXT, only="relation")
    expect(page.get_by_text(re.compile(f"^{len(clear)} of 72 heads"))).to_be_visible(timeout=3 * PATIENCE)


def test_hostile_words_are_shown_as_text(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/roles", text="<b>cats</b> ![x](http://example.org/a.png) <script>alert(1)</script>")
    said(page, "^In 1 text, ")
    rest(page)
    assert page.locator("img[src*='example.org']").count() == 0
