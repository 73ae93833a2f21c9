"""Browser test of the Agreement page: its numbers match the backend, and clicks choose another word."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from scipy.stats import spearmanr

from attention.agreement import mean_maps, mean_row_distance, rollout, shares, with_residual
from attention.measures import is_punctuation
from attention.view import View
from inference import LocalBackend, TraceRequest
from inference.tasks.attribution import WithoutWords
from tests.support.asking import plain_numbers
from tests.support.atrest import click
from tests.support.browser import Problems
from tests.support.visitor import DEEP_LINK, file_of, open_page, said, table_of
from ui.show.text import format_small

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


def downloaded(page: Page) -> list[dict[str, str]]:
    caught = file_of(page.get_by_role("button", name="Save as CSV"))
    return list(csv.DictReader(table_of(caught.path()).splitlines()))


def test_the_figure_s_numbers_are_the_model_s_and_another_word_is_asked_about_by_a_click(
    page: Page, app_url: str, problems: Problems, backend: LocalBackend
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/agreement", text=TEXT)
    text = said(page, "changes the vector of “it” most")
    view = View(backend.trace(TraceRequest(text=TEXT)), words=True)
    focus = [cell.text for cell in view.keys].index("it")
    cells = [cell for at, cell in enumerate(view.keys) if at != focus and not (cell.special or is_punctuation(cell))]
    runs = tuple(cell.pieces for cell in cells)
    effect = backend.inspect(WithoutWords(text=TEXT, focus=view.keys[focus].pieces, words=runs)).values
    best = int(effect.argmax())
    assert f"masking “{cells[best].text}”" in text
    assert f"(1 − cosine = {format_small(effect[best])})" in text
    maps = mean_maps(view.trace)
    row = maps[-1][view.keys[focus].pieces[0]]
    attention = np.array([row[slice(*run)].sum() for run in runs])
    rolled = f"differ by {mean_row_distance(rollout(with_residual(maps))):.2f}"
    assert rolled in said(page, "total variation")
    rows = downloaded(page)
    assert [row["Word"] for row in rows] == [cell.text for cell in cells]
    np.testing.assert_allclose([float(row["Ablated"]) for row in rows], np.maximum(effect, 0), atol=1e-5)
    np.testing.assert_allclose([float(row["Attention"]) for row in rows], attention, atol=1e-5)
    by_share = [float(row["Attention, share of the row"]) for row in rows]
    np.testing.assert_allclose(by_share, shares(attention), atol=1e-5)
    named = re.findall(r", attention (-?\d\.\d\d)", plain_numbers(text))
    assert float(named[0]) == pytest.approx(spearmanr(attention, effect).statistic, abs=0.01)
    click(page.get_by_role("button", name=re.compile("^tired")).first)
    said(page, "the vector of “tired”")
    expect(page).to_have_url(re.compile("focus="))
    click(page.get_by_text("Include word itself"))
    said(page, "Of 12 words")
    page.reload()
    said(page, "Of 12 words")
