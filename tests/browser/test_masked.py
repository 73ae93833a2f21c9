"""Browser tests of the Masked words page: its numbers match the backend, and clicks mask words."""

from __future__ import annotations

import csv
import io
import re
from math import exp
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from inference import TraceRequest
from inference.tasks.predictions import MaskedWords
from tests.support.atrest import click
from tests.support.browser import Problems
from tests.support.looks import DESKTOP, accessible_and_fits, each_view, turn
from tests.support.predictors import Predictor
from tests.support.visitor import DEEP_LINK, file_of, known, open_page, read, said, stands, table_of
from ui.pages.masked_words.options import SHOWS

TEXT = "The animal was in the street."
STREET = (0, 22, 28)
CHART = ".js-plotly-plot .main-svg"


@pytest.fixture(autouse=True)
def deep_links(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def opened(page: Page, predictor: Predictor, **query: object) -> Page:
    given: dict[str, Any] = {"model": predictor.model, "text": TEXT, **query}
    given = {name: value for name, value in given.items() if value is not None}
    open_page(page, predictor.url, "/masked_words", **given)
    stands(page)
    return page


def chip(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name="Click a word to mask it").get_by_role("button", name=re.compile(f"^{name}"))


def saved(page: Page, name: str = "Save as CSV (zip)") -> list[list[str]]:
    waiting = file_of(page.get_by_role("button", name=name, exact=True))
    return list(csv.reader(io.StringIO(table_of(waiting.path()))))


def test_the_guesses_the_words_asked_about_and_where_a_blank_looks_are_the_backends(
    page: Page, predictor: Predictor
) -> None:
    opened(page, predictor, top=4, ask="cat,playing", to=2)
    found = predictor.backend.predict(MaskedWords(model=predictor.model, text=TEXT, hidden=(STREET,), top=4))
    blank = found.blanks[0]
    original = known(blank.original)
    said(page, re.escape(f"“street”, ranks {original.rank} of {found.vocabulary}"))
    expect(page.locator(CHART).first).to_be_visible()
    labels = page.locator(".js-plotly-plot").first.locator(".ytick text")
    expect(labels).to_have_text([guess.piece for guess in blank.guesses])
    click(page.get_by_text("Table", exact=True))
    names, *rows = saved(page)
    assert names == ["Blank", "Original", "Rank", "Token", "Probability"]
    told = [*blank.guesses, original]
    assert [float(row[-1]) for row in rows] == pytest.approx([guess.probability for guess in told], rel=1e-6)
    asked = MaskedWords(model=predictor.model, text=TEXT, hidden=(STREET,), words=("cat", "playing"))
    cat, playing = predictor.backend.predict(asked).candidates
    _, *rows = saved(page, "Save the scores (zip)")
    assert [row[0] for row in rows] == ["cat", "playing"]
    assert rows[1][1] == "play …ing"
    assert [float(row[2]) for row in rows] == pytest.approx(
        [exp(known(word.log_probability)) for word in (cat, playing)]
    )
    assert [row[3] for row in rows] == [str(cat.rank), ""]
    turn(page, SHOWS["looks"])
    where_it_looks(page, predictor)


def where_it_looks(page: Page, predictor: Predictor) -> None:
    trace = predictor.backend.trace(TraceRequest(predictor.model, "The animal was in the [MASK]."))
    animal = [at for at, word in enumerate(trace.source.words) if word == trace.source.words[2]]
    blank = trace.tokens.index("[MASK]")
    given = trace.rows(blank)[:, :, animal].sum(-1)
    layer, head = np.unravel_index(given.argmax(), given.shape)
    said(
        page,
        re.escape(f"Head {layer}-{head}: [MASK] gives “animal” {given.max():.0%} of its attention; rank 1 of "),
    )
    link = page.get_by_role("link", name="Open Attention heads")
    expect(link).to_be_visible()
    click(link)
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("The animal was in the [MASK].")
    expect(page).to_have_url(re.compile(f"focus={blank}"))


def test_clicks_hide_and_uncover_live_in_the_link_and_are_forgotten_with_the_text(
    page: Page, predictor: Predictor
) -> None:
    opened(page, predictor)
    expect(chip(page, "street, .*masked$")).to_be_visible()
    click(chip(page, "animal"))
    expect(page).to_have_url(re.compile("hidden=0%3A4-10(&|$)"))
    expect(chip(page, "street, Click a word to mask it$")).to_be_visible()
    click(chip(page, "street"))
    expect(page.get_by_role("combobox", name="Blank")).to_be_visible()
    for name in ("animal", "street"):
        click(chip(page, f"{name}, .*masked$"))
        expect(chip(page, f"{name}, Click a word to mask it$")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("No word is hidden. Write [MASK] in place of a word")
    expect(page).to_have_url(re.compile("hidden=-"))
    click(chip(page, "was"))
    expect(page).to_have_url(re.compile("hidden=0%3A11-14"))
    page.reload()
    found = predictor.backend.predict(MaskedWords(model=predictor.model, text=TEXT, hidden=((0, 11, 14),)))
    said(page, re.escape(f"predicts “{found.blanks[0].guesses[0].piece}”"))
    click(chip(page, "animal"))
    expect(chip(page, "animal, .*masked$")).to_be_visible()
    expect(page.get_by_role("combobox", name="Blank")).to_be_visible()
    read(page, "A cat was it.")
    expect(chip(page, "it, .*masked$")).to_be_visible()
    expect(page.get_by_role("combobox", name="Blank")).to_have_count(0)


@pytest.mark.parametrize("viewport", [DESKTOP])
def test_every_view_is_accessible_and_fits(page: Page, predictor: Predictor) -> None:
    opened(page, predictor)
    for _ in each_view(page, SHOWS):
        expect(
            page.get_by_role("button", name=re.compile("Save the table|Draw another|Copy link")).last
        ).to_be_visible()
        expect(page.get_by_text("How to read")).to_be_visible()
        accessible_and_fits(page)
