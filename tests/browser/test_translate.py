"""A visitor on the Translate page: every number on it is the backend's, and a link brings everything back."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attention.alignment import ReadAt, alignment
from attention.covering import covering_heads
from attention.edits import Ablate, Cut, Edit, Uniform
from attention.trace import Trace
from inference import TraceRequest
from inference.questions.decoding import NextBeams, NextTarget
from inference.questions.forced import Forced, ForcedTarget
from tests.support.browser import Problems, click, hears_clicks
from tests.support.looks import DESKTOP, accessible_and_fits, each_view, turn
from tests.support.predictors import BARE
from tests.support.translators import Translator
from tests.support.visitor import DEEP_LINK, file_of, known, open_page, painted, read, stands, table_of
from ui.input.parts import NAMES
from ui.pages.translate.options import SHOWS, SIDES
from ui.show.numbers import factor, likelihood, percent

TEXT = "The animal sat on the mat."
CHART = ".js-plotly-plot .main-svg"
MAIN = {"beams": "[data-testid='stDataFrame']", "heads": "[data-painted]"}  # elsewhere a chart
STRIP = "The translation, each token with its probability"


@pytest.fixture(autouse=True)
def deep_links(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def opened(page: Page, translator: Translator, **query: object) -> Page:
    open_page(page, translator.url, "/translate", **{"model": translator.model, "text": TEXT, **query})
    stands(page)
    return page


def says(page: Page, text: str | re.Pattern[str]) -> str:
    note = page.locator(".headlight-note, .headlight-refusal").filter(has_text=text).first
    expect(note).to_be_visible()
    return note.inner_text()


def chips(page: Page, title: str = STRIP) -> Locator:
    return page.get_by_role("group", name=re.compile(f"^{title}")).get_by_role("button")


def saved(page: Page, name: str = "Save as CSV") -> list[list[str]]:
    waiting = file_of(page.get_by_role("button", name=name))
    text = waiting.path().read_text(encoding="utf-8-sig")
    return list(csv.reader(io.StringIO(table_of(text))))[1:]


def asked(translator: Translator, **more: Any) -> NextTarget:
    return NextTarget(translator.model, text=TEXT, **more)


def greedy(translator: Translator, **more: object) -> tuple[int, ...]:
    """The tokens that the model itself writes, its end among them."""
    written: tuple[int, ...] = ()
    while True:
        step = translator.backend.predict(asked(translator, written=written, **more))
        if step.ended or not step.room:
            return written
        written = (*written, step.greedy.token)


def trace_of(translator: Translator, tokens: tuple[int, ...], **more: Any) -> Trace:
    return translator.backend.trace(TraceRequest(translator.model, TEXT, written=tokens, **more))


def forced(translator: Translator, tokens: tuple[int, ...], *sets: tuple[Edit, ...]) -> Forced:
    question = ForcedTarget(translator.model, text=TEXT, written=tokens, edits=sets or ((),))
    return translator.backend.predict(question)


def best_head(trace: Trace) -> tuple[int, int]:
    values = covering_heads(trace)
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    return int(layer), int(head)


def test_a_model_that_does_not_write_lets_another_one_and_is_named_with_its_pages(
    page: Page, translator: Translator
) -> None:
    opened(page, translator, model=BARE)
    first = next(card for card in translator.backend.models() if card.downloaded and "writes" in card.heads)
    said = says(page, "has no head that writes one text from another")
    assert f"on this page {first.title} answers. MiniLM (embedded) fits every page but Masked words, " in said
    expect(page.locator(CHART).first).to_be_visible()


def test_the_translation_is_the_model_s_own_token_for_token_and_another_text_s_on_enter(
    page: Page, translator: Translator
) -> None:
    opened(page, translator, step=1)
    tokens = greedy(translator)
    trace = trace_of(translator, tokens)
    target = known(trace.target)
    assert target.ids[1:] == tokens[:-1]
    plain = translator.backend.trace(TraceRequest(translator.model, TEXT))  # what generate() writes
    assert known(plain.target).ids == target.ids
    chances = np.exp(forced(translator, tokens).logs[0])
    expect(chips(page)).to_have_count(len(tokens))
    for at, piece in enumerate((*target.pieces[1:], "⟨end⟩")):
        chip = chips(page).nth(at)
        expect(chip).to_have_accessible_name(re.compile(f"^{re.escape(piece)}.*{re.escape(percent(chances[at]))}"))
    expect(page.locator(CHART).first).to_be_visible()
    read(page, "A cat.")
    expect(page).to_have_url(re.compile("text=A\\+cat"))
    trace = translator.backend.trace(TraceRequest(translator.model, "A cat."))
    expect(chips(page).nth(0)).to_have_accessible_name(re.compile(f"^{re.escape(known(trace.target).pieces[1])}"))


@pytest.mark.parametrize("words", [0, 1])
def test_the_matrix_is_read_where_the_page_says(page: Page, translator: Translator, words: int) -> None:
    opened(page, translator, words=words, step=1)
    trace = trace_of(translator, greedy(translator))
    layer, head = best_head(trace)
    for late in (0, 1):
        if late:
            click(page.get_by_text("Read one step later", exact=True))
        found = alignment(trace, layer, head, bool(words), ReadAt.OWN if late else ReadAt.WRITING)
        row = next(at for at, cell in enumerate(found.target) if cell.pieces[0] <= 1 + late < cell.pieces[1])
        best = found.strongest(row)
        when = "Having read" if late else "Before writing"
        said = says(page, f"{when} “{found.target[row].text}”, cross head {layer}-")
        assert f"({found.weights[row, best]:.2f})" in said
        rows = saved(page)
        assert [float(line[-1]) for line in rows] == pytest.approx(found.weights.flatten().tolist(), abs=1e-6)
        assert [line[1] for line in rows[:: len(found.source)]] == [cell.text for cell in found.target]


def test_a_step_a_head_and_the_mean_are_picked_and_live_in_the_link(page: Page, translator: Translator) -> None:
    opened(page, translator, cross="1-2")
    trace = trace_of(translator, greedy(translator))
    says(page, "cross head 1-2")
    assert [float(line[-1]) for line in saved(page)] == pytest.approx(
        trace.weights(1, 2, "cross").flatten().tolist(), abs=1e-6
    )
    figure = page.locator(".st-key-translate_matrix .js-plotly-plot")
    expect(figure.locator(".main-svg").first).to_be_visible()
    hears_clicks(figure)
    cell = figure.evaluate(
        """(plot) => { const {xaxis, yaxis} = plot._fullLayout;
        return [xaxis._offset + xaxis.d2p(3), yaxis._offset + yaxis.d2p(2)]; }"""
    )
    figure.click(position={"x": cell[0], "y": cell[1]})
    expect(page).to_have_url(re.compile("[?&]step=2"))
    expect(chips(page).nth(2)).to_have_accessible_name(re.compile("chosen"))
    heads = page.get_by_role("combobox", name="Cross head")
    heads.scroll_into_view_if_needed()  # a list that opens while the page still scrolls to it is closed by that
    click(heads)
    page.get_by_role("option", name="Mean over all").click()
    expect(page).to_have_url(re.compile("cross=mean"))
    says(page, "the mean over all cross heads")
    mean = np.mean([trace.weights(layer, head, "cross") for layer, head in np.ndindex(3, 3)], axis=0)
    page.reload()
    says(page, "the mean over all cross heads")
    assert [float(line[-1]) for line in saved(page)] == pytest.approx(mean.flatten().tolist(), abs=1e-6)


def test_step_by_step(page: Page, translator: Translator) -> None:
    opened(page, translator, show="step", top=5)
    tokens = greedy(translator)
    trace = trace_of(translator, tokens)
    chips(page).nth(1).click()
    expect(page).to_have_url(re.compile("[?&]step=1"))
    step = translator.backend.predict(asked(translator, written=tokens[:1], also=tokens[1:2], top=5))
    layer, head = best_head(trace)
    weights = trace.weights(layer, head, "cross")[1]
    np.testing.assert_allclose(known(step.across)[layer, head], weights, atol=1e-5)
    said = says(page, f"Step 2 of {len(tokens)}")
    assert f"“{step.candidates[0].piece}” first ({percent(step.candidates[0].probability)}" in said
    assert f"{step.entropy:.2f} bits" in said
    assert f"({weights.max():.2f})" in said
    click(page.get_by_text("The same as a table"))
    rows = saved(page)
    assert [float(row[4]) for row in rows] == pytest.approx([c.probability for c in step.candidates], rel=1e-5)
    read_so_far = page.get_by_label("What the decoder has read").locator(".chip")
    expect(read_so_far).to_have_count(len(known(trace.target)))
    expect(read_so_far.nth(2)).to_have_attribute("class", re.compile("masked"))
    page.get_by_role("button", name="One step on").click()
    says(page, f"Step 3 of {len(tokens)}")
    expect(page).to_have_url(re.compile("[?&]step=2"))


def test_beams_are_searched_as_generate_does(page: Page, translator: Translator) -> None:
    opened(page, translator, show="beams", width=3)
    question = NextBeams(translator.model, text=TEXT, width=3)
    steps = [translator.backend.predict(question)]
    while not steps[-1].done:
        asked = replace(question, beams=steps[-1].beams, finished=steps[-1].finished)
        steps.append(translator.backend.predict(asked))
    looked = sum(len(step.branches) for step in steps)
    says(page, f"In {len(steps)} steps {looked} continuations were looked at")
    rows = saved(page)
    assert [row[1] for row in rows] == [beam.text for beam in steps[-1].finished]
    assert [float(row[2]) for row in rows] == pytest.approx([beam.score for beam in steps[-1].finished], rel=1e-5)
    page.get_by_role("radio", name="Beam search").click()
    expect(page).to_have_url(re.compile("way=beam"))
    best = trace_of(translator, steps[-1].finished[0].tokens)
    expect(chips(page).nth(0)).to_have_accessible_name(re.compile(re.escape(known(best.target).pieces[1])))


def test_every_head_of_every_part_of_exactly_this_translation(page: Page, translator: Translator) -> None:
    question = NextBeams(translator.model, text=TEXT, width=4)
    step = translator.backend.predict(question)
    while not step.done:
        step = translator.backend.predict(replace(question, beams=step.beams, finished=step.finished))
    trace = trace_of(translator, step.finished[0].tokens)
    opened(page, translator, show="heads", side="encoder", way="beam")
    for side in SIDES:
        turn(page, NAMES[side])
        shown = painted(page)
        if side == "cross":
            assert (int(shown["layer"]), int(shown["head"])) == best_head(trace)
            assert shown["base"].endswith(trace.id)
        at, last = 3 * int(shown["layer"]) + int(shown["head"]), 5 if side == "encoder" else 8
        page.get_by_role("button", name="Next head" if at < last else "Previous head").click()
        layer, head = divmod(at + 1 if at < last else at - 1, 3)
        painted(page, layer=layer, head=head)
        expect(page).to_have_url(re.compile(f"cross={layer}-{head}" if side == "cross" else f"layer={layer}"))


def test_what_a_removed_head_changes(page: Page, translator: Translator) -> None:
    opened(page, translator, show="without", edits="ax2-1,ae0-2")
    edits = (Ablate(2, 1, "cross"), Ablate(0, 2, "encoder"))
    tokens = greedy(translator)
    plain, edited = forced(translator, tokens, (), edits).logs.sum(axis=1)
    said = says(page, "Without cross head 2-1, encoder head 0-2")
    assert f"from {likelihood(plain)} to {likelihood(edited)}" in said
    after = greedy(translator, edits=edits)
    text = trace_of(translator, after, edits=edits).target_text
    assert ("stays the same" in said) if after == tokens else (f"becomes “{text}”" in said)
    rows = saved(page, "Save both")
    new = np.exp(forced(translator, after, edits).logs[0])
    assert [float(row[3]) for row in rows if row[0] == "after"] == pytest.approx(new.tolist(), rel=1e-4)
    every = [(Ablate(layer, head, "cross"),) for layer, head in np.ndindex(3, 3)]
    alone = forced(translator, tokens, (), *every)
    changes = alone.logs[1:].sum(axis=1) - alone.logs[0].sum()
    turned = (alone.likeliest[1:] != alone.likeliest[0]).any(axis=1)
    said = says(page, "matters most")
    place = list(np.ndindex(3, 3))[int(np.abs(changes).argmax())]
    assert f"cross head {place[0]}-{place[1]} matters most" in said
    less = "less" if changes[int(np.abs(changes).argmax())] < 0 else "more"
    assert f"{factor(float(np.abs(changes).max()))} times {less} likely. {turned.sum()} of 9 removals make" in said
    rows = saved(page, "Save the table")
    assert [float(row[3]) for row in rows] == pytest.approx(changes.tolist(), abs=1e-4)
    assert [row[4] == "True" for row in rows] == turned.tolist()


def test_a_click_on_the_map_removes_a_head_and_what_is_typed_too(page: Page, translator: Translator) -> None:
    opened(page, translator, show="without", edits="-")
    says(page, "Nothing is removed")
    figure = page.locator(".st-key-translate_map .js-plotly-plot")
    expect(figure.locator(".main-svg").first).to_be_visible()
    hears_clicks(figure)
    cell = figure.evaluate(
        """(plot) => { const {xaxis, yaxis} = plot._fullLayout;
        return [xaxis._offset + xaxis.d2p(2), yaxis._offset + yaxis.d2p(1)]; }"""
    )
    figure.click(position={"x": cell[0], "y": cell[1]})
    says(page, "Without cross head 1-2")
    expect(page).to_have_url(re.compile("edits=ax1-2"))
    page.reload()
    says(page, "Without cross head 1-2")
    says(page, re.compile("Of 8 other cross heads, drawn at random"))
    click(page.get_by_text("All that is removed"))
    page.get_by_role("textbox", name="As typed").fill("ux0-1, nonsense")
    page.get_by_role("textbox", name="As typed").press("Enter")
    says(page, "An edit should read like")
    plain, even = forced(translator, greedy(translator), (), (Uniform(0, 1, "cross"),)).logs.sum(axis=1)
    assert f"from {likelihood(plain)} to {likelihood(even)}" in says(page, "With 1 other edit")


def test_a_look_is_cut_by_a_click(page: Page, translator: Translator) -> None:
    opened(page, translator, show="without", clicking="cut", edits="-", step=1, scope="all")
    says(page, "Nothing is removed")
    chips(page, "Now click a source word").nth(2).click()
    trace = trace_of(translator, greedy(translator))
    said = says(page, f"With step 2 not seeing “{trace.source.pieces[2]}” in 9 heads")
    edits = tuple(Cut(layer, head, 1, 2, "cross") for layer, head in np.ndindex(3, 3))
    plain, cut = forced(translator, greedy(translator), (), edits).logs.sum(axis=1)
    assert f"from {likelihood(plain)} to {likelihood(cut)}" in said
    expect(chips(page, "Now click a source word").nth(2)).to_have_accessible_name(re.compile("removed"))
    chips(page, "Now click a source word").nth(2).click()
    says(page, "Nothing is removed")


def test_a_translation_of_the_reader_s_own(page: Page, translator: Translator) -> None:
    opened(page, translator, target="Le chat dort.")
    trace = translator.backend.trace(TraceRequest(translator.model, TEXT, target="Le chat dort."))
    tokens = known(trace.target).ids[1:]
    chances = np.exp(forced(translator, tokens).logs[0])
    expect(chips(page)).to_have_count(len(tokens) + 1)
    expect(chips(page).nth(1)).to_have_accessible_name(re.compile(re.escape(percent(chances[1]))))
    page.get_by_role("radio", name="Greedy").click()
    says(page, "The translation that is typed above is not read here")
    expect(page.get_by_role("textbox", name="Translation (optional)")).to_have_value("Le chat dort.")


def test_hostile_links_are_shown_as_text(page: Page, translator: Translator) -> None:
    text = "<script>alert(1)</script> ![x](http://x.example/) **b** $x$"
    edits = "<img src=x onerror=alert(1)>"
    opened(page, translator, text=text, target=f"{edits} ![x](http://x.example/)", edits=edits)
    for show, said in (("words", "cross head"), ("without", "An edit should read like")):
        turn(page, SHOWS[show])
        says(page, said)
        expect(page.locator("[data-testid='stException']")).to_have_count(0)
        expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(text)


@pytest.mark.parametrize("viewport", [DESKTOP])
def test_every_view_is_accessible_and_fits(page: Page, translator: Translator) -> None:
    opened(page, translator)
    for show in each_view(page, SHOWS):
        expect(page.locator(MAIN.get(show, CHART)).first).to_be_visible()
        expect(page.get_by_text("How to read this")).to_be_visible()
        if show == "best":  # is scored on hand-aligned sentences
            says(page, "sentences with a French translation")
        accessible_and_fits(page)
