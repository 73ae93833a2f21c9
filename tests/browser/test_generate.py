"""Browser tests of the Generate page: numbers of the backend, decoding, history, and stopping."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attention.roles import largest_weight_back
from inference import TraceRequest
from inference.tasks.decoding import NextToken
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.looks import DESKTOP, accessible_and_fits, each_view
from tests.support.serving import Served
from tests.support.visitor import DEEP_LINK, file_of, matched, open_page, painted, read, says, stands, table_of
from ui.pages.generate.options import PROMPTS, SHOWS

TEXT = "The cat sat on the mat, and the dog"
CHART = ".js-plotly-plot .main-svg"


@pytest.fixture(autouse=True)
def deep_links(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def opened(page: Page, writer: Served, name: str = "gpt2", **query: object) -> Page:
    given = {"model": writer.model(name), "text": TEXT, **query}
    open_page(page, writer.url, "/generate", **{name: value for name, value in given.items() if value is not None})
    stands(page)
    return page


def asked(writer: Served, *written: int, **more: Any) -> NextToken:
    return NextToken(model=writer.model("gpt2"), text=TEXT, written=written, top=100, **more)


def saved(page: Page, name: str = "Save as CSV (zip)") -> str:
    waiting = file_of(page.get_by_role("button", name=name, exact=True))
    return table_of(waiting.path())


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))[1:]


def path_of(page: Page, count: int) -> tuple[int, ...]:
    """Wait until the address holds ``count`` generated tokens and the page is idle, and return their ids."""
    pattern = re.compile(rf"[?&]written=(\d+(?:\.\d+){{{count - 1}}})(?:&|$)")
    expect(page).to_have_url(pattern, timeout=2 * PATIENCE)  # A hundred tokens are slow on a busy machine.
    rest(page)  # The address changes first, and until the page is idle the buttons continue the older text.
    return tuple(int(token) for token in matched(pattern, page.url).group(1).split("."))


def to_the_prompt(page: Page) -> None:
    """Delete the generated tokens, and wait until the page is back at the prompt."""
    button = page.get_by_role("button", name="To the prompt")
    click(button)
    expect(page).not_to_have_url(re.compile("written="))
    expect(button).to_have_count(0)


def chip(page: Page, group: str, at: int) -> Locator:
    return page.get_by_role("group", name=group).get_by_role("button").nth(at)


def greedy(writer: Served, count: int) -> tuple[int, ...]:
    path: tuple[int, ...] = ()
    for _ in range(count):
        path = (*path, writer.backend.predict(asked(writer, *path)).greedy.token)
    return path


def test_the_candidates_are_the_backends_under_any_rule_and_for_any_prompt(page: Page, writer: Served) -> None:
    opened(page, writer, temperature=50, top_k=20, top_p=90, seed=3)
    step = writer.backend.predict(asked(writer, temperature=50, top_k=20, top_p=90, seed=3))
    says(page, f"“{step.candidates[0].piece}” comes first")
    says(page, f"{step.possible} of {step.vocabulary} tokens, {step.entropy_drawn:.2f} bits")
    says(page, f"draws “{step.chosen.piece}”")
    expect(page.locator(CHART).first).to_be_visible()
    labels = page.locator(".js-plotly-plot").first.locator(".ytick text")
    expect(labels).to_have_text([candidate.piece for candidate in step.candidates[:10]])
    click(page.get_by_text("Table", exact=True))
    rows = table(saved(page))
    assert [int(row[1]) for row in rows] == [candidate.token for candidate in step.candidates]
    assert [float(row[4]) for row in rows] == pytest.approx([c.probability for c in step.candidates], rel=1e-6)
    assert [float(row[5]) for row in rows] == pytest.approx([c.drawn for c in step.candidates], rel=1e-6)
    assert sum(float(row[5]) > 0 for row in rows) == step.possible
    the_sliders_change_the_rule_in_the_link(page, writer)
    another_prompt_forgets_what_was_written_and_a_hostile_one_is_shown_as_text(page, writer)


def the_sliders_change_the_rule_in_the_link(page: Page, writer: Served) -> None:
    slider = page.get_by_role("slider", name="Temperature")
    slider.focus()
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("temperature=55"))
    step = writer.backend.predict(asked(writer, temperature=55, top_k=20, top_p=90, seed=3))
    says(page, f"{step.entropy_drawn:.2f} bits, and")
    page.get_by_role("slider", name="Top-p").focus()
    page.get_by_role("slider", name="Top-p").press("ArrowLeft")
    expect(page).to_have_url(re.compile("top_p=89"))


def another_prompt_forgets_what_was_written_and_a_hostile_one_is_shown_as_text(page: Page, writer: Served) -> None:
    click(page.get_by_role("button", name="Next token"))
    path_of(page, 1)
    read(page, "A small cat")
    first = writer.backend.predict(NextToken(model=writer.model("gpt2"), text="A small cat", top=100))
    says(page, f"“{first.candidates[0].piece}” comes first")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    expect(page.get_by_text("History", exact=True)).to_have_count(0)
    hostile = "<img src=x onerror=alert(1)> [a](http://x.org) $x$"
    read(page, hostile)
    step = writer.backend.predict(NextToken(model=writer.model("gpt2"), text=hostile, top=100))
    says(page, f"“{step.candidates[0].piece}” comes first (")
    expect(page.get_by_text("How to read")).to_be_visible()
    expect(page.locator("[data-testid='stException']")).to_have_count(0)
    page.get_by_role("combobox", name="Try another sentence").select_option(PROMPTS[3])
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(PROMPTS[3])


def test_writing_is_greedy_decoding_the_link_restores_it_and_each_token_has_its_step(
    page: Page, writer: Served
) -> None:
    opened(page, writer, more=4, show="looks")
    click(page.get_by_role("button", name="Next token"))
    assert path_of(page, 1) == greedy(writer, 1)
    click(page.get_by_role("button", name="Write more"))
    path = path_of(page, 5)
    assert path == greedy(writer, 5)
    step = writer.backend.predict(asked(writer, *path))
    page.reload()
    expect(chip(page, "predicted it", len(step.row) - 1)).to_be_visible()
    made, _, text = saved(page, "Save text").partition("\n\n")
    assert (made.splitlines()[0], text) == ("model: gpt2", TEXT + step.text)
    click(page.get_by_role("button", name="Undo"))
    assert path_of(page, 4) == path[:4]
    # For a prompt token, the preceding step has read its left context, as a single pass over the text does.
    click(chip(page, "predicted it", 5))
    expect(page).to_have_url(re.compile("at=5"))
    trace = writer.backend.trace(TraceRequest(writer.model("gpt2"), TEXT))
    earlier = trace.rows(4)[:, :, :5]
    layer, head = np.unravel_index(largest_weight_back(earlier).argmax(), earlier.shape[:2])
    at = 1 + earlier[layer, head, 1:-2].argmax()
    says(page, f"Before “{trace.tokens[5]}” came, head {layer}-{head} attends back to “{trace.tokens[at]}”")
    click(chip(page, "predicted it", 0))
    says(page, "No step")
    to_the_prompt(page)


def test_a_click_goes_another_way_and_the_tree_and_the_back_button_lead_back(page: Page, writer: Served) -> None:
    opened(page, writer)
    first, second = (found.token for found in writer.backend.predict(asked(writer)).candidates[:2])
    click(chip(page, "Click a token to write it", 1))
    assert path_of(page, 1) == (second,)
    step = writer.backend.predict(asked(writer, second))
    third = step.candidates[2].token
    click(chip(page, "Click a token to write it", 2))
    assert path_of(page, 2) == (second, third)
    page.go_back()
    # The browser changes the address before the page redraws.
    expect(chip(page, "predicted it", len(step.row))).to_have_count(0)
    assert path_of(page, 1) == (second,)
    to_the_prompt(page)
    click(page.get_by_role("button", name="Next token"))
    assert path_of(page, 1) == (first,)
    expect(page.get_by_role("tree", name="History").get_by_role("treeitem")).to_have_count(4)
    tree = page.locator("#tree")
    piece = writer.backend.predict(asked(writer, second, third)).row.pieces[-1]
    click(tree.locator("[data-id], [role='treeitem'], [role='button']").filter(has_text=piece).last)
    assert path_of(page, 2) == (second, third)


def likeliest(writer: Served, text: str, path: tuple[int, ...]) -> tuple[int, ...]:
    """Return the deep model's most probable token at each position of ``path``, from a single pass."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = writer.model("deep")
    prompt = AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    with torch.inference_mode():
        model = AutoModelForCausalLM.from_pretrained(folder)
        logits = model(torch.tensor([[*prompt, *path]])).logits[0, len(prompt) - 1 : -1]
    return tuple(logits.argmax(-1).tolist())


def stop(page: Page) -> tuple[int, ...]:
    """Start generation by the deep model, stop it, and return the tokens generated so far."""
    click(page.get_by_role("button", name="Write more"))
    page.get_by_role("button", name="Stop").click()
    done = int(matched(r"Stopped after (\d+) of 100", says(page, "Stopped after")).group(1))
    return path_of(page, done)


def test_stop_keeps_what_was_written_and_the_reader_may_go_back_or_on(page: Page, writer: Served) -> None:
    opened(page, writer, "deep", more=100, text="A small cat")
    path = stop(page)
    page.go_back()
    expect(page).not_to_have_url(re.compile("written="))
    expect(page.get_by_text("Stopped after")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    click(page.get_by_role("button", name="Next token"))
    assert path_of(page, 1) == path[:1]
    read(page, TEXT)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    path = stop(page)
    assert 0 < len(path) < 100
    click(page.get_by_role("button", name="Go on"))
    whole = path_of(page, 100)
    assert whole[: len(path)] == path
    assert whole == likeliest(writer, TEXT, whole)
    expect(page.get_by_text("Stopped after")).to_have_count(0)


@pytest.mark.parametrize("viewport", [DESKTOP])
def test_every_view_is_accessible_and_fits_and_all_heads_are_those_of_what_was_written(
    page: Page, writer: Served
) -> None:
    path = greedy(writer, 2)
    opened(page, writer, more=2, layer=1, head=2)
    click(page.get_by_role("button", name="Write more"))
    assert path_of(page, 2) == path
    for show in each_view(page, SHOWS):
        if show == "heads":
            all_heads_of_prompt_and_written_tokens(page, writer, path)
        expect(page.locator("[data-painted]" if show == "heads" else CHART).first).to_be_visible()
        accessible_and_fits(page)


def all_heads_of_prompt_and_written_tokens(page: Page, writer: Served, path: tuple[int, ...]) -> None:
    painted(page, layer=1, head=2)
    trace = writer.backend.trace(TraceRequest(writer.model("gpt2"), TEXT, written=path))
    expect(page.locator("[data-painted]").get_by_role("button", name=trace.tokens[-1].strip()).last).to_be_visible()
