"""Every decoder architecture on the Generate page: it writes, it says what it looked at, its heads are drawn."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from inference.questions.decoding import NextToken
from tests.support.browser import PATIENCE, rest
from tests.support.decoders import DECODERS, save_decoder
from tests.support.serving import serving
from tests.support.visitor import DEEP_LINK, open_page

FIRST = 2 * PATIENCE  # ms; the app's first answer waits for its libraries, and they for a busy machine
TEXT = "The cat sat on the mat, and the dog"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory):
    """The app over a folder that a model is put into by each test."""
    with serving(tmp_path_factory.mktemp("families")) as started:
        yield started


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_writes_and_is_looked_at(page, problems, served, name: str) -> None:
    problems.allow(DEEP_LINK)
    folder = str(save_decoder(served.root / re.sub(r"\W+", "-", name), name))
    first = served.backend.predict(NextToken(model=folder, text=TEXT, top=100))
    open_page(page, served.url, "/generate", model=folder, text=TEXT, show="looks")
    page.get_by_role("button", name="Next token").click(timeout=FIRST)
    expect(page).to_have_url(re.compile(rf"[?&]written={first.greedy.token}(&|$)"))
    second = served.backend.predict(NextToken(model=folder, text=TEXT, top=100, written=(first.greedy.token,)))
    note = page.locator(".headlight-note")
    if second.looks is None:
        expect(note.filter(has_text="does not give its attention step by step").first).to_be_visible()
    else:
        expect(note.filter(has_text="looks back at").first).to_be_visible()
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    rest(page)
    expect(page.locator("[data-testid='stException'], .headlight-refusal")).to_have_count(0)
