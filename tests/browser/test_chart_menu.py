"""Browser test of a chart's menu Download: a notebook if the chart has a computation, and the methods sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.apps import Scripts
from tests.support.atrest import click

HASH = "ab" * 32
PAGE = f"""
import numpy as np

from ui.show.chart import draw_chart, theme
from viz.figures.head_maps import head_map
from viz.paper.notebook import Computation

values = np.array([[0.25, 0.5], [0.75, 0.0]])
figure = head_map(values, theme(), "Shares", "share")
about = lambda: {{"model": "tiny", "weights_sha256": "{HASH}"}}
computation = Computation("numbers = np.array(values)", values=values.tolist())
draw_chart(figure, "computed", about=about, computation=computation, test="Two-sided, n = 3.")
draw_chart(figure, "drawn", about=about)
draw_chart(figure, "counted", about=about, test=None)
"""


@pytest.fixture(scope="module")
def url(scripts: Scripts) -> str:
    return scripts.page("chart_menu", PAGE)


def opened(page: Page, key: str) -> Locator:
    """Open the menu of a chart and return it."""
    click(page.locator(f".st-key-{key}_download").get_by_role("button"))
    menu = page.get_by_test_id("stPopoverBody").filter(has=page.locator(f".st-key-{key}_format"))
    expect(menu.get_by_role("radio", name="CSV")).to_be_visible()
    return menu


def test_a_computed_chart_offers_its_notebook_and_cites_itself(url: str, page: Page) -> None:
    page.goto(url)
    menu = opened(page, "computed")
    methods = menu.get_by_test_id("stCode").first
    for word in ("tiny", HASH, "n = 3."):
        expect(methods).to_contain_text(word)
    expect(menu.get_by_test_id("stCode").last).to_contain_text("@software")
    click(menu.get_by_role("radio", name="Python notebook"))
    with page.expect_download() as waiting:
        click(menu.locator(".st-key-computed_file").get_by_role("button"))
    assert waiting.value.suggested_filename.endswith(".ipynb")
    names: dict[str, Any] = {}
    for cell in json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))["cells"][1:]:
        exec("".join(cell["source"]), names)
    assert names["numbers"].tolist() == [[0.25, 0.5], [0.75, 0.0]]


def test_a_chart_without_a_computation_offers_no_notebook(url: str, page: Page) -> None:
    page.goto(url)
    menu = opened(page, "drawn")
    expect(menu.get_by_role("radio", name="HTML")).to_be_visible()
    expect(menu.get_by_role("radio", name="Python notebook")).to_have_count(0)
    expect(menu.get_by_test_id("stCode")).to_have_count(2)
    expect(opened(page, "counted").get_by_test_id("stCode")).to_have_count(1)
