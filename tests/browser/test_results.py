"""Browser test of a fine-tuned model's results: a click on a confusion matrix lists the cell's rows."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support import toldfolders
from tests.support.apps import Scripts
from tests.support.atrest import hears_clicks, rest, visit
from tests.support.looks import accessible_and_fits
from tests.support.visitor import box_of

PAGE = """
from pathlib import Path

import streamlit as st

from ui.pages.teach import results, results_rows
from ui.paths import ASSETS
from ui.state.session import begin

st.html(ASSETS / "app.css")
results_rows.explore_link = lambda *_: None  # this page stands alone
begin("teach")
st.title("Teach")
results.draw_results(Path("FOLDER"), "taught/tiny", "tiny")
"""
TAGGED = [("Ann sings in Rome", "B-PER O O B-LOC", "B-PER O O B-PER", (0.9, 0.8, 0.99, 0.97))] * 3 + [
    ("Rome met Bo", "B-LOC O B-PER", "B-LOC O O", (0.6, 0.9, 0.95))
]


@pytest.fixture(scope="module")
def url(scripts: Scripts, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = toldfolders.words(tmp_path_factory.mktemp("told"), TAGGED)
    return scripts.page("results", PAGE.replace("FOLDER", str(folder)))


def test_a_click_on_a_cell_opens_its_rows(page: Page, url: str) -> None:
    visit(page, url)
    figure = page.locator(".js-plotly-plot").first
    cells = figure.locator(".heatmaplayer image").first
    cells.scroll_into_view_if_needed()
    hears_clicks(figure)
    box = box_of(cells)  # The matrix is three by three: O, LOC, PER.
    page.mouse.click(box["x"] + box["width"] * 2.5 / 3, box["y"] + box["height"] * 1.5 / 3)
    expect(page).to_have_url(re.compile("(?=.*true=1)(?=.*said=2)"))
    rest(page)
    expect(page.get_by_text("3 test rows, ")).to_be_visible()
    expect(page.locator("div.chips")).to_have_count(3)
    wrong = page.locator(".chip.wrong").first
    expect(wrong).to_have_attribute("aria-label", re.compile("Rome, predicted PER, true LOC, .*wrong"))
    accessible_and_fits(page)
