"""Browser tests of the Positions page: its sentences match the model and the formulas."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attention.positions import shuffle_tokens
from inference import LocalBackend, TraceRequest
from inference.tasks.positions import OrderRequest
from tests.support.asking import plain_numbers
from tests.support.atrest import click, rest
from tests.support.browser import Problems
from tests.support.looks import turn
from tests.support.visitor import DEEP_LINK, box_of, file_of, matched, open_page, read, table_of
from ui.pages.positions.position_scheme import SHOWS
from ui.show.text import format_small

FAMOUS = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


@pytest.fixture(autouse=True)
def by_its_own_address(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def note(page: Page, *words: str) -> Locator:
    """Return the first note that contains all ``words``."""
    found = page.locator(".headlight-note")
    for word in words:
        found = found.filter(has_text=word)
    return found.first


def pieces(page: Page, title: str) -> list[str]:
    """Return the tokens of a token strip in display order, without the position numbers below them."""
    strip = page.locator("section.hl").filter(has_text=title)
    return strip.locator(".chips [data-i] .text").all_inner_texts()


def test_the_order_test_says_what_the_model_does_another_shuffle_is_in_the_link_and_every_head_is_listed(
    page: Page, app_url: str, backend: LocalBackend, tmp_path: Path
) -> None:
    trace = backend.trace(TraceRequest(text=FAMOUS))
    order = shuffle_tokens(trace.source, 1)
    test = backend.inspect(OrderRequest(text=FAMOUS, order=order))
    open_page(page, app_url, "/positions")
    sentence = note(page, "Without positions").inner_text()
    lacking, having = matched(
        r"differ by at most (\S+) \(rounding\).* by up to (\S+) ", plain_numbers(sentence)
    ).groups()
    assert float(lacking) < 1e-5
    assert having == format_small(test.having.differences.max())
    layer, head = np.unravel_index(test.having.differences.argmax(), test.having.differences.shape)
    assert f"(head {layer}-{head})" in sentence
    taken = note(page, "Positions removed:")
    expect(taken).to_contain_text("embeddings.position_embeddings.weight (rows × numbers: 512 × 384)")
    expect(page.locator(".matrices")).to_have_count(4)
    rest(page)
    tops = [box_of(place)["y"] for place in page.locator(".matrices").all()]
    assert max(tops) - min(tops) < 1, "with positions and without, in one row"
    expect(page.locator("section.hl").filter(has_text="New order")).to_be_visible()
    assert pieces(page, "New order") == [trace.tokens[at] for at in order]
    expect(page.locator(".matrices canvas").first).to_be_visible()
    click(page.get_by_role("button", name="Another shuffle"))
    expect(page).to_have_url(re.compile("seed=2"))
    second = [trace.tokens[at] for at in shuffle_tokens(trace.source, 2)]
    strip = page.locator("section.hl").filter(has_text="New order").locator(".chips [data-i] .text")
    expect(strip).to_have_text(second)
    rest(page)
    page.go_back()
    expect(strip).to_have_text([trace.tokens[at] for at in shuffle_tokens(trace.source, 1)])
    click(page.get_by_role("paragraph").filter(has_text="Order sensitivity"))
    waiting = file_of(page.get_by_role("button", name="Save as CSV"))
    saved = tmp_path / "order.csv"
    waiting.save_as(saved)
    lines = table_of(saved).splitlines()
    assert lines[0] == "layer,head,with positions,without positions"
    assert len(lines) == 1 + 6 * 12
    assert max(float(line.split(",")[3]) for line in lines[1:]) < 1e-5
    expect(page.locator(".matrices canvas").first).to_be_visible()
    read(page, "Hello")
    expect(page.get_by_role("alert").filter(has_text="no two different words")).to_be_visible()
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("Hello")


def test_each_view_is_drawn_and_says_whose_numbers_it_shows_and_a_hostile_text_is_shown_as_text(
    page: Page, app_url: str
) -> None:
    text = "<b>one</b> ![x](http://192.0.2.7/x.png) :material/home: $x^2$ two"
    open_page(page, app_url, "/positions", show="vectors", length=32, curves="2-5", mix="swap", text=text)
    expect(note(page, "Sinusoidal")).to_contain_text("of 32 rows")
    expect(note(page, "all-MiniLM-L6-v2 (learned)")).to_contain_text("of 32 rows")
    expect(page.locator(".matrices canvas")).not_to_have_count(0)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(6)
    expect(note(page, "at most 512 positions")).to_be_visible()
    rest(page)
    turn(page, SHOWS["distance"])
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    for settings in ("base 10,000, d_k = 32", "h = 12", "32 buckets"):
        expect(note(page, "does not use this scheme", settings)).to_be_visible()
    turn(page, SHOWS["shift"])
    expect(note(page, "One matrix shifts positions by 5")).to_contain_text("over 27 positions")
    turn(page, SHOWS["test"])
    expect(page.locator(".matrices canvas").first).to_be_visible()
    expect(page.get_by_role("combobox", name=re.compile("This word"))).to_be_visible()
    click(page.get_by_role("combobox", name=re.compile("This word")))
    expect(page.get_by_role("option").first).to_be_visible()
    rest(page)
    assert page.locator("img[src*='192.0.2.7']").count() == 0
