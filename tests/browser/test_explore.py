"""Browser tests of the Explore page: the displayed view matches the model's trace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from attention.excess import REACH
from attention.mask import FloatArray
from attention.storage import parse
from attention.view import View
from inference import LocalBackend, TraceRequest
from probing.reference_priors import stored_priors
from tests.support.atrest import click, rest
from tests.support.browser import LAPTOP, PHONE, Problems
from tests.support.visitor import matched, open_options, open_page, open_saved_trace, painted, read, text_box
from ui.state.view_state import DEFAULT_MODEL

FAMOUS = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


def sentence(page: Page) -> Locator:
    """Return the sentence that describes the chosen head and token."""
    return page.locator(".truth")


def ask(page: Page, word: str) -> None:
    """Click ``word``, then move the pointer away, because hovering another word would preview that word."""
    click(page.get_by_role("button", name=word).first)
    page.mouse.move(0, 0)


def percent(weight: float) -> str:
    """Return the pattern of a weight, which has a decimal if it would not add up with its baseline otherwise."""
    return f"(?:{100 * weight:.0f}|{100 * weight:.1f})%"


def ranked(links: FloatArray, layer: int, head: int) -> str:
    """Return the pattern of the words after a link's weight, for the weights of all heads (layer, head)."""
    rank = 1 + int((links > links[layer, head]).sum())
    return f"(rank {rank} of{'|the highest of all' if rank == 1 else ''}) {links.size} heads"


def test_the_first_visit_shows_the_famous_sentence_answered_and_a_click_asks_about_another_word(
    page: Page, app_url: str, backend: LocalBackend
) -> None:
    """A click that was undone by the back button works a second time."""
    open_page(page, app_url)
    shown = painted(page)
    trace = backend.trace(TraceRequest(DEFAULT_MODEL, FAMOUS))
    it, animal = trace.tokens.index("it"), trace.tokens.index("animal")
    links = trace.rows(it)[:, :, animal]
    layer, head = np.unravel_index(links.argmax(), links.shape)
    assert (shown["layer"], shown["head"], shown["focus"]) == (str(layer), str(head), str(it))
    expect(sentence(page)).to_contain_text(
        re.compile(
            f"In head {layer}-{head} of {DEFAULT_MODEL}, “it” gives {percent(links.max())} of its attention to "
            f"“animal”, the highest of all {links.size} heads."
        )
    )
    assert shown["base"].endswith(trace.id)
    street = trace.tokens.index("street")
    row = View(trace).rows(street)
    words = [at for at, word in enumerate(trace.source.words) if word is not None and at != street]
    key = max(words, key=lambda at: row[layer, head, at])
    for _ in range(2):
        ask(page, "street")
        painted(page, focus=street)
        expect(page).to_have_url(re.compile(f"focus={street}"))
        gives = re.compile(f"“street” gives {percent(row[layer, head, key])} of its attention to")
        expect(sentence(page)).to_contain_text(gives)
        expect(sentence(page)).to_contain_text(re.compile(ranked(row[:, :, key], int(layer), int(head))))
        rest(page)  # Go back only after the page has answered.
        page.go_back()
        painted(page, focus=it)
        expect(page).not_to_have_url(re.compile("focus="))
        rest(page)


def test_a_trace_that_the_server_forgot_is_read_again_and_then_a_sentence_of_one_s_own(
    page: Page, app_url: str, backend: LocalBackend, problems: Problems
) -> None:
    problems.allow("410")
    forgotten: list[str] = []

    def forget_once(route: Route) -> None:
        if forgotten:
            route.continue_()
        else:
            forgotten.append(route.request.url)
            route.fulfill(status=410, body="gone")

    page.route("**/grid?*", forget_once)
    open_page(page, app_url, text=FAMOUS)
    first = painted(page)
    assert forgotten
    text = "My dog chased your cat until it was exhausted."
    read(page, text)
    expect(page).to_have_url(re.compile("text=My"))
    trace = backend.trace(TraceRequest(text=text))
    shown = painted(page, base=f"/headlight/trace/{trace.id}")
    assert shown["base"] != first["base"]
    token = trace.tokens[int(shown["focus"])]
    expect(sentence(page)).to_contain_text(f"“{token}”")


def test_a_cut_text_says_so(page: Page, app_url: str) -> None:
    open_page(page, app_url, text="One two three four five six.", cut=5)
    painted(page)
    expect(page.get_by_text("Only the first 5 tokens were read")).to_be_visible()


def test_arrow_keys_move_the_head_and_back_undoes(page: Page, app_url: str) -> None:
    open_page(page, app_url, layer=3, head=1)
    painted(page, layer=3, head=1)
    grid = page.get_by_role("application", name=re.compile("All heads"))
    grid.focus()
    # A single script presses both arrows, because a pause between them would make two history entries.
    press = "(grid, keys) => keys.forEach((key) => grid.dispatchEvent(new KeyboardEvent('keydown', { key })))"
    grid.evaluate(press, ["ArrowRight", "ArrowDown"])
    page.keyboard.press("Enter")
    painted(page, layer=4, head=2)
    expect(page).to_have_url(re.compile("layer=4&head=2"))
    rest(page)
    page.go_back()
    painted(page, layer=3, head=1)


def test_the_other_direction_turns_everything_and_lives_in_the_address(
    page: Page, app_url: str, backend: LocalBackend
) -> None:
    trace = backend.trace(TraceRequest(text=FAMOUS))
    it, animal = trace.tokens.index("it"), trace.tokens.index("animal")
    open_page(page, app_url, text=FAMOUS)
    painted(page, focus=it)
    click(page.get_by_role("button", name="is looked at by"))
    painted(page, layer=3, head=1, focus=it)
    expect(page).to_have_url(re.compile(f"to={it}.*facing=in"))
    column = View(trace).columns(it)[3, 1]
    most = trace.tokens[int(column.argmax())]
    expect(sentence(page)).to_contain_text(
        re.compile(f"{most}.* gives {percent(column.max())} of its attention to “it”")
    )
    links = page.locator("details.links")
    expect(links.locator("summary")).to_have_text("Who looks at “it”?")
    click(links.locator("summary"))
    expect(links.get_by_role("columnheader", name="is looked at by")).to_be_visible()
    rows = links.locator("tbody tr")
    expect(rows).to_have_count(10)
    expect(links.locator("caption")).to_have_text(re.compile("to “it”"))
    rest(page)
    page.reload()  # After a reload only the address holds the view.
    painted(page, layer=3, head=1, focus=it)
    expect(page.get_by_role("button", name="is looked at by")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Pick who looks")).to_be_visible()
    ask(page, "animal")
    painted(page, focus=animal)
    gives = re.compile(f"“it” gives {percent(trace.weights(3, 1)[it, animal])} of its attention")
    expect(sentence(page)).to_contain_text(gives)
    click(page.get_by_role("button", name="looks at", exact=True))
    painted(page, focus=animal)
    expect(page).to_have_url(re.compile(f"focus={animal}"))
    expect(sentence(page)).to_contain_text("“animal” gives")


def test_the_sentence_answers_the_target_that_was_picked(page: Page, app_url: str, backend: LocalBackend) -> None:
    trace = backend.trace(TraceRequest(text=FAMOUS))
    it, street = trace.tokens.index("it"), trace.tokens.index("street")
    open_page(page, app_url, layer=3, head=1, focus=it, to=street)
    painted(page, focus=it)
    row = trace.rows(it)
    gives = re.compile(f"“it” gives {percent(row[3, 1, street])} of its attention to “street”")
    expect(sentence(page)).to_contain_text(gives)
    expect(sentence(page)).to_contain_text(re.compile(ranked(row[:, :, street], 3, 1)))
    expect(sentence(page)).to_contain_text(re.compile(rf"“animal” \({percent(row[3, 1].max())}\)"))


def test_hidden_special_tokens_leave_the_picture_and_the_scale_can_end_at_one(page: Page, app_url: str) -> None:
    open_page(page, app_url, layer=0, head=0, special=0, renormalise=1)
    painted(page)
    expect(page.get_by_role("button", name="[CLS]")).to_have_count(0)
    expect(sentence(page)).to_contain_text("“it”")
    legend = page.get_by_role("img", name="colour scale")
    fitted = legend.get_attribute("aria-label")
    click(page.locator("summary", has_text="Scale"))
    page.get_by_role("combobox", name="Up to").select_option("1")
    expect(legend).to_have_attribute("aria-label", "square-root colour scale, 0 – 1")
    assert fitted != "square-root colour scale, 0 – 1"
    expect(page).to_have_url(re.compile("upto=one"))


def test_an_edited_text_keeps_the_head_and_the_words(page: Page, app_url: str, backend: LocalBackend) -> None:
    open_page(page, app_url, text=FAMOUS)
    painted(page, layer=3, head=1)
    wide = FAMOUS.replace("tired", "wide")
    read(page, wide)
    trace = backend.trace(TraceRequest(text=wide))
    it, animal = trace.tokens.index("it"), trace.tokens.index("animal")
    painted(page, base=f"/headlight/trace/{trace.id}", layer=3, head=1, focus=it)
    expect(page).to_have_url(re.compile(f"layer=3&head=1&focus={it}&to={animal}"))
    weight = float(trace.weights(3, 1)[it, animal])
    expect(sentence(page)).to_contain_text("“animal”")
    expect(sentence(page)).to_contain_text(re.compile(percent(weight)))
    rest(page)
    read(page, wide.replace("animal", "dog"))
    expect(page.get_by_text("“animal” is gone from the text; “dog” in its place")).to_be_visible()
    painted(page, layer=3, head=1, focus=it)
    rest(page)
    page.go_back()
    painted(page, base=f"/headlight/trace/{trace.id}", layer=3, head=1, focus=it)
    offer = page.get_by_role("button", name="Largest weight above baseline from")
    rest(page)
    read(page, FAMOUS.replace("tired", "wide") + " Really.")
    expect(offer).to_be_visible()
    layer, head = matched(r"Largest weight above baseline from .+: head (\d+)-(\d+)", offer.inner_text()).groups()
    assert (layer, head) != ("3", "1")
    expect(offer).to_have_text(f"Largest weight above baseline from “it” to “animal”: head {layer}-{head}")
    click(offer)
    painted(page, layer=layer, head=head, focus=it)
    expect(sentence(page)).to_contain_text(re.compile(f"In head {layer}-{head} of .* “it” gives .* to “animal”"))
    expect(page).to_have_url(re.compile(f"layer={layer}&head={head}&focus={it}&to={animal}"))
    expect(offer).to_have_count(0)
    read(page, "My brother lost his keys on the train to London.")
    expect(page).not_to_have_url(re.compile("layer="))


def test_a_second_text_leaves_the_view_where_it_is(page: Page, app_url: str, backend: LocalBackend) -> None:
    trace = backend.trace(TraceRequest(text=FAMOUS, pair="It slept."))
    street = trace.tokens.index("street")
    open_page(page, app_url, layer=2, head=5, focus=street)
    painted(page, layer=2, head=5, focus=street)
    click(page.get_by_role("button", name="second text"))
    second = page.get_by_role("textbox", name="Second text (optional)")
    second.fill("It slept.")
    second.press("Enter")
    painted(page, base=f"/headlight/trace/{trace.id}", layer=2, head=5, focus=street)


def test_a_link_restores_the_view(page: Page, app_url: str) -> None:
    query: dict[str, Any] = {
        "text": "A small test of links.",
        "layer": 2,
        "head": 5,
        "focus": 3,
        "tab": "lines",
        "words": 1,
    }
    open_page(page, app_url, **query)
    shown = painted(page, layer=2, head=5, focus=3, tab="lines")
    expect(text_box(page)).to_have_value(query["text"])
    open_options(page)
    expect(page.get_by_role("checkbox", name="Whole words")).to_be_checked()
    page.keyboard.press("Escape")
    expect(sentence(page)).to_contain_text("head 2-5")
    assert shown["layer"] == "2", "links count from 0 whatever is shown"


def test_a_bad_link_gives_the_default_and_a_sentence(page: Page, app_url: str) -> None:
    open_page(page, app_url, layer=99, head="x", tab="<script>")
    painted(page, layer=3, head=1, tab="matrix")
    notes = page.locator(".headlight-note")
    expect(notes.filter(has_text="“tab” is not valid")).to_be_visible()
    expect(notes.filter(has_text="“head” is not valid")).to_be_visible()
    expect(notes.filter(has_text="99-")).to_be_visible()


def test_pairs_are_read_together(page: Page, app_url: str, backend: LocalBackend) -> None:
    open_page(page, app_url, text="The cat sat down.", pair="It was tired.", layer=1, head=1, filter="ab")
    painted(page, layer=1, head=1)
    trace = backend.trace(TraceRequest(text="The cat sat down.", pair="It was tired."))
    assert set(trace.source.segments) == {0, 1}
    expect(page.get_by_role("combobox", name="Pairs")).to_have_value("ab")


def test_the_trace_is_saved_and_opened_again_and_another_file_is_refused_in_a_sentence(
    page: Page, app_url: str, backend: LocalBackend, tmp_path: Path
) -> None:
    open_page(page, app_url, text="A lecture prepared at home.", layer=2, head=3)
    painted(page, layer=2, head=3)
    with page.expect_download() as waiting:
        click(page.get_by_role("link", name="Save the trace"))
    saved = tmp_path / "lecture.safetensors"
    waiting.value.save_as(saved)
    trace = parse(saved.read_bytes())
    expected = backend.trace(TraceRequest(text="A lecture prepared at home."))
    np.testing.assert_allclose(trace.weights(2, 3), expected.weights(2, 3), atol=1e-6)
    open_page(page, app_url, text=FAMOUS)
    painted(page)
    wrong = tmp_path / "wrong.safetensors"
    wrong.write_bytes(b"PK not a trace")
    open_saved_trace(page, wrong)
    expect(page.get_by_role("alert")).to_contain_text("is not a complete trace")
    rest(page)
    open_saved_trace(page, saved)
    expect(page).to_have_url(re.compile("opened=file-"))
    expect(text_box(page)).to_have_value("A lecture prepared at home.")


def test_a_head_of_places_is_told_for_what_it_does_in_other_texts(page: Page, app_url: str) -> None:
    open_page(page, app_url, layer=0, head=2, focus=10)
    painted(page, layer=0, head=2)
    # Index REACH is offset -1, the previous token.
    usual = stored_priors()["all-MiniLM-L6-v2"]["encoder"].means[0, 2, REACH]
    prior = re.compile(rf"the token before, other texts\): {percent(usual)}")
    expect(page.locator(".doubt")).to_contain_text(prior)


def test_a_word_of_several_tokens_counts_as_one_as_on_find(page: Page, app_url: str, backend: LocalBackend) -> None:
    """The chips are tokens; the sentence counts words: the sum to the key's tokens, the mean from the query's."""
    text = "The grasshopper that crossed the flowerbeds was tired."
    trace = backend.trace(TraceRequest(text=text))
    tokens, words = View(trace), View(trace, words=True)
    key, query = (
        next(at for at, cell in enumerate(words.keys) if cell.text == name) for name in ("grasshopper", "flowerbeds")
    )
    assert min(cell.pieces[1] - cell.pieces[0] for cell in (words.keys[key], words.queries[query])) > 1
    links = words.rows(query)[:, :, key]
    open_page(
        page, app_url, text=text, layer=3, head=1, focus=words.queries[query].pieces[0], to=words.keys[key].pieces[0]
    )
    painted(page)
    expect(page.get_by_role("group", name="Tokens of the text").get_by_role("button")).to_have_count(len(tokens.keys))
    expect(sentence(page)).to_contain_text(
        re.compile(f"“flowerbeds” gives {percent(links[3, 1])} of its attention to “grasshopper”")
    )
    expect(sentence(page)).to_contain_text(re.compile(ranked(links, 3, 1)))


@pytest.mark.parametrize("viewport", [PHONE, LAPTOP])
def test_lines_lead_from_the_word_to_the_words_that_it_attends_to(page: Page, app_url: str) -> None:
    open_page(page, app_url)
    shown = painted(page)
    lines = page.get_by_role("img", name=re.compile("Lines of attention"))
    chosen = lines.locator(".arc.chosen:not(.tip)")
    expect(chosen).to_have_count(1)
    widths = [float(line.get_attribute("stroke-width") or 0) for line in lines.locator(".arc:not(.tip)").all()]
    assert max(widths) == float(chosen.get_attribute("stroke-width") or 0)

    def ends_meet(word: str) -> None:
        """Check that a line leads from the word in question to another, in the page's pixels."""
        edges = [page.get_by_role("button", name=name, exact=True).first.bounding_box() for name in (word, "animal")]
        tip = chosen.bounding_box()
        assert tip is not None
        for box in edges:
            assert box is not None
            middle = box["x"] + box["width"] / 2
            assert tip["x"] - 6 <= middle <= tip["x"] + tip["width"] + 6

    ends_meet("it")
    before = chosen.get_attribute("d")
    click(page.get_by_role("button", name="is looked at by"))
    painted(page, focus=shown["focus"])
    expect(lines).to_have_accessible_name(re.compile("to “it”"))
    click(page.get_by_role("button", name="looks at", exact=True))
    painted(page, focus=shown["focus"])
    page.set_viewport_size({"width": 700, "height": 800})  # the words wrap otherwise
    expect(chosen).not_to_have_attribute("d", before or "")
    ends_meet("it")


def test_without_a_link_the_default_model_answers_and_a_variant_changes_it_in_place(page: Page, app_url: str) -> None:
    page.goto(app_url)
    shown = painted(page)
    expect(sentence(page)).to_contain_text(f"In head {shown['layer']}-{shown['head']} of {DEFAULT_MODEL}, “it” gives")
    expect(sentence(page)).to_contain_text("“animal”, the highest of all 72 heads.")
    first = sentence(page).inner_text()
    click(page.get_by_role("radio", name="wide", exact=True))
    expect(sentence(page)).not_to_have_text(first)
    painted(page, layer=shown["layer"], head=shown["head"], focus=shown["focus"])
    expect(
        page.get_by_text(
            re.compile("From “tired” to “wide”, head [0-9]+-[0-9]+ of .* changes most: .*[0-9]+ of 72 heads switch")
        )
    ).to_be_visible()
    expect(page).to_have_url(re.compile("wide"))
    page.go_back()
    expect(sentence(page)).to_have_text(first)


def test_typing_is_followed_and_is_one_step_of_the_history(page: Page, app_url: str) -> None:
    open_page(page, app_url)
    painted(page)
    rest(page)
    address, steps = page.url, page.evaluate("history.length")
    box = text_box(page)
    box.fill("")
    expect(page.locator(".hl.outdated")).to_be_attached()
    begun, text = "My aunt gave the doctor a book", "My aunt gave the doctor a book because she trusted him."
    box.press_sequentially(begun, delay=30)
    page.wait_for_url(re.compile("text=My\\+aunt.*book"))  # A pause, after which the sentence goes on.
    box.press_sequentially(text.removeprefix(begun), delay=30)
    expect(sentence(page)).to_contain_text(re.compile("“she” gives [0-9]+% of its attention"))
    expect(page).to_have_url(re.compile("text=My\\+aunt.*him"))
    assert box.input_value() == text
    expect(box).to_be_focused()
    expect(page.locator(".hl.outdated")).to_have_count(0)
    assert page.evaluate("history.length") == steps + 1
    page.go_back()
    expect(page).to_have_url(address)
    expect(box).to_have_value(FAMOUS)


def test_an_unfinished_composition_is_not_read(page: Page, app_url: str) -> None:
    """An input method sends unfinished letters before the character; only the character is read."""
    open_page(page, app_url)
    painted(page)
    rest(page)
    address = page.url
    box = text_box(page)
    box.evaluate(
        """(area) => {
            area.focus();
            area.value = "ni";
            area.dispatchEvent(new InputEvent("input", { isComposing: true, bubbles: true }));
        }"""
    )
    rest(page)
    expect(page).to_have_url(address)
    box.evaluate(
        """(area) => {
            area.value = "You came.";
            area.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
        }"""
    )
    expect(page).to_have_url(re.compile("text=You\\+came"))
