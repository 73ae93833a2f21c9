"""Browser tests of the Tokens page: tokenizer steps, their characters, and the subwords of a word."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from inference import LocalBackend
from inference.tasks.tokenizer_steps import TokenSteps
from tests.support import tinymodels
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.serving import Served
from tests.support.visitor import DEEP_LINK, open_page, read, text_box

TEXT = "Café embeddings running 👍 [MASK]"


@pytest.fixture(autouse=True)
def deep_link(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


@pytest.fixture(scope="module")
def two_tokenizers(served: Served) -> Iterator[tuple[str, str]]:
    """Yield the app's URL and the folder of a second, byte-level tokenizer that the app lists."""
    with served.listed(str(tinymodels.save(served.place("tokens") / "tiny-gpt2", "gpt2"))) as folder:
        yield served.url, folder


def row(page: Page, name: str, way: int = 0) -> Locator:
    """Return the parts in the tokenizer step ``name`` of tokenizer ``way``, counted from 0."""
    return page.locator(".way").nth(way).get_by_role("group", name=name).get_by_role("button")


def texts(parts: Locator) -> list[str]:
    expect(parts.first).to_be_visible(timeout=PATIENCE)
    return [part.split("\n")[0] for part in parts.all_inner_texts()]


def settled(page: Page) -> None:
    """Wait until the layout is stable, so that late elements do not move another part under the pointer."""
    expect(text_box(page)).to_be_visible()
    expect(row(page, "2. Split").first).to_be_visible()
    rest(page)


def lit(page: Page) -> str:
    """Return the highlighted characters as a single string.

    Two tokenizers that split these characters differently show them as several elements.
    """
    expect(page.locator(".characters .lit").first).to_be_visible()
    return "".join(page.locator(".characters .lit").all_inner_texts())


def test_the_steps_are_the_tokenizer_s_and_a_piece_lights_its_characters_and_leads_to_its_word(
    page: Page, app_url: str
) -> None:
    open_page(page, app_url, "/tokens", text=TEXT)
    steps = LocalBackend().inspect(TokenSteps(text=TEXT))
    assert texts(row(page, "2. Split")) == [word.shown for word in steps.sides[0].words]
    assert texts(row(page, "3. Cut into pieces")) == [token.shown for token in steps.tokens if not token.special]
    shown = [part.split("\n") for part in row(page, "4. Add special tokens").all_inner_texts()]
    assert shown == [[token.shown, str(token.id), str(token.segment), "1"] for token in steps.tokens]
    assert "running" in texts(row(page, "3. Cut into pieces"))
    # The unknown token for 👍 is shown in two rows.
    expect(page.locator(".way").first.locator(".unknown")).to_have_count(2)
    expect(page.get_by_text("Not in its vocabulary, hence [UNK]: “👍”.")).to_be_visible()
    settled(page)
    row(page, "3. Cut into pieces").filter(has_text="##bed").hover()
    expect(row(page, "2. Split").and_(page.locator(".lit"))).to_have_text(["embeddings"])
    assert lit(page) == "bed"
    page.locator(".characters span").filter(has_text="é").hover()
    expect(row(page, "3. Cut into pieces").and_(page.locator(".lit"))).to_have_text(["cafe"])
    first = row(page, "2. Split").first
    first.focus()
    page.keyboard.press("ArrowRight")
    expect(row(page, "2. Split").nth(1)).to_be_focused()
    expect(page.locator(".characters .lit").first).not_to_contain_text("é")
    assert lit(page) == "embeddings"
    page.keyboard.press("Escape")
    expect(page.locator(".characters .lit")).to_have_count(0)
    a_word_is_followed_to_its_pieces(page)
    hostile_text_stays_text(page)


def a_word_is_followed_to_its_pieces(page: Page) -> None:
    becomes = "“embeddings” becomes em · ##bed · ##ding · ##s, after 18 look-ups"
    # The sentence appears once because the second tokenizer splits the word differently.
    expect(page.get_by_text(becomes)).to_be_visible()
    click(row(page, "3. Cut into pieces").filter(has_text="[MASK]"))
    expect(page.get_by_role("status").filter(has_text="“[MASK]”")).to_have_count(1)
    expect(page).to_have_url(re.compile("at=4"))
    click(row(page, "2. Split").filter(has_text="running"))
    expect(page.get_by_text("“running” is in the vocabulary whole.")).to_be_visible()
    expect(row(page, "2. Split").and_(page.locator("[aria-pressed=true]"))).to_have_text(["running"])


def hostile_text_stays_text(page: Page) -> None:
    read(page, "<img src=x onerror=alert(1)> ![](http://x.org/y) **b** \u202e")
    expect(row(page, "2. Split").filter(has_text="onerror")).to_have_count(1)
    expect(page.locator(".ladder img, .ladder b")).to_have_count(0)


def test_two_tokenizers_side_by_side_of_which_one_reads_two_texts(page: Page, two_tokenizers: tuple[str, str]) -> None:
    url, beside = two_tokenizers
    open_page(page, url, "/tokens", text="Café cat", pair="Was", beside=beside)
    assert texts(row(page, "2. Split", way=1)) == ["Café", "␣cat"]
    assert texts(row(page, "2. Split", way=0)) == ["cafe", "cat", "was"]
    expect(page.get_by_text("tiny-gpt2 reads one text")).to_be_visible()
    shown = [part.split("\n") for part in row(page, "4. Add special tokens").all_inner_texts()]
    assert [part[2] for part in shown] == ["0"] * 4 + ["1"] * 2
    expect(page.locator(".characters")).to_have_count(2)
    pieces = row(page, "3. Cut into pieces", way=1)
    assert "".join(texts(pieces)).startswith("Caf<0xC3><0xA9>")
    settled(page)
    pieces.filter(has_text="<0xC3>").hover()
    expect(page.locator(".characters .lit")).to_have_text(["é"])
    expect(row(page, "2. Split", way=0).and_(page.locator(".lit"))).to_have_text(["cafe"])
    click(pieces.filter(has_text="<0xC3>"))
    expect(page.get_by_text(re.compile(r"“Café” becomes .* merge"))).to_be_visible()
    expect(page.get_by_text("“cafe” is in the vocabulary whole.")).to_be_visible()
    if folder := os.environ.get("HEADLIGHT_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/tokens-two.png")


def test_a_piece_has_only_the_marks_of_its_vocabulary(page: Page, app_url: str) -> None:
    open_page(page, app_url, "/tokens", text=TEXT)
    piece = row(page, "3. Cut into pieces").filter(has_text="##bed")
    expect(piece).to_be_visible(timeout=PATIENCE)
    expect(piece).to_have_class(re.compile(r"\bjoined\b"))
    marks = piece.evaluate(
        "piece => [piece, ...piece.querySelectorAll('*')].map(part => getComputedStyle(part, '::before').content)"
    )
    assert set(marks) == {"none"}
