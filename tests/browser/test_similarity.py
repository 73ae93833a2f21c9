"""Browser tests of the view Similarity: its numbers, its saved table, its link, ablation, and a stopped search."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import headlight
from i18n import typeset_number
from probing.sentence_files import MOST_SENTENCES
from probing.sentence_search import PART
from tests.support.atrest import PATIENCE, click
from tests.support.browser import Problems
from tests.support.looks import accessible_and_fits
from tests.support.visitor import DEEP_LINK, file_of, matched, open_page, said, table_of

A, B = "A cat sleeps.", "The kitten is napping."


def test_the_numbers_are_those_of_the_library(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    found = headlight.similar(A, B)
    open_page(page, app_url, "/compare", view="similarity", text=A, other=B)
    sentence = said(page, "^Cosine: ")
    table = np.array(found["table"])
    for number in (found["cosine"], table.max(), found["special_share"]):
        assert f"{number:.3f}" in sentence
    expect(page.locator(".matrices canvas").first).to_be_visible()
    saved = table_of(Path(file_of(page.get_by_role("button", name="Save as CSV")).path()))
    rows = list(csv.reader(io.StringIO(saved)))
    start = next(at for at, row in enumerate(rows) if row[-1:] == ["part of the cosine"])
    assert sum(float(row[2]) for row in rows[start + 1 :]) == pytest.approx(found["cosine"], abs=1e-5)

    click(page.get_by_role("radio", name="Lines", exact=True))
    expect(page).to_have_url(re.compile("show=lines"))
    page.reload()
    assert said(page, "^Cosine: ") == sentence
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    accessible_and_fits(page)


def test_a_head_is_opened_from_the_map_of_ablated_heads(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/compare", view="similarity", text=A, other=B, show="heads")
    sentence = said(page, "cosine changes most")
    layer, head = matched(r"head (\d+)-(\d+)", sentence).groups()
    saved = table_of(Path(file_of(page.get_by_role("button", name="Save as CSV")).path()))
    rows = [row for row in csv.reader(io.StringIO(saved)) if len(row) == 3 and row[0].isdigit()]
    assert len(rows) == 72
    largest = max(rows, key=lambda row: abs(float(row[2])))
    assert (largest[0], largest[1]) == (layer, head)
    assert typeset_number(f"{float(largest[2]):+.3f}") in sentence


def test_a_large_search_stops_with_its_hits_and_a_hit_opens_its_table(
    page: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/compare", view="similarity", text=A, other=B, show="search")
    sentences = ["A cat is asleep.", *(f"Train {number} leaves at noon." for number in range(MOST_SENTENCES - 1))]
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(
        {"name": "many.txt", "mimeType": "text/plain", "buffer": "\n".join(sentences).encode()}
    )
    click(page.get_by_role("button", name="Search", exact=True), 2 * PATIENCE)
    page.get_by_role("button", name="Stop", exact=True).click()
    sentence = said(page, "of [\\d,]+ sentences: ")
    assert sentences[0] in sentence
    read = int(matched(r"of ([\d,]+) sentences: ", sentence)[1].replace(",", ""))
    assert 0 < read < MOST_SENTENCES
    said(page, f"of {-(-MOST_SENTENCES // PART)} steps")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    cosine = headlight.similar(A, sentences[0])["cosine"]
    assert f"{cosine:.3f}" in sentence
