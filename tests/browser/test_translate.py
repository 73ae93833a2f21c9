"""Browser tests of the Translate page: the model's own translation, and edits by click and by typing.

Tests without a browser in tests/ui/pages/translate check the numbers and the saved tables.
"""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attention.alignment import CrossRowConvention, alignment
from attention.edits import MaskEdge, Uniform
from inference import TraceRequest
from tests.support.atrest import click, hears_clicks, rest
from tests.support.browser import Problems
from tests.support.looks import DESKTOP, accessible_and_fits, each_view, turn
from tests.support.translators import TEXT, Translator, best_head
from tests.support.visitor import DEEP_LINK, file_of, known, open_page, painted, read, says, stands, table_of
from ui.ablation.controls import CODES
from ui.input.view_options import NAMES
from ui.pages.translate.options import CLICKS, SHOWS, SIDES, WAYS
from ui.show.text import likelihood, percent

CHART = ".js-plotly-plot .main-svg"
# The other views have a chart as their main element.
MAIN = {"beams": "[data-testid='stDataFrame']", "heads": "[data-painted]"}
STRIP = "Translation, with"


@pytest.fixture(autouse=True)
def deep_links(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def opened(page: Page, translator: Translator, **query: object) -> Page:
    open_page(page, translator.url, "/translate", **{"model": translator.model, "text": TEXT, **query})
    stands(page)
    return page


def chips(page: Page, title: str = STRIP) -> Locator:
    return page.get_by_role("group", name=re.compile(f"^{title}")).get_by_role("button")


def saved(page: Page) -> list[list[str]]:
    waiting = file_of(page.get_by_role("button", name="Save as CSV"))
    text = table_of(waiting.path())
    return list(csv.reader(io.StringIO(text)))[1:]


def click_cell(page: Page, key: str, column: int, row: int) -> None:
    """Click a cell of the figure ``key`` after the figure handles clicks."""
    figure = page.locator(f".st-key-{key} .js-plotly-plot")
    expect(figure.locator(".main-svg").first).to_be_visible()
    rest(page)
    hears_clicks(figure)
    cell = figure.evaluate(
        """(plot, [column, row]) => { const {xaxis, yaxis} = plot._fullLayout;
        return [xaxis._offset + xaxis.d2p(column), yaxis._offset + yaxis.d2p(row)]; }""",
        [column, row],
    )
    click(figure, position={"x": cell[0], "y": cell[1]})


def test_the_translation_is_the_model_s_own_token_for_token_and_its_steps_and_heads_are_picked(
    page: Page, translator: Translator
) -> None:
    opened(page, translator, step=1, cross="1-2")
    tokens = translator.greedy()
    trace = translator.trace(tokens)
    target = known(trace.target)
    assert target.ids[1:] == tokens[:-1]
    # The trace without a target holds the output of generate().
    plain = translator.backend.trace(TraceRequest(translator.model, TEXT))
    assert known(plain.target).ids == target.ids
    chances = np.exp(translator.forced(tokens).logs[0])
    expect(chips(page)).to_have_count(len(tokens))
    for at, piece in enumerate((*target.pieces[1:], "⟨end⟩")):
        chip = chips(page).nth(at)
        expect(chip).to_have_accessible_name(re.compile(f"^{re.escape(piece)}.*{re.escape(percent(chances[at]))}"))
    expect(page.locator(CHART).first).to_be_visible()
    says(page, f"Before writing “{target.pieces[2]}”, cross head 1-2")
    assert [float(line[-1]) for line in saved(page)] == pytest.approx(
        trace.weights(1, 2, "cross").flatten().tolist(), abs=1e-6
    )
    a_step_and_a_head_are_picked_and_live_in_the_link(page, translator, tokens)
    the_steps_are_gone_through_one_by_one(page, translator, tokens)
    read(page, "A cat.")
    expect(page).to_have_url(re.compile("text=A\\+cat"))
    trace = translator.backend.trace(TraceRequest(translator.model, "A cat."))
    expect(chips(page).nth(0)).to_have_accessible_name(re.compile(f"^{re.escape(known(trace.target).pieces[1])}"))


def a_step_and_a_head_are_picked_and_live_in_the_link(
    page: Page, translator: Translator, tokens: tuple[int, ...]
) -> None:
    click_cell(page, "translate_matrix", 3, 2)
    expect(page).to_have_url(re.compile("[?&]step=2"))
    expect(chips(page).nth(2)).to_have_accessible_name(re.compile("chosen"))
    click(page.get_by_text("One step later", exact=True))
    found = alignment(translator.trace(tokens), 1, 2, False, CrossRowConvention.OWN)
    says(page, f"After reading “{found.target[3].text}”, cross head 1-2")
    heads = page.get_by_role("combobox", name="Cross head")
    heads.scroll_into_view_if_needed()  # A list that opens while the page is still scrolling would close again.
    click(heads)
    page.get_by_role("option", name="Mean").click()
    expect(page).to_have_url(re.compile("cross=mean"))
    says(page, "all cross")


def the_steps_are_gone_through_one_by_one(page: Page, translator: Translator, tokens: tuple[int, ...]) -> None:
    turn(page, SHOWS["step"])
    click(chips(page).nth(1))
    expect(page).to_have_url(re.compile("[?&]step=1"))
    step = translator.backend.predict(translator.asked(written=tokens[:1]))
    assert f"“{step.candidates[0].piece}” is likeliest" in says(page, f"Step 2 of {len(tokens)}")
    read_so_far = page.get_by_label("Decoder", exact=True).locator(".chip")
    expect(read_so_far).to_have_count(len(tokens))
    expect(read_so_far.nth(2)).to_have_attribute("class", re.compile("masked"))
    click(page.get_by_role("button", name="Next step"))
    says(page, f"Step 3 of {len(tokens)}")
    expect(page).to_have_url(re.compile("[?&]step=2"))


def test_a_look_is_cut_and_a_head_removed_by_a_click_and_what_is_typed_too(page: Page, translator: Translator) -> None:
    opened(page, translator, show="without", clicking="cut", edits="-", step=1, scope="all")
    says(page, "is ablated")
    click(chips(page, "Click a source word").nth(2))
    tokens = translator.greedy()
    said = says(page, f"“{translator.trace(tokens).source.pieces[2]}” hidden from step 2 (heads: 9)")
    edits = tuple(MaskEdge(layer, head, 1, 2, "cross") for layer, head in np.ndindex(3, 3))
    plain, cut = translator.forced(tokens, (), edits).logs.sum(axis=1)
    assert f"from {likelihood(plain)} to {likelihood(cut)}" in said
    expect(chips(page, "Click a source word").nth(2)).to_have_accessible_name(re.compile("removed"))
    click(chips(page, "Click a source word").nth(2))
    says(page, "is ablated")
    turn(page, CLICKS["head"])
    click_cell(page, "translate_map", 2, 1)
    says(page, "cross head 1-2")
    expect(page).to_have_url(re.compile("edits=ax1-2"))
    says(page, "Of all 8 other heads")
    click(page.get_by_text("Edits", exact=True))
    page.get_by_role("textbox", name=CODES).fill("ux0-1, nonsense")
    page.get_by_role("textbox", name=CODES).press("Enter")
    says(page, "an edit")
    plain, even = translator.forced(tokens, (), (Uniform(0, 1, "cross"),)).logs.sum(axis=1)
    assert f"from {likelihood(plain)} to {likelihood(even)}" in says(page, "Other edits: 1")


def test_hostile_links_are_shown_as_text_and_what_is_typed_stays_when_it_is_not_read(
    page: Page, translator: Translator
) -> None:
    text = "<script>alert(1)</script> ![x](http://x.example/) **b** $x$"
    edits = "<img src=x onerror=alert(1)>"
    target = f"{edits} ![x](http://x.example/)"
    opened(page, translator, text=text, target=target, edits=edits)
    for show, said in (("words", "cross head"), ("without", "an edit")):
        turn(page, SHOWS[show])
        says(page, said)
        expect(page.locator("[data-testid='stException']")).to_have_count(0)
        expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(text)
    turn(page, WAYS["greedy"])
    says(page, re.compile(f"unused.*“{WAYS['own']}”"))
    expect(page.get_by_role("textbox", name="Translation (optional)")).to_have_value(target)


def test_neither_words_nor_views_are_cut_off_at_any_width(page: Page, app_url: str) -> None:
    open_page(page, app_url, "/translation")
    hidden = "(at, [of, side]) => at.closest(of)[`scroll${side}`] - at.closest(of)[`client${side}`]"
    for width in (390, 820, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        stands(page)
        assert chips(page).first.evaluate(hidden, [".chips", "Height"]) <= 0, width
        views = page.get_by_role("radio", name=SHOWS["words"], exact=True)
        assert views.evaluate(hidden, ["[role=radiogroup]", "Width"]) <= 0, width


@pytest.mark.parametrize("viewport", [DESKTOP])
def test_every_view_is_accessible_and_fits_and_every_head_is_of_exactly_this_translation(
    page: Page, translator: Translator
) -> None:
    opened(page, translator, show="heads", side="encoder")
    click(page.get_by_role("radio", name="Beam search"))
    expect(page).to_have_url(re.compile("way=beam"))
    every_head_of_every_part(page, translator)
    for show in each_view(page, {"heads": SHOWS["heads"], **SHOWS}):  # Start with the view that is already open.
        expect(page.locator(MAIN.get(show, CHART)).first).to_be_visible()
        expect(page.get_by_text("How to read")).to_be_visible()
        if show == "best":  # This view needs scores on hand-aligned sentences.
            says(page, "French pairs")
        accessible_and_fits(page)


def every_head_of_every_part(page: Page, translator: Translator) -> None:
    trace = translator.trace(translator.beams(4)[-1].finished[0].tokens)
    expect(chips(page).nth(0)).to_have_accessible_name(re.compile(re.escape(known(trace.target).pieces[1])))
    for side in SIDES:
        turn(page, NAMES[side])
        shown = painted(page)
        if side == "cross":
            assert (int(shown["layer"]), int(shown["head"])) == best_head(trace)
            assert shown["base"].endswith(trace.id)
        at, last = 3 * int(shown["layer"]) + int(shown["head"]), 5 if side == "encoder" else 8
        click(page.get_by_role("button", name="Next head" if at < last else "Previous head"))
        layer, head = divmod(at + 1 if at < last else at - 1, 3)
        painted(page, layer=layer, head=head)
        expect(page).to_have_url(re.compile(f"cross={layer}-{head}" if side == "cross" else f"layer={layer}"))
