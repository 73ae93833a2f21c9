"""Browser tests of the Next sentence page: both orders, attention across sentences, files of pairs."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attention.view import flow, group
from inference import TraceRequest
from inference.files import embedded
from inference.tasks.predictions import NextSentence
from tests.support.atrest import click
from tests.support.browser import Problems
from tests.support.looks import DESKTOP, accessible_and_fits
from tests.support.predictors import Predictor
from tests.support.serving import Served
from tests.support.visitor import DEEP_LINK, file_of, open_page, painted, read, says, stands, table_of

A, B = "The cat was it.", "It was playing."


@pytest.fixture(autouse=True)
def deep_links(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def opened(page: Page, predictor: Predictor, **query: object) -> Page:
    open_page(page, predictor.url, "/next_sentence", **{"model": predictor.model, "text": A, "pair": B, **query})
    stands(page)
    return page


def judged(predictor: Predictor, text: str, pair: str) -> float:
    return predictor.backend.predict(NextSentence(model=predictor.model, text=text, pair=pair)).probability


def saved(page: Page, key: str) -> list[list[str]]:
    waiting = file_of(page.locator(f".st-key-{key}").get_by_role("button"))
    return list(csv.reader(io.StringIO(table_of(waiting.path()))))


@pytest.mark.parametrize("viewport", [DESKTOP])
def test_both_orders_and_who_looks_across_are_the_backends_and_all_is_accessible_and_fits(
    page: Page, predictor: Predictor
) -> None:
    opened(page, predictor, looks="b", at="a")
    painted(page)
    accessible_and_fits(page, drawn=lambda: painted(page))
    page.set_viewport_size(DESKTOP)
    one, other = judged(predictor, A, B), judged(predictor, B, A)
    says(page, re.compile(f"A, B {one:.3f} .*B, A {other:.3f}"))
    _, *rows = saved(page, "next_save")
    assert [float(row[2]) for row in rows] == pytest.approx([one, other], rel=1e-6)
    trace = predictor.backend.trace(TraceRequest(predictor.model, A, B))
    shares = flow(trace, group(trace.source, "b"), group(trace.source, "a"))
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    says(page, f"Head {layer}-{head}: B gives A {shares.max():.0%} of its attention; rank 1 of ")
    click(page.get_by_role("radiogroup", name="Attention from").get_by_text("A", exact=True))
    click(page.get_by_role("radiogroup", name="Attention to").get_by_text("B", exact=True))
    expect(page).to_have_url(re.compile("filter=ab"))
    expect(page.get_by_role("combobox", name="Pairs")).to_have_value("ab")
    expect(page.locator(f"[data-painted^='/headlight/trace/{trace.id}']").first).to_be_visible()


@pytest.mark.skipif(not embedded.own_here(embedded.TRANSLATOR), reason="the translator trained here is not there")
def test_a_second_text_can_be_typed_while_a_translator_is_chosen(
    page: Page, predictor: Predictor, served: Served
) -> None:
    with served.listed(predictor.model) as model:
        opened(page, predictor, model=embedded.TRANSLATOR, pair="", speaker=model)
        click(page.get_by_role("button", name="+ second text"))
        box = page.get_by_role("textbox", name="Second text (optional)")
        box.fill(B)
        box.press("Enter")
        one, other = judged(predictor, A, B), judged(predictor, B, A)
        says(page, re.compile(f"A, B {one:.3f} .*B, A {other:.3f}"))
        read(page, A)
        says(page, re.compile(f"A, B {one:.3f} "))


def test_a_hostile_pair_is_shown_as_text_a_file_of_pairs_is_judged_and_an_odd_one_refused_in_a_sentence(
    page: Page, predictor: Predictor, tmp_path: Path
) -> None:
    pairs = [("The cat was it.", "=It was in it."), ("A, b", "the street"), ("a " * 30, "b " * 30)]
    file = tmp_path / "pairs.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("first text", "second text"), *pairs])
    odd = tmp_path / "odd.csv"
    odd.write_text("only one column\n")
    bold = "<b>it</b>"
    opened(page, predictor, pair=f"{bold} was in it. It was in it. The cat was it.")
    says(page, re.compile("A, B [01]"))
    expect(page.locator("b").filter(has_text="it")).to_have_count(0)
    expect(page.locator("[data-testid='stException']")).to_have_count(0)
    click(page.get_by_role("button", name="Open a file"))
    upload = page.locator("[data-testid='stPopoverBody'] input[type=file]")
    upload.set_input_files(odd)
    says(page, "Line 1 lacks")
    upload.set_input_files(file)
    says(page, "3 pairs")
    page.keyboard.press("Escape")
    click(page.get_by_role("button", name="Judge these pairs"))
    says(page, re.compile(r"In \d of 2 pairs"))
    names, *rows = saved(page, "pairs_save")
    assert names == ["first text", "second text", "probability", "texts swapped", "remark"]
    assert [tuple(row[:2]) for row in rows[:2]] == [("The cat was it.", "'=It was in it."), ("A, b", "the street")]
    expected = [(judged(predictor, a, b), judged(predictor, b, a)) for a, b in pairs[:2]]
    np.testing.assert_allclose([[float(row[2]), float(row[3])] for row in rows[:2]], expected, rtol=1e-5)
    assert rows[2][2:4] == ["", ""]
    assert "63 tokens; tiny-bert reads at most 40" in rows[2][4]
