"""Browser tests of the Transformer block's page: drawing, explanations, files and quadratic cost."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import Locator, Page, expect

from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import PHONE, Problems
from tests.support.looks import each_look
from tests.support.serving import Served
from tests.support.tinymodels import save
from tests.support.visitor import DEEP_LINK, file_of, open_page, read, table_of


def part(page: Page, name: str) -> Locator:
    """Return a part of the drawing by its accessible name."""
    return page.locator(".drawing").get_by_role("button", name=name)


def explained(page: Page) -> Locator:
    return page.locator(".said")


def test_the_embedded_model_is_drawn_with_its_own_numbers_and_those_of_the_text_and_a_click_explains_a_part(
    page: Page, app_url: str, problems: Problems
) -> None:
    """The address also contains the open folds."""
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/block")
    expect(part(page, "Self-attention, 12 heads, d_k = 32, 12 × 16 × 16")).to_be_visible(timeout=PATIENCE)
    expect(part(page, "Feed-forward, 384 → 1,536 → 384, GELU")).to_be_visible()
    expect(part(page, "LayerNorm")).to_have_count(3)
    expect(page.get_by_text("; 22,713,216 parameters.")).to_be_visible()
    expect(page.locator(".sizes")).to_contain_text("384 model width")
    expect(explained(page)).to_contain_text("Self-attention")

    click(part(page, "Feed-forward"))
    expect(explained(page)).to_contain_text("384 → 1,536 (GELU) → 384")
    expect(part(page, "Feed-forward")).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("piece=encoder.3"))
    rest(page)
    page.go_back()
    expect(explained(page)).to_contain_text("Queries are compared with keys")

    click(page.get_by_text("Encoder or decoder"))
    expect(page.get_by_text("(this model)")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("fold=kinds"))
    expect(page.locator(".drawing svg")).to_have_count(4)
    click(page.get_by_text("Activation function"))
    expect(page.get_by_text("This model uses GELU (configuration: gelu)")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("fold=kinds%2Cactivation"))
    expect(page.locator(".drawing svg")).to_have_count(4)

    read(page, "One two three.")
    expect(part(page, "12 × 6 × 6")).to_be_visible(timeout=PATIENCE)


def test_a_link_restores_a_part_and_a_key_explains_another(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/block", piece="encoder.3")
    expect(explained(page)).to_contain_text("384 → 1,536 (GELU) → 384")
    rest(page)
    part(page, "Pooler").focus()
    page.keyboard.press("Enter")
    expect(explained(page)).to_contain_text("A matrix for tasks")
    expect(page).to_have_url(re.compile("piece=encoder.pooler"))
    rest(page)
    expect(part(page, "Pooler")).to_be_focused()
    links = explained(page).get_by_role("link")
    expect(links.first).to_have_attribute("href", "https://arxiv.org/abs/1810.04805")
    page.set_viewport_size(PHONE)
    rest(page)
    click(part(page, "Feed-forward"))
    expect(explained(page)).to_contain_text("384 → 1,536")
    expect(explained(page)).to_be_in_viewport()  # The explanation must also be visible on a phone.


def test_parameters_are_listed_and_saved_and_the_drawing_is_saved_as_it_is_seen(
    page: Page, app_url: str, problems: Problems, tmp_path: Path
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/block", piece="encoder.0", fold="parameters")
    for _, theme in each_look(page, (("desktop", "light"), ("desktop", "dark"))):
        expect(part(page, "Self-attention")).to_be_visible(timeout=PATIENCE)
        waiting = file_of(page.get_by_role("button", name="Save as SVG"))
        assert waiting.suggested_filename == "BertModel.svg"
        waiting.save_as(tmp_path / "saved.svg")
        root = ElementTree.parse(tmp_path / "saved.svg").getroot()
        texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert {"Self-attention", "12 heads, d_k = 32", "6 ×", "16 × 384"} <= set(texts)
        colours = [element.get("fill") for element in root.iter("{http://www.w3.org/2000/svg}rect")]
        assert ("#dbeaf6" if theme == "light" else "#14324a") in colours
        assert not any(element.get("role") == "button" or element.tag.endswith("script") for element in root.iter())

    expect(page.get_by_text("All parts sum to 22,713,216.")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=PATIENCE)
    waiting = file_of(page.get_by_role("button", name="Save as CSV"))
    waiting.save_as(tmp_path / "saved.csv")
    lines = table_of(tmp_path / "saved.csv").splitlines()
    assert lines[0] == "Part,Parameters,Layers,Tensors (first layer)"
    assert lines[1].startswith("token embeddings,11720448,,embeddings.word_embeddings.weight 30522×384")


def test_what_n_squared_costs_is_measured_can_be_stopped_and_goes_on_from_what_it_has(
    page: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/block", fold="cost")
    expect(page.get_by_text("equal the feed-forward part at n = 1,536")).to_be_visible(timeout=PATIENCE)
    click(page.get_by_role("button", name="Measure"))
    expect(page.get_by_text(re.compile(r": [4-9] of 11"))).to_be_visible(timeout=120_000)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text(re.compile(r"Stopped after \d+ of 11"))).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text(re.compile(r"Measured \(.* ms "))).to_be_visible()
    click(page.get_by_role("button", name="Go on"))
    expect(page.get_by_text(re.compile(r"Measured \(.* ms for 512"))).to_be_visible(timeout=240_000)
    expect(page.get_by_role("button", name="Measure")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(3)


def test_an_encoder_and_its_decoder_are_drawn(page: Page, served: Served, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, served.url, "/block", model=save(served.place("block") / "t5", "t5"), target="A cat.")
    expect(part(page, "Cross-attention, 3 heads, d_k = 8")).to_be_visible()
    click(part(page, "Cross-attention"))
    expect(explained(page)).to_contain_text("Queries: the decoder")
    expect(page.get_by_text("T5ForConditionalGeneration: encoder of 3 layers")).to_be_visible()
    click(part(page, "RMSNorm").first)
    expect(explained(page)).to_contain_text("Despite the name T5LayerNorm")
