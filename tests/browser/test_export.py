"""Browser test of exports: files match the view, have a caption, and open without the app."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Download, Page, expect

from attention.trace import Trace
from inference import LocalBackend, TraceRequest
from tests.support.atrest import PATIENCE, click
from tests.support.visitor import file_of, open_page, painted, table_of

TEXT = 'Quotes "and", commas, =SUM(A1) and </script> stay text.'


@pytest.fixture(scope="module")
def trace() -> Trace:
    return LocalBackend().trace(TraceRequest(text=TEXT))


def export(page: Page, name: re.Pattern[str]) -> Download:
    """Choose an entry of the export menu, and return the download."""
    menu = page.locator("details.menu", has_text="Download")
    if menu.get_attribute("open") is None:
        click(menu.locator("summary"))
    with page.expect_download() as waiting:
        page.locator(".menu .item", has_text=name).click()
    return waiting.value


def test_files_hold_every_digit_and_their_caption_and_the_saved_page_opens_without_the_app(
    page: Page, app_url: str, trace: Trace, browser: Browser, tmp_path: Path
) -> None:
    open_page(page, app_url, text=TEXT, layer=2, head=4)
    painted(page, layer=2, head=4)
    tables_and_pictures(page, trace)
    opens_without_the_app(page, browser, tmp_path)


def tables_and_pictures(shown: Page, trace: Trace) -> None:
    download = export(shown, re.compile("CSV"))
    assert download.suggested_filename.startswith("headlight-attention_all-MiniLM-L6-v2_2-4_")
    table = pd.read_csv(download.path())
    np.testing.assert_array_equal(table["weight"].to_numpy(np.float32), trace.weights(2, 4).ravel())
    same = pd.read_parquet(export(shown, re.compile("Parquet")).path())
    np.testing.assert_array_equal(same["weight"].to_numpy(), trace.weights(2, 4).ravel())
    told = json.loads(export(shown, re.compile("JSON")).path().read_text(encoding="utf-8"))
    assert told["caption"]["text"] == TEXT
    np.testing.assert_array_equal(np.array(told["weights"], np.float32), trace.weights(2, 4))
    click(shown.locator("summary", has_text="Download"))
    expect(shown.locator("pre.methods")).to_contain_text(trace.model.weights or "no hash")
    assert export(shown, re.compile("image")).path().read_bytes().startswith(b"%PDF")
    click(shown.locator("summary", has_text="Download"))
    for name, option in (("Format", "svg"), ("Width", "page"), ("Font size", "10")):
        shown.get_by_label(name, exact=True).select_option(option)
    shown.get_by_label("Caption", exact=True).check()
    svg = export(shown, re.compile("image")).path().read_text(encoding="utf-8")
    assert 'width="504pt"' in svg
    assert "</script>" not in svg


def opens_without_the_app(shown: Page, browser: Browser, tmp_path: Path) -> None:
    saved = tmp_path / "view.html"
    said = shown.locator(".result").inner_text()
    assert said.count("%") >= 2
    export(shown, re.compile("HTML")).save_as(saved)
    context = browser.new_context(offline=True)
    alone = context.new_page()
    errors = []
    alone.on("pageerror", lambda error: errors.append(str(error)))
    alone.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    alone.goto(saved.as_uri())
    painted(alone, layer=2, head=4)
    expect(alone.get_by_text("Head 2-4", exact=True).first).to_be_visible()
    expect(alone.locator(".result")).to_have_text(
        said, use_inner_text=True
    )  # with what other words give, and other texts
    alone.get_by_role("tab", name="Lines").click()
    painted(alone, tab="lines")
    context.close()
    assert errors == []


def test_a_chart_is_saved_as_an_image_and_as_data(page: Page, app_url: str) -> None:
    open_page(page, app_url, "/", view="find")
    menu = page.locator(".st-key-find_map_0_download button")
    click(menu, 3 * PATIENCE)
    image = page.locator(".st-key-find_map_0_file button").first
    assert Path(file_of(image).path()).read_bytes().startswith(b"%PDF")
    click(page.get_by_role("radio", name="CSV", exact=True))
    frame = pd.read_csv(io.StringIO(table_of(file_of(image).path())))
    assert len(frame) == 72
    assert set(frame) == {"series", "Layer", "Head", "Weight above baseline"}
