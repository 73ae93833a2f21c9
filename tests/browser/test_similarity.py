"""Browser test of the view Similarity: its numbers, its saved table, and its link."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import headlight
from tests.support.browser import Problems
from tests.support.looks import accessible_and_fits
from tests.support.visitor import DEEP_LINK, file_of, open_page, said, table_of

A, B = "A cat sleeps.", "The kitten is napping."


def test_the_numbers_are_those_of_the_library(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    found = headlight.similar(A, B)
    open_page(page, app_url, "/compare", view="similarity", text=A, other=B)
    sentence = said(page, "cosine is")
    table = np.array(found["table"])
    for number in (found["cosine"], table.max(), found["special_share"]):
        assert f"{number:.3f}" in sentence
    expect(page.locator(".matrices canvas").first).to_be_visible()
    saved = table_of(Path(file_of(page.get_by_role("button", name="Save the table")).path()))
    rows = list(csv.reader(io.StringIO(saved)))
    start = next(at for at, row in enumerate(rows) if row[-1:] == ["part of the cosine"])
    assert sum(float(row[2]) for row in rows[start + 1 :]) == pytest.approx(found["cosine"], abs=1e-5)

    page.get_by_role("radio", name="Lines", exact=True).click()
    expect(page).to_have_url(re.compile("show=lines"))
    page.reload()
    assert said(page, "cosine is") == sentence
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    accessible_and_fits(page)
