"""A visitor on the Generate page: every number on it is the backend's, and every way there and back is kept."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attention.looks import strongest
from attention.roles import observe
from inference import TraceRequest
from inference.questions.decoding import NextToken
from inference.questions.induction import InductionHeads
from inference.questions.lens import NextLens
from tests.support.browser import PATIENCE, Problems, click, rest
from tests.support.looks import DESKTOP, accessible_and_fits, each_view, turn
from tests.support.predictors import BARE
from tests.support.serving import Served
from tests.support.visitor import DEEP_LINK, file_of, known, matched, open_page, painted, read, stands, table_of
from ui.pages.generate.options import SHOWS

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


def asked(writer: Served, *written: int, name: str = "gpt2", **more: Any) -> NextToken:
    return NextToken(model=writer.model(name), text=TEXT, written=written, top=100, **more)


def says(page: Page, text: str | re.Pattern[str]) -> str:
    note = page.locator(".headlight-note, .headlight-refusal").filter(has_text=text).first
    expect(note).to_be_visible()
    return note.inner_text()


def saved(page: Page, name: str = "Save as CSV") -> str:
    waiting = file_of(page.get_by_role("button", name=name, exact=True))
    return table_of(waiting.path().read_text(encoding="utf-8-sig" if "CSV" in name else "utf-8"))


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))[1:]


def path_of(page: Page, count: int) -> tuple[int, ...]:
    """The written tokens in the address, once there are so many and the page is drawn with them."""
    pattern = re.compile(rf"[?&]written=(\d+(?:\.\d+){{{count - 1}}})(?:&|$)")
    expect(page).to_have_url(pattern, timeout=2 * PATIENCE)  # a hundred tokens take their time on a busy machine
    rest(page)  # the address comes first; till then the buttons go on from the older text
    return tuple(int(token) for token in matched(pattern, page.url).group(1).split("."))


def to_the_prompt(page: Page) -> None:
    """Takes away what was written, and waits until the buttons go on from the prompt."""
    button = page.get_by_role("button", name="To the prompt")
    button.click()
    expect(page).not_to_have_url(re.compile("written="))
    expect(button).to_be_disabled()


def chip(page: Page, group: str, at: int) -> Locator:
    return page.get_by_role("group", name=group).get_by_role("button").nth(at)


def greedy(writer: Served, count: int, name: str = "gpt2") -> tuple[int, ...]:
    path: tuple[int, ...] = ()
    for _ in range(count):
        path = (*path, writer.backend.predict(asked(writer, *path, name=name)).greedy.token)
    return path


def test_the_candidates_are_the_backends(page: Page, writer: Served) -> None:
    opened(page, writer, temperature=50, top_k=20, top_p=90, seed=3)
    step = writer.backend.predict(asked(writer, temperature=50, top_k=20, top_p=90, seed=3))
    says(page, f"“{step.candidates[0].piece}” comes first")
    says(page, f"leaves {step.possible} of {step.vocabulary} tokens and {step.entropy_drawn:.2f} bits, and this")
    says(page, f"this seed draws “{step.chosen.piece}”")
    expect(page.locator(CHART).first).to_be_visible()
    labels = page.locator(".js-plotly-plot").first.locator(".ytick text")
    expect(labels).to_have_text([candidate.piece for candidate in step.candidates[:10]])
    click(page.get_by_text("The same as a table"))
    rows = table(saved(page))
    assert [int(row[1]) for row in rows] == [candidate.token for candidate in step.candidates]
    assert [float(row[4]) for row in rows] == pytest.approx([c.probability for c in step.candidates], rel=1e-6)
    assert [float(row[5]) for row in rows] == pytest.approx([c.drawn for c in step.candidates], rel=1e-6)
    assert sum(float(row[5]) > 0 for row in rows) == step.possible


def test_the_sliders_change_the_rule_in_the_link_and_ready_prompts_the_text(page: Page, writer: Served) -> None:
    opened(page, writer)
    slider = page.get_by_role("slider", name="Temperature")
    slider.focus()
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("temperature=105"))
    step = writer.backend.predict(asked(writer, temperature=105))
    says(page, f"{step.entropy_drawn:.2f} bits, and")
    page.get_by_role("slider", name="Top-p").focus()
    page.get_by_role("slider", name="Top-p").press("ArrowLeft")
    expect(page).to_have_url(re.compile("top_p=99"))
    click(page.get_by_role("combobox", name="Ready prompts"))
    page.get_by_role("option", name="A list").click()
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("Monday, Tuesday, Wednesday,")


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_writing_is_greedy_decoding_and_the_link_restores_it(page: Page, writer: Served, name: str) -> None:
    opened(page, writer, name, more=4)
    page.get_by_role("button", name="Next token").click()
    assert path_of(page, 1) == greedy(writer, 1, name)
    page.get_by_role("button", name="Write more").click()
    path = path_of(page, 5)
    assert path == greedy(writer, 5, name)
    step = writer.backend.predict(asked(writer, *path, name=name))
    page.reload()
    expect(chip(page, "before it", len(step.row) - 1)).to_be_visible()
    made, _, text = saved(page, "Save the text").partition("\n\n")
    assert (made.splitlines()[0], text) == (f"model: {name}", TEXT + step.text)
    page.get_by_role("button", name="One back").click()
    assert path_of(page, 4) == path[:4]
    to_the_prompt(page)


def test_what_is_drawn_follows_the_seed(page: Page, writer: Served) -> None:
    opened(page, writer, pick="drawn", seed=1, more=5)
    page.get_by_role("button", name="Write more").click()
    path: tuple[int, ...] = ()
    for _ in range(5):
        path = (*path, writer.backend.predict(asked(writer, *path, seed=1)).chosen.token)
    assert path_of(page, 5) == path
    assert path != greedy(writer, 5)
    page.get_by_role("button", name="Another draw").click()
    expect(page).to_have_url(re.compile("seed=2"))
    assert path_of(page, 5) == path, "what stands is kept; the next draw is another one"


def test_a_click_goes_another_way_and_the_tree_and_the_back_button_lead_back(page: Page, writer: Served) -> None:
    opened(page, writer)
    first, second = (found.token for found in writer.backend.predict(asked(writer)).candidates[:2])
    chip(page, "Click a token to write it", 1).click()
    assert path_of(page, 1) == (second,)
    step = writer.backend.predict(asked(writer, second))
    third = step.candidates[2].token
    chip(page, "Click a token to write it", 2).click()
    assert path_of(page, 2) == (second, third)
    page.go_back()
    expect(chip(page, "before it", len(step.row))).to_have_count(0)  # the browser goes back at once, the page later
    assert path_of(page, 1) == (second,)
    to_the_prompt(page)
    page.get_by_role("button", name="Next token").click()
    assert path_of(page, 1) == (first,)
    expect(page.get_by_text("Tokens written so far: 3.")).to_be_visible()
    tree = page.locator("#tree")
    piece = writer.backend.predict(asked(writer, second, third)).row.pieces[-1]
    tree.locator("[data-id], [role='treeitem'], [role='button']").filter(has_text=piece).last.click()
    assert path_of(page, 2) == (second, third)


def likeliest(writer: Served, text: str, path: tuple[int, ...]) -> tuple[int, ...]:
    """What the deep model would write in place of each of these tokens, told by one pass over them."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = writer.model("deep")
    prompt = AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    with torch.inference_mode():
        model = AutoModelForCausalLM.from_pretrained(folder)
        logits = model(torch.tensor([[*prompt, *path]])).logits[0, len(prompt) - 1 : -1]
    return tuple(logits.argmax(-1).tolist())


def stopped(page: Page, writer: Served, text: str) -> tuple[int, ...]:
    """Stops the deep model's writing somewhere; what it had written by then. What was asked before comes too soon."""
    opened(page, writer, "deep", more=100, text=text)
    page.get_by_role("button", name="Write more").click()
    page.get_by_role("button", name="Stop").click()
    done = int(matched(r"Stopped after (\d+) of 100", says(page, "Stopped after")).group(1))
    return path_of(page, done)


def test_stop_keeps_what_was_written_and_go_on_goes_on(page: Page, writer: Served) -> None:
    path = stopped(page, writer, TEXT)
    assert 0 < len(path) < 100
    page.get_by_role("button", name="Go on").click()
    whole = path_of(page, 100)
    assert whole[: len(path)] == path
    assert whole == likeliest(writer, TEXT, whole)
    expect(page.get_by_text("Stopped after")).to_have_count(0)


def test_after_a_stop_the_reader_may_go_back_as_ever(page: Page, writer: Served) -> None:
    path = stopped(page, writer, "A small cat")
    page.go_back()
    expect(page).not_to_have_url(re.compile("written="))
    expect(page.get_by_text("Stopped after")).to_have_count(0)
    expect(page.get_by_role("button", name="One back")).to_be_disabled()
    page.get_by_role("button", name="Next token").click()
    assert path_of(page, 1) == path[:1]


def test_what_was_looked_at_before_any_token(page: Page, writer: Served) -> None:
    path = greedy(writer, 3)
    opened(page, writer, show="looks")
    page.get_by_role("button", name="Write more").click()
    expect(page).to_have_url(re.compile("written="))
    to_the_prompt(page)
    for written in range(1, len(path) + 1):
        page.get_by_role("button", name="Next token").click()
        assert path_of(page, written) == path[:written]
    step = writer.backend.predict(asked(writer, *path))
    seen = known(step.looks)
    layer, head = np.unravel_index(strongest(seen).argmax(), seen.shape[:2])
    row = seen[layer, head]
    at = 1 + row[1:-2].argmax()
    says(
        page, f"Before the next token, layer {layer} · head {head} looks back at “{step.row.pieces[at]}” ({row[at]:.2f}"
    )
    click(page.get_by_text("Every head's weights as a file"))
    rows = table(saved(page))
    shape = seen.shape
    assert np.array([float(row[-1]) for row in rows]).reshape(shape) == pytest.approx(seen, abs=1e-6)
    # A token of the prompt: the step before it has read what stands to its left, as one pass over the text has.
    chip(page, "before it", 5).click()
    expect(page).to_have_url(re.compile("at=5"))
    trace = writer.backend.trace(TraceRequest(writer.model("gpt2"), TEXT))
    earlier = trace.rows(4)[:, :, :5]
    layer, head = np.unravel_index(strongest(earlier).argmax(), earlier.shape[:2])
    at = 1 + earlier[layer, head, 1:-2].argmax()
    says(page, f"Before “{trace.tokens[5]}” came, layer {layer} · head {head} looks back at “{trace.tokens[at]}”")
    chip(page, "before it", 0).click()
    says(page, "Nothing stands before the first token")


def test_the_first_token_can_be_left_out_and_each_layer_would_write_its_own(page: Page, writer: Served) -> None:
    opened(page, writer, show="sink", layer=1, head=2)
    trace = writer.backend.trace(TraceRequest(writer.model("gpt2"), TEXT))
    shares = observe(trace).strength("first")
    says(page, f"“{trace.tokens[0]}”, the first token, has {shares.mean():.2f} of the attention of the tokens after it")
    says(page, f"Layer 1 · head 2 gives it {shares[1, 2]:.2f}")
    looks = known(writer.backend.predict(asked(writer)).looks)[1, 2]
    says(page, f"the first token gets {looks[0]:.2f}")
    click(page.get_by_text("Count the first token"))
    others = looks[1:] / looks[1:].sum()
    says(page, re.compile(rf"\({others[:-2].max():.2f}\).*the first token is left out and the rest scaled to one"))
    turn(page, SHOWS["layers"])
    step = writer.backend.predict(asked(writer))
    tokens = tuple(found.token for found in step.candidates[:3])
    found = writer.backend.predict(NextLens(model=writer.model("gpt2"), text=TEXT, tokens=tokens))
    rows = table(saved(page))
    assert [row[0] for row in rows] == ["words", "layer 0", "layer 1"]
    assert [float(row[1]) for row in rows] == pytest.approx(found.probabilities[:, 0].tolist(), rel=1e-5)
    assert [int(row[2]) for row in rows] == found.ranks[:, 0].tolist()
    assert float(rows[-1][1]) == pytest.approx(step.candidates[0].probability, rel=1e-3)


def test_all_heads_of_prompt_and_written_tokens(page: Page, writer: Served) -> None:
    path = greedy(writer, 2)
    opened(page, writer, show="heads", more=2, layer=1, head=2)
    page.get_by_role("button", name="Write more").click()
    assert path_of(page, 2) == path
    painted(page, layer=1, head=2)
    trace = writer.backend.trace(TraceRequest(writer.model("gpt2"), TEXT, written=path))
    says(page, "Every head of the prompt and of what was written")
    expect(page.locator("[data-painted]").get_by_role("button", name=trace.tokens[-1].strip()).last).to_be_visible()


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_the_maps_are_those_of_one_pass(page: Page, writer: Served, name: str) -> None:
    # A text of its own: answers are kept, and one to a question asked alone elsewhere was read anew.
    opened(page, writer, name, show="looks", more=4, text=f"{TEXT} and slept")
    page.get_by_role("button", name="Write more").click()
    path_of(page, 4)
    click(page.get_by_text("Is this the same as reading it at once?"))
    said = says(page, "the largest difference of a weight")
    assert said.startswith("In 5 steps, 4 of them from kept keys and values")
    worst = float(matched(r"whole text is (\S+);", said).group(1))
    assert worst <= 1e-5
    assert said.endswith("tokens that came later get 0 at most.")


def test_induction_heads_and_the_text_to_try_them_on(page: Page, writer: Served) -> None:
    opened(page, writer, "llama", show="induction", sample=2)
    found = writer.backend.predict(InductionHeads(model=writer.model("llama"), seed=2))
    layer, head = np.unravel_index(found.matching.argmax(), found.matching.shape)
    says(page, f"Layer {layer} · head {head} puts {found.matching.max():.2f} of its attention on what followed")
    rows = table(saved(page))
    scores = {(int(row[0]), int(row[1])): [float(cell) for cell in row[2:4]] for row in rows}
    for place in np.ndindex(*found.matching.shape):
        assert scores[place] == pytest.approx([found.matching[place], found.control[place]], rel=1e-5)
    page.get_by_role("button", name="Try the best head on a text").click()
    expect(page).to_have_url(re.compile("text=Mr"))
    expect(page).to_have_url(re.compile(rf"head={head}(&|$)"))
    says(page, f"layer {layer} · head {head} looks back at")


def test_another_prompt_forgets_what_was_written_after_the_last_and_a_hostile_one_is_shown_as_text(
    page: Page, writer: Served
) -> None:
    opened(page, writer)
    page.get_by_role("button", name="Next token").click()
    path_of(page, 1)
    read(page, "A small cat")
    first = writer.backend.predict(NextToken(model=writer.model("gpt2"), text="A small cat", top=100))
    says(page, f"“{first.candidates[0].piece}” comes first")
    expect(page.get_by_role("button", name="One back")).to_be_disabled()
    expect(page.get_by_text("Where you have been")).to_have_count(0)
    hostile = "<img src=x onerror=alert(1)> [a](http://x.org) $x$"
    read(page, hostile)
    step = writer.backend.predict(NextToken(model=writer.model("gpt2"), text=hostile, top=100))
    says(page, f"“{step.candidates[0].piece}” comes first (")
    expect(page.get_by_text("How to read this")).to_be_visible()
    expect(page.locator("[data-testid='stException']")).to_have_count(0)


def test_an_example_is_read_up_to_its_last_word(page: Page, writer: Served) -> None:
    opened(page, writer, text=None)
    says(page, "Of the example all but its last word is read")
    short = NextToken(model=writer.model("gpt2"), text="The animal didn't cross the street because it was too", top=100)
    says(page, f"“{writer.backend.predict(short).candidates[0].piece}” comes first")
    says(page, "“tired”, the example's own word, is")
    page.get_by_role("button", name="Read the whole example").click()
    whole = NextToken(model=short.model, text=f"{short.text} tired.", top=100)
    says(page, f"“{writer.backend.predict(whole).candidates[0].piece}” comes first")
    expect(page.get_by_text("all but its last word")).to_have_count(0)


def test_a_model_of_another_kind_lets_one_that_writes_answer(page: Page, writer: Served, served: Served) -> None:
    with served.listed(writer.model("llama")) as model:
        opened(page, writer, model=BARE, speaker=model)
        says(page, "MiniLM (embedded) has no head that continues a text; on this page llama answers.")
        step = writer.backend.predict(asked(writer, name="llama"))
        says(page, f"“{step.candidates[0].piece}” comes first")


@pytest.mark.parametrize("viewport", [DESKTOP])
def test_every_view_is_accessible_and_fits(page: Page, writer: Served) -> None:
    opened(page, writer)
    page.get_by_role("button", name="Next token").click()
    path_of(page, 1)
    for show in each_view(page, SHOWS):
        expect(page.locator("[data-painted]" if show == "heads" else CHART).first).to_be_visible()
        accessible_and_fits(page)
