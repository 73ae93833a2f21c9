"""Browser tests of the Step by step page: numbers of the trace, in every view and for other models."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page, expect
from transformers import MobileBertConfig, MobileBertModel

from attention.measures import as_shares, entropy
from attention.record import Record
from attention.softmax import change_softmax_rules
from attention.trace import Trace
from i18n import translate, typeset_number
from inference import LocalBackend, TraceRequest
from tests.support.accessibility import accessibility
from tests.support.atrest import click, rest
from tests.support.browser import PHONE, Problems
from tests.support.looks import STREAMLITS_OWN, each_view
from tests.support.serving import Served
from tests.support.tinymodels import save, wordpiece
from tests.support.visitor import DEEP_LINK, file_of, go_to, matched, open_page, read, stands, table_of, text_box
from ui.pages.step_by_step.weight import STAGES
from ui.show.text import format_share
from ui.state.navigation import title_of

FAMOUS = "The animal didn't cross the street because it was too tired."
PATH = "/step_by_step"
KINDS = ["gpt2", "deberta"]
IT, ANIMAL, STREET = 10, 2, 8
VIEWS = {"neuron": "Neuron view", "rules": "What if?", "heads": "All heads"}
BERT: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}


@pytest.fixture(scope="module")
def trace() -> Trace:
    return LocalBackend().trace(TraceRequest(text=FAMOUS))


@pytest.fixture(autouse=True)
def deep_link(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def note(page: Page, words: str) -> Locator:
    """Return the first note that contains ``words``."""
    return page.locator(".headlight-note").filter(has_text=words).first


def strip(page: Page, title: str) -> Locator:
    return page.get_by_role("group", name=title)


def formula(page: Page, part: str) -> str:
    """Return the LaTeX source of the formula that contains ``part``.

    KaTeX typesets formulas only after its library has loaded, which can be later than the end of the script.
    """
    return str(page.locator(".katex annotation").filter(has_text=part).text_content())


def drawn(page: Page) -> None:
    expect(page.locator(".sheet canvas").first).to_be_visible()


def test_the_first_visit_follows_the_strongest_link_and_a_click_asks_about_another(
    page: Page, app_url: str, trace: Trace
) -> None:
    open_page(page, app_url, PATH, text=FAMOUS, stage="weights")
    weight, score = trace.weights(3, 1)[IT, ANIMAL], trace.scores(3, 1)[IT, ANIMAL]
    expect(note(page, "Head 3-1")).to_contain_text(f"“it” gives “animal” {weight:.0%} of its attention")
    expect(note(page, "Head 3-1")).to_contain_text(f"Its score before softmax: {score:.2f}")
    drawn(page)
    worked = formula(page, r"q \cdot k")
    dot = float(trace.query(3, 1)[IT] @ trace.key(3, 1)[ANIMAL])
    assert f"{dot:.2f}" in worked
    assert rf"\sqrt{{32}} = {score:.2f}" in worked
    assert matched(r"= (\S+)\\end", worked)[1] == f"{weight:.2f}"
    click(strip(page, "Query").get_by_role("button", name="street"))
    row = trace.weights(3, 1)[STREET]
    words = [at for at in range(1, len(row) - 1) if at != STREET]
    best = max(words, key=lambda at: row[at])
    expect(note(page, "“street” gives")).to_contain_text(f"“{trace.tokens[best]}” {row[best]:.0%}")
    expect(page).to_have_url(re.compile(f"focus={STREET}"))
    click(strip(page, "Key").get_by_role("button", name="tired"))
    tired = trace.tokens.index("tired")
    expect(note(page, "“street” gives")).to_contain_text(f"“tired” {format_share(float(row[tired]))}")
    expect(page).to_have_url(re.compile(f"to={tired}"))


def test_a_text_typed_just_before_a_click_is_read_first(page: Page, app_url: str) -> None:
    open_page(page, app_url, PATH)
    stands(page)
    text_box(page).fill("A cat sat down.")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare")
    expect(page).to_have_url(re.compile("compare.*text=A.cat"))
    stands(page)
    expect(text_box(page)).to_have_value("A cat sat down.")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Attention step by step")
    expect(page).to_have_url(re.compile("text=A.cat"))
    text_box(page).fill("A cat sat up.")
    text_box(page).press("Alt+PageDown")
    expect(page).to_have_url(re.compile("stage=.*text=A.cat.sat.up"))
    # On Attention heads, the text is already being read while the visitor types.
    go_to(page, "explore")
    stands(page)
    text_box(page).press_sequentially(" It slept well.")
    page.get_by_role("radio", name=title_of("find"), exact=True).click()
    expect(page.locator("[class*=st-key-find_]").first).to_be_visible()
    expect(page).to_have_url(re.compile("text=A.cat.sat.up..It.slept.well"))
    rest(page)
    expect(text_box(page)).to_have_value("A cat sat up. It slept well.")


def test_every_key_s_numbers_are_those_of_the_trace(page: Page, app_url: str, trace: Trace) -> None:
    open_page(page, app_url, PATH, layer=2, head=4, focus=STREET, to=IT, stage="weights")
    waiting = file_of(page.get_by_role("button", name="Save as CSV"))
    rows = list(csv.DictReader(table_of(waiting.path()).splitlines()))
    assert [row["token"] for row in rows] == ["'" + p if p[0] in "=+-@" else p for p in trace.source.labels]
    for name, expected in (("weight", trace.weights(2, 4)), ("score", trace.scores(2, 4))):
        np.testing.assert_allclose([float(row[name]) for row in rows], expected[STREET], atol=1e-5)


def test_another_layer_keeps_head_and_tokens_and_is_compared_with_the_model_and_its_largest_products_are_said(
    page: Page, app_url: str, trace: Trace
) -> None:
    open_page(page, app_url, PATH, layer=3, head=1, focus=IT, to=ANIMAL, stage="check")
    drawn(page)
    click(page.get_by_role("combobox", name=re.compile("Layer")))
    page.get_by_role("option", name="5", exact=True).click()
    weight = trace.weights(5, 1)[IT, ANIMAL]
    expect(note(page, "Head 5-1")).to_contain_text(f"“it” gives “animal” {weight:.0%}")
    expect(page).to_have_url(re.compile("layer=5&head=1&focus=10&to=2"))
    rest(page)
    said = page.get_by_text("Largest difference from")
    expect(said).to_be_visible()
    found = re.findall(r"(\d\.\d) × 10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", said.inner_text())
    digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    sizes = [float(number) * 10 ** -int(power.translate(digits)) for number, power in found]
    assert len(sizes) == 2
    assert all(0 < size <= 1e-5 for size in sizes)
    click(page.get_by_text("Neuron view", exact=True))
    expect(note(page, "q · k =")).to_be_visible()
    expect(page).to_have_url(re.compile("show=neuron"))
    products = trace.query(5, 1)[IT] * trace.key(5, 1)[ANIMAL]
    top = int(np.abs(products).argmax())
    expect(note(page, "q · k =")).to_contain_text(typeset_number(f"q · k = {products.sum():.2f}"))
    expect(note(page, "q · k =")).to_contain_text(typeset_number(f"{top} ({products[top]:+.2f})"))
    expect(page.get_by_role("application", name=re.compile("q × k, 16 by 32"))).to_be_visible()
    read(page, "One more text to read.")
    expect(note(page, "q · k =")).not_to_contain_text("animal")
    expect(page).to_have_url(re.compile("show=neuron"))


def test_the_stages_are_walked_by_buttons_keys_and_the_browser_s_back(page: Page, app_url: str) -> None:
    open_page(page, app_url, PATH, layer=3, head=1)
    drawn(page)
    click(page.get_by_role("button", name="Next"))
    expect(page).to_have_url(re.compile("stage=projections"))
    expect(page.get_by_role("application", name=re.compile("^K, 16 by 32"))).to_be_visible()
    rest(page)
    page.keyboard.press("Alt+PageDown")
    expect(page).to_have_url(re.compile("stage=weights"))
    expect(page.get_by_role("application", name=re.compile("^weight, 1 by"))).to_be_visible()
    rest(page)
    page.go_back()
    expect(page).to_have_url(re.compile("stage=projections"))
    expect(page.get_by_role("application", name=re.compile("^K, 16 by 32"))).to_be_visible()
    rest(page)
    page.get_by_role("radio", name=translate(STAGES["check"])).click(force=True)
    expect(page.get_by_text("Largest difference from")).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_be_disabled()


def bits(weights: NDArray[np.floating]) -> float:
    return float(entropy(as_shares(weights[None]))[0])


def test_without_the_root_the_spread_shrinks(page: Page, app_url: str, trace: Trace) -> None:
    open_page(page, app_url, PATH, show="rules")
    record = trace.records()[3]
    assert isinstance(record, Record)
    before, after = (kind.weights(1)[IT] for kind in (record, change_softmax_rules(record, scale=1.0)))
    expect(note(page, "under these rules")).to_contain_text(f"{bits(before):.2f} bits → {bits(after):.2f}")
    expect(page.get_by_text(f"Under these rules: {bits(after):.2f} bits")).to_be_visible()
    expect(page.get_by_role("checkbox", name="With its mask")).to_have_count(0)


def test_a_temperature_lives_in_the_link(page: Page, app_url: str, trace: Trace) -> None:
    open_page(page, app_url, PATH, show="rules", scaling="own", percent=400)
    record = trace.records()[3]
    assert isinstance(record, Record)
    after = change_softmax_rules(record, temperature=4.0).weights(1)[IT]
    expect(page.get_by_text(f"Under these rules: {bits(after):.2f} bits")).to_be_visible()
    rest(page)
    page.get_by_role("slider", name="Temperature").press("ArrowLeft")
    after = change_softmax_rules(record, temperature=3.95).weights(1)[IT]
    expect(page.get_by_text(f"Under these rules: {bits(after):.2f} bits")).to_be_visible()
    expect(page).to_have_url(re.compile("percent=395"))


def test_a_cell_of_all_heads_chooses_its_head_and_key(page: Page, app_url: str, trace: Trace) -> None:
    open_page(page, app_url, PATH, show="heads")
    maps = np.stack([trace.weights(3, head)[IT] for head in range(12)])
    at = maps[:, ANIMAL]
    expect(note(page, "in the 12 heads")).to_contain_text(f"{at.min():.0%} to {at.max():.0%}")
    grid = page.get_by_role("application", name=re.compile("Weights of every head, 12 by 16"))
    grid.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        grid.press(key)
    expect(page).to_have_url(re.compile("head=2&focus=10&to=1"))
    expect(note(page, "Head 3-2")).to_contain_text(f"“the” {maps[2, 1]:.0%}")
    expect(page.get_by_text("591,360")).to_be_visible()


@pytest.mark.parametrize("viewport", [PHONE])
def test_every_view_is_accessible_and_fits_a_phone(page: Page, app_url: str) -> None:
    open_page(page, app_url, PATH)
    drawn(page)
    for _ in each_view(page, VIEWS):
        expect(page.locator(".sheet canvas, .js-plotly-plot .main-svg").first).to_be_visible()
        expect(page.get_by_text("How to read")).to_be_visible()
        rest(page)
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        assert accessibility(page, leave_out=STREAMLITS_OWN) == []


@pytest.mark.parametrize("viewport", [PHONE])
def test_a_long_text_shows_a_window_and_says_so(page: Page, app_url: str) -> None:
    open_page(page, app_url, PATH, text=" ".join([FAMOUS] * 12), layer=1, head=2, focus=40, to=100, stage="projections")
    expect(note(page, "32 of 170 keys are drawn")).to_be_visible()
    drawn(page)
    expect(page.get_by_role("application", name=re.compile("^K, 32 by 32"))).to_be_visible()


@pytest.fixture(scope="module")
def folder(served: Served) -> Path:
    models = served.place("steps")
    for kind in KINDS:
        save(models / kind, kind)
    return models


def test_without_its_mask_a_decoder_looks_ahead(page: Page, app_url: str, folder: Path) -> None:
    asked = {"model": str(folder / "gpt2"), "text": "The small cat played.", "layer": 0, "head": 1, "focus": 0}
    open_page(page, app_url, PATH, show="rules", scaling="own", **asked)
    box = page.get_by_role("checkbox", name="With its mask")
    expect(box).to_be_checked()
    expect(note(page, ": 0.00 bits → 0.00")).to_be_visible()
    expect(page.get_by_text("As the model computes: 0.00 bits")).to_be_visible()
    click(page.get_by_text("With its mask"))
    expect(note(page, ": 0.00 bits →")).to_be_visible()
    expect(page).to_have_url(re.compile("masked=0"))


def test_an_attention_of_another_form_shows_its_queries_and_keys(page: Page, app_url: str, folder: Path) -> None:
    """MobileBERT computes values and keys from different vectors; its recorded steps are still shown."""
    wordpiece(folder / "mobile")
    sizes: dict[str, Any] = {
        "embedding_size": 24,
        "intra_bottleneck_size": 24,
        "true_hidden_size": 24,
        "vocab_size": 120,
    }
    MobileBertModel(MobileBertConfig(**BERT, **sizes)).save_pretrained(folder / "mobile")
    open_page(page, app_url, PATH, model=str(folder / "mobile"), text="a cat played")
    expect(note(page, "MobileBertModel makes keys and values from different vectors")).to_be_visible()
    expect(page.get_by_role("application", name=re.compile("^q · k, 1 by"))).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_have_count(0)


def test_maps_only_show_what_there_is(page: Page, app_url: str, folder: Path) -> None:
    open_page(page, app_url, PATH, model=str(folder / "deberta"), text="a cat played")
    expect(note(page, "attention maps only")).to_be_visible()
    expect(page.get_by_role("application", name=re.compile("^weight, 1 by"))).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_have_count(0)
