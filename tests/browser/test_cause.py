"""Browser tests of the Cause page: ablated heads, masked edges and hidden words, as in the backend."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from attention.edits import Ablate, Edit, MaskKey, heads_moved, similarity, unpack
from inference import LocalBackend, TraceRequest
from inference.files.embedded import BERT
from inference.tasks.edit_effects import BlankEffects, VectorEffects
from tests.support.atrest import PATIENCE, click, hears_clicks, rest
from tests.support.browser import Problems
from tests.support.visitor import DEEP_LINK, go_to, matched, open_page, painted, said
from ui.pages.cause.options import CLICKS
from ui.pages.cause.page import PROMPT
from ui.show.text import format_small, times

TEXT = "The animal didn't cross the street because it was too tired."
SINGLE = [(layer, head) for layer in range(6) for head in range(12)]


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


def turned(backend: LocalBackend, *sets: tuple[Edit, ...]) -> NDArray[np.floating]:
    """Return 1 − cosine similarity of the sentence vector for each edit set, compared with no edits."""
    effect = backend.inspect(VectorEffects(text=TEXT, edits=((), *sets)))
    return 1 - similarity(effect.values)[1:]


def test_every_head_s_effect_and_the_chosen_one_are_the_model_s(
    page: Page, app_url: str, problems: Problems, backend: LocalBackend
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/cause", edits="a5-11,a3-1")
    alone = turned(backend, *(((Ablate(*place)),) for place in SINGLE))
    layer, head = SINGLE[int(alone.argmax())]
    text = said(page, "largest effect")
    assert f"head {layer}-{head} " in text
    assert f"the sentence vector moves by {format_small(alone.max())}" in text
    [both] = turned(backend, (Ablate(5, 11), Ablate(3, 1)))
    assert f"the sentence vector moves by {format_small(both)}" in said(page, "With heads 3-1, 5-11 ablated")
    said(page, "^Of 100 random")
    plain, edited = backend.traces([TraceRequest(text=TEXT), TraceRequest(text=TEXT, edits=unpack("a5-11,a3-1"))])
    moved = heads_moved(plain, edited)
    most = np.unravel_index(int(moved.argmax()), moved.shape)
    assert f"Head {most[0]}-{most[1]} " in said(page, "changes most: [0-9]+%")


def test_the_page_begins_with_nothing_ablated_or_with_the_head_that_was_looked_at(
    page: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/cause")
    said(page, PROMPT)
    open_page(page, app_url, "/", layer=2, head=7)
    painted(page)
    go_to(page, "cause")
    assert "Head 2-7 is ablated because it is selected." in said(page, "With head 2-7 ablated")
    said(page, "^Of all 71 other heads")
    go_to(page, "explore")
    painted(page)
    open_page(page, app_url)
    painted(page)
    shown = matched(r"head (\d+)-(\d+)", page.locator(".truth").inner_text())
    go_to(page, "cause")
    said(page, f"With head {shown.group(1)}-{shown.group(2)} ablated")
    expect(page).to_have_url(re.compile(f"layer={shown.group(1)}&head={shown.group(2)}"))


def test_a_click_on_the_map_removes_a_head_and_puts_it_back(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/cause", edits="-")
    said(page, PROMPT)
    rest(page)
    figure = page.locator(".st-key-cause_all .js-plotly-plot")
    cells = figure.locator(".nsewdrag")
    cells.wait_for()  # Plotly draws this layer last, after it has placed the axes.
    hears_clicks(figure)
    x, y = figure.evaluate("({_fullLayout: {xaxis, yaxis}}) => [xaxis.d2p(2), yaxis.d2p(4)]")
    click(cells, position={"x": x, "y": y})
    said(page, "With head 4-2 ablated")
    expect(page).to_have_url(re.compile(r"edits=a4-2"))
    page.reload()
    said(page, "With head 4-2 ablated")


def test_a_word_is_hidden_and_a_look_is_cut_by_clicks(
    page: Page, app_url: str, problems: Problems, backend: LocalBackend
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/cause", edits="-", clicking="hide")
    said(page, PROMPT)
    click(page.get_by_role("button", name=re.compile("^animal")).first)
    text = said(page, "With “animal” masked")
    trace = backend.trace(TraceRequest(text=TEXT))
    animal = trace.tokens.index("animal")
    [without] = turned(backend, tuple(MaskKey(layer, animal) for layer in range(6)))
    assert f"the sentence vector moves by {format_small(without)}" in text
    click(page.get_by_role("radio", name=CLICKS["cut"]))
    # Until this text appears, a click still hides a word.
    expect(page.get_by_text("Click the query word")).to_be_visible(timeout=PATIENCE)
    click(page.get_by_role("button", name=re.compile("^it")).first)
    expect(page.get_by_text("Click the key word")).to_be_visible(timeout=PATIENCE)
    click(page.get_by_role("button", name=re.compile("^street")).first)
    said(page, "3-1: “it” → “street” masked")


def test_the_curve_is_drawn_step_by_step(page: Page, app_url: str, problems: Problems, backend: LocalBackend) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/cause", steps=4, greedy="most")
    click(page.get_by_role("button", name="Draw the curve"))
    text = said(page, "After 2 of 72 heads")
    gone: tuple[Ablate, ...] = ()
    for _ in range(4):
        left = [(*gone, Ablate(*place)) for place in SINGLE if Ablate(*place) not in gone]
        gone = left[int(turned(backend, *left).argmax())]
    assert f"after 4, {1 - turned(backend, gone)[0]:.2f}" in text
    expect(page.locator(".st-key-cause_curve .js-plotly-plot .main-svg").first).to_be_visible(timeout=PATIENCE)


def test_the_curve_can_be_stopped_and_goes_on(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/cause", text="A cat sat on the mat while a dog slept on the old red sofa.", curve=1)
    page.get_by_role("button", name="Stop").click(timeout=2 * PATIENCE)
    text = said(page, "Stopped after")
    done = int(matched(r"Stopped after (\d+) of 72 steps", text).group(1))
    assert done < 72
    said(page, f"after {done}, " if done else "Stopped after 0")
    click(page.get_by_role("button", name="Go on"))
    expect(page.locator(".headlight-note").filter(has_text="Stopped after")).to_have_count(0, timeout=PATIENCE)


def test_a_masked_word_s_log_odds_are_the_model_s(
    page: Page, app_url: str, problems: Problems, backend: LocalBackend
) -> None:
    problems.allow(DEEP_LINK)
    query = {"watch": "blank", "text": "The [MASK] was a cat", "first": "street", "second": "animal", "edits": "a1-2"}
    open_page(page, app_url, "/cause", **query)
    text = said(page, "With head 1-2 ablated")
    words, sets = ("street", "animal"), ((), (Ablate(1, 2),))
    question = BlankEffects(BERT, text=query["text"], words=words, edits=sets)
    before, after = np.subtract(*backend.predict(question).values.T)
    assert f"With head 1-2 ablated, {times(after, *words)}; before, {times(before, *words)}." in text
    page.get_by_role("button", name=re.compile("headlight-bert")).wait_for()
    expect(page.locator(".st-key-cause_bars_1 .js-plotly-plot .main-svg").first).to_be_visible(timeout=PATIENCE)
