"""Browser tests of alignment scores, on a small page of their own with a tiny untrained model."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from attention.alignment import CrossRowConvention
from inference import LocalBackend
from inference.settings import Settings
from probing.alignments import AlignmentRun, Alignments, AlignmentState, advance, load, parse
from tests.support.apps import Scripts
from tests.support.atrest import PATIENCE, click, hears_clicks, rest
from tests.support.looks import ON_A_PHONE, accessible_and_fits
from tests.support.tinymodels import save
from tests.support.visitor import box_of, file_of, table_of
from ui.pages.translate.quality import TITLES, summary

PAGE = """
import streamlit as st

from ui.pages.translate.quality import quality_section
from ui.run.page_model import PageModel
from ui.state.session import begin, get_view_state, set_view_state

begin("aligning")
st.title("Aligning")
keep = lambda layer, head: set_view_state(part="cross", layer=layer, head=head)
quality_section(get_view_state(), PageModel(MODEL, None, "tiny", "writes", False), keep)
st.text(f"part {get_view_state().part}, layer {get_view_state().layer}, head {get_view_state().head}")
"""
OWN = b"The cat sat\tLe chat dort\t0-0 1-1 2-2\nA dog <b>barked</b>\tEin Hund\t0-0 1?1\nIt was\tIl fait\t0-0 1?1\n"


@pytest.fixture(scope="module")
def tiny(scripts: Scripts) -> Path:
    return save(scripts.models / "tiny", "marian")


@pytest.fixture(scope="module")
def url(scripts: Scripts, tiny: Path) -> str:
    return scripts.page("aligning", PAGE.replace("MODEL", repr(str(tiny))))


@pytest.fixture
def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.get_by_text("part , layer None, head None")).to_be_visible(timeout=3 * PATIENCE)
    expect(page.locator(".heatmaplayer image")).to_have_count(2, timeout=PATIENCE)
    return page


def scored(tiny: Path, alignments: Alignments) -> AlignmentState:
    backend = LocalBackend(Settings(model_folders=(tiny.parent,), offline=True))
    run, state = AlignmentRun(alignments, str(tiny)), AlignmentState()
    for _ in run.chunks():
        state = advance(backend, run, state)
    return state


def said(state: AlignmentState) -> str:
    return summary({read_at: state.best(read_at) for read_at in CrossRowConvention})


def upload(page: Page, name: str, content: bytes) -> None:
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": content}
    )


def test_the_sentence_is_what_the_model_gives_a_click_on_a_map_chooses_that_cross_head_and_all_is_accessible(
    opened: Page, tiny: Path
) -> None:
    expect(opened.get_by_text(said(scored(tiny, load())))).to_be_visible()
    cells = opened.locator(".heatmaplayer image").first
    cells.scroll_into_view_if_needed()
    rest(opened)
    hears_clicks(opened.locator(".js-plotly-plot").first)
    box = box_of(cells)
    opened.mouse.click(box["x"] + box["width"] * 0.5 / 3, box["y"] + box["height"] * 1.5 / 3)
    expect(opened.get_by_text("part cross, layer 1, head 0")).to_be_visible()
    expect(opened).to_have_url(re.compile("part=cross.*layer=1.*head=0"))
    accessible_and_fits(opened, ON_A_PHONE)


def test_sentences_of_ones_own_and_the_table_and_where_a_file_cannot_be_read(opened: Page, tiny: Path) -> None:
    click(opened.get_by_text("Own sentences").first)
    upload(opened, "bad.tsv", b"The cat\tLe chat\t0-0\nThe <b>dog</b>\tLe chien\t0~0\n")
    expect(opened.get_by_role("alert").get_by_text("Line 2 has a link “0~0”; expected 0-1")).to_be_visible()
    rest(opened)
    upload(opened, "mine.tsv", OWN)
    state = scored(tiny, parse(OWN))
    expect(opened.get_by_text(said(state))).to_be_visible(timeout=PATIENCE)
    # Until the page is at rest, the table still shows the previous sentences.
    click(opened.get_by_text("Every head", exact=True))
    download = file_of(opened.get_by_role("button", name="Save as CSV"))
    table = list(csv.DictReader(io.StringIO(table_of(download.path()))))
    assert len(table) == 2 * 3 * 3
    for row in table:
        place = (int(row["View"] == str(TITLES[CrossRowConvention.OWN])), int(row["Layer"]), int(row["Head"]))
        assert float(row["% found"]) == 100 * state.all().share[place]
        assert float(row["Alignment error rate"]) == state.all().error[place]
