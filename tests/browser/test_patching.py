"""Browser tests of the view Activation patching: its numbers, saved table and clicks, and its former address."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attention.edits import PatchResidual
from inference import LocalBackend
from inference.tasks.edit_effects import BlankEffects
from probing.statistics import COMPARED, MOVED
from tests.support.browser import PHONE, Problems
from tests.support.looks import accessible_and_fits
from tests.support.visitor import DEEP_LINK, box_of, click_cell, file_of, open_page, said, table_of
from ui.show.text import format_small
from ui.state.navigation import title_of

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = TIRED.replace("tired", "wide")


def test_patching_effects_agree_with_the_model_s_numbers(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    words, it = ("animal", "street"), TIRED.index(" it ") + 1
    open_page(page, app_url, "/ablation", view="patching", text=TIRED)
    way = said(page, "Word vectors")
    backend, hidden = LocalBackend(), ((0, it, it + 2),)
    here, there = (BlankEffects("headlight-bert", text=text, hidden=hidden, words=words) for text in (TIRED, WIDE))
    take = PatchResidual(3, ((13, 13),))  # Token 13, “tired”, is the last word before the full stop.
    [before, taken], [after] = (
        np.diff(backend.predict(question).values)[:, 0]
        for question in (replace(here, edits=((), (take,)), other=there), there)
    )
    share = (taken - before) / (after - before)
    assert re.search(r"“tired → wide” into layer 0–\d \(1.00", way)
    saved = Path(file_of(page.get_by_role("button", name="Save as CSV")).path())
    table = list(csv.reader(io.StringIO(table_of(saved))))
    names = table.index(next(row for row in table if row[:2] == ["taken", "layer"]))
    mine = [row for row in table[names:] if row[:4] == ["vector", "3", "", "tired → wide"]]
    assert float(mine[0][4]) == pytest.approx(share, abs=2e-4)
    compared = [(float(row[4]), float(row[5] or "nan"), int(row[6])) for row in table[names + 1 :] if row[0] == "head"]
    assert {number for *_, number in compared} <= {*range(COMPARED + 1)}
    left = [(effect, largest) for effect, largest, number in compared if 0 < number < COMPARED]
    assert all(effect <= largest for effect, largest in left), "a larger random change ends the comparison"
    assert all((effect <= MOVED) == (number == 0) for effect, _largest, number in compared)
    assert len(table) - names - 1 == 7 * 16 + 6 * 12

    click_cell(page, (3, 13), (7, 16))
    one = said(page, "entering layer 3")
    assert f"“tired → wide” entering layer 3 has an effect of {format_small(share)}" in one
    expect(page).to_have_url(re.compile("lent=s3-13"))
    page.reload()
    said(page, "entering layer 3")
    accessible_and_fits(page)


def test_a_former_link_opens_the_view_with_both_texts(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/compare", show="carry", text="A cat sat.", other="A dog sat.", watch="vector")
    expect(page.get_by_role("radio", name=title_of("patching"), exact=True)).to_be_checked()
    expect(page).to_have_url(re.compile(r"/ablation\?"))
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("A cat sat.")
    expect(page.get_by_role("textbox", name="Second text")).to_have_value("A dog sat.")


def test_figures_are_stacked_on_a_phone(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    page.set_viewport_size(PHONE)
    open_page(page, app_url, "/ablation", view="patching", text=TIRED)
    said(page, "Word vectors")
    one, other = (box_of(page.get_by_test_id("stPlotlyChart").nth(at)) for at in range(2))
    assert one["x"] == other["x"]
    assert one["y"] + one["height"] <= other["y"]
