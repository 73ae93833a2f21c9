"""A visitor goes along the whole pass: by the keyboard, by clicks that go closer, and back."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.browser import PATIENCE, Problems, rest
from tests.support.visitor import DEEP_LINK, open_page


def test_along_by_the_keyboard_closer_by_clicks_and_back(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/whole_pass", text="The cat sat.", stage=5, zoom="layer")
    note = page.locator(".headlight-note")
    expect(note.filter(has_text="Before the layers, embeddings: LayerNorm")).to_be_visible(timeout=PATIENCE)
    rest(page)
    page.keyboard.press("Alt+PageDown")
    expect(note.filter(has_text="Layer 0, attention, queries")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("stage=6"))
    rest(page)
    page.keyboard.press("Alt+PageUp")
    expect(note.filter(has_text="Before the layers, embeddings: LayerNorm")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("stage=5"))
    rest(page)
    page.locator(".stack .part.chosen").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(note.filter(has_text="The chosen number")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("zoom=stage"))
    rest(page)
    page.go_back()
    expect(page).to_have_url(re.compile("zoom=layer"))
    expect(note.filter(has_text="The chosen number")).to_have_count(0, timeout=PATIENCE)
