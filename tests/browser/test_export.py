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
from tests.support.savedfiles import parts
from tests.support.visitor import open_page, painted

TEXT = 'Quotes "and", commas, =SUM(A1) and </script> stay text.'


@pytest.fixture(scope="module")
def trace() -> Trace:
    return LocalBackend().trace(TraceRequest(text=TEXT))


def export(page: Page, name: re.Pattern[str]) -> Download:
    """Choose an entry of the export menu, and return the download."""
    page.locator("summary", has_text="Export").click()
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
    content, about = parts(download.path().read_bytes())
    assert (about["layer"], about["head"], about["index_base"], about["model"]) == (2, 4, 0, "all-MiniLM-L6-v2")
    rows = pd.read_csv(io.BytesIO(content))
    weights = rows.iloc[:, 1:].to_numpy(np.float32)
    np.testing.assert_array_equal(weights, trace.weights(2, 4))
    told = json.loads(export(shown, re.compile("JSON")).path().read_text(encoding="utf-8"))
    assert told["caption"]["text"] == TEXT
    np.testing.assert_array_equal(np.array(told["weights"], np.float32), trace.weights(2, 4))
    svg = export(shown, re.compile("Matrix as SVG")).path().read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in svg
    assert "</script>" not in svg
    assert "&lt;/script&gt;" in svg
    png = export(shown, re.compile("Matrix as PNG")).path().read_bytes()
    assert png.startswith(b"\x89PNG")
    width = int.from_bytes(png[16:20], "big")
    assert width >= 1600, "print quality"


def opens_without_the_app(shown: Page, browser: Browser, tmp_path: Path) -> None:
    saved = tmp_path / "view.html"
    said = shown.locator(".result").inner_text()
    assert "on average" in said
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
