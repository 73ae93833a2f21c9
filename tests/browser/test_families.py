"""Browser tests of three architectures with very different attention: generation, views and figures.

Tests without a browser in tests/ui/pages/generate and tests/ui/pages/translate cover the other architectures.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from inference.tasks.decoding import NextTarget, NextToken
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.decoders import save_decoder
from tests.support.serving import Served
from tests.support.translatorfamilies import save_translator
from tests.support.visitor import DEEP_LINK, open_page

FIRST = 2 * PATIENCE  # Milliseconds; the first answer waits for the imports, which are slow on a busy machine.
TEXT = "The cat sat on the mat, and the dog"


# Gemma 3 shares keys among heads and has a sliding window; MPT has a distance bias and yields only its maps.
@pytest.mark.parametrize("name", ["Gemma 3", "MPT"])
def test_every_decoder_writes_and_is_looked_at(page: Page, problems: Problems, served: Served, name: str) -> None:
    problems.allow(DEEP_LINK)
    folder = str(save_decoder(served.place("families") / re.sub(r"\W+", "-", name), name))
    first = served.backend.predict(NextToken(model=folder, text=TEXT, top=100))
    open_page(page, served.url, "/generate", model=folder, text=TEXT, show="looks")
    click(page.get_by_role("button", name="Next token"), FIRST)
    expect(page).to_have_url(re.compile(rf"[?&]written={first.greedy.token}(&|$)"))
    second = served.backend.predict(NextToken(model=folder, text=TEXT, top=100, written=(first.greedy.token,)))
    note = page.locator(".headlight-note")
    if second.looks is None:
        expect(note.filter(has_text="All heads").first).to_be_visible()
    else:
        expect(note.filter(has_text="attends back to").first).to_be_visible()
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    rest(page)
    expect(page.locator("[data-testid='stException'], .headlight-refusal")).to_have_count(0)


# T5 is an encoder-decoder with learned relative position biases and no absolute positions.
@pytest.mark.parametrize("name", ["T5"])
def test_every_translator_writes_and_is_aligned(page: Page, problems: Problems, served: Served, name: str) -> None:
    problems.allow(DEEP_LINK)
    folder = str(save_translator(served.place("families") / re.sub(r"\W+", "-", name), name))
    first = served.backend.predict(NextTarget(folder, text=TEXT))
    open_page(page, served.url, "/translate", model=folder, text=TEXT, step=0)
    note = page.locator(".headlight-note")
    expect(note.filter(has_text="Before writing “").first).to_be_visible(timeout=FIRST)
    expect(page.locator(".st-key-translate_matrix .main-svg").first).to_be_visible()
    click(page.get_by_role("radio", name="One step"))
    said = f"“{first.candidates[0].piece}” is likeliest"
    expect(note.filter(has_text=said).first).to_be_visible()
    rest(page)
    expect(page.locator("[data-testid='stException'], .headlight-refusal")).to_have_count(0)
