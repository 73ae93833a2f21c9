"""Browser tests of the Side by side page: the link from Explore, clicks, saved files, sets of pairs."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from attention.comparison import AlignedViews, Changes, changes, same_heads
from attention.view import View
from inference import LocalBackend, TraceRequest
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.savedfiles import parts
from tests.support.visitor import (
    DEEP_LINK,
    box_of,
    click_cell,
    file_of,
    known,
    open_page,
    painted,
    read,
    said,
    table_of,
)
from ui.pages.explore.variants import COMPARE
from ui.show.text import format_small

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = TIRED.replace("tired", "wide")


@pytest.fixture(scope="module")
def pair() -> AlignedViews:
    return AlignedViews.align(
        *(View(trace) for trace in LocalBackend().traces([TraceRequest(text=t) for t in (TIRED, WIDE)]))
    )


@pytest.fixture(scope="module")
def found(pair: AlignedViews) -> Changes:
    return changes(pair, known(same_heads(pair.left, pair.right)))


def chips(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name=name).get_by_role("button")


def rows(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table_of(path))))


def test_the_famous_pair_is_one_click_from_explore(
    page: Page, app_url: str, pair: AlignedViews, found: Changes
) -> None:
    open_page(page, app_url, text=TIRED)
    painted(page)
    click(page.get_by_role("link", name=str(COMPARE)))
    text = said(page, "“it” gives “animal”")
    name = re.findall(r"In head (\d+)-(\d+), ", text)[0]
    head = int(name[0]), int(name[1])
    one, other = (view.weights(*head)[10, 2] for view in (pair.left, pair.right))
    assert f"{one:.0%} with “tired” and {other:.0%} with “wide”" in text
    most = found.most
    assert f"head {most[0]}-{most[1]} of 72" in text
    assert f"{format_small(found.bits[most])} bits" in text
    read(page, TIRED.replace("tired", "hungry"))  # The second text does not change.
    said(page, "with “hungry” and .* with “wide”")


def test_a_click_on_the_map_picks_a_head_and_one_on_a_word_asks_about_it(
    page: Page, app_url: str, problems: Problems, pair: AlignedViews
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/compare", layer=3, head=1)
    said(page, "In head 3-1")
    click_cell(page, (5, 8), (6, 12))
    said(page, "In head 5-8")
    click(chips(page, "With “wide”").nth(13))  # Token 13 of the second text is “wide”.
    weights = [view.weights(5, 8)[13] for view in (pair.left, pair.right)]
    words = [at for at, cell in enumerate(pair.left.keys) if not cell.special and at != 13]
    to = max(words, key=lambda at: weights[0][at])
    text = said(page, "“tired → wide” gives")
    assert f"“{pair.left.keys[to].text}” {weights[0][to]:.0%} with “tired” and {weights[1][to]:.0%} with “wide”" in text
    expect(page).to_have_url(re.compile("layer=5&head=8&focus=13"))
    page.reload()
    assert said(page, "“tired → wide” gives") == text


def test_saved_tables_have_every_digit_and_a_saved_page_opens_without_the_app(  # noqa: PLR0913  (fixtures)
    page: Page,
    app_url: str,
    problems: Problems,
    browser: Browser,
    tmp_path: Path,
    pair: AlignedViews,
    found: Changes,
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/compare", layer=3, head=1)
    said(page, "In head 3-1")
    file = file_of(page.get_by_role("button", name="Save all heads")).path()
    _table, meta = parts(Path(file).read_bytes())
    assert (meta["first"]["text"], meta["second"]["text"]) == (TIRED, WIDE)
    assert (meta["compared_rows"], meta["first"]["rows_renormalised"]) == ("scaled to the compared words", False)
    lines = rows(file)[1:]
    assert [line[:4] for line in lines[:2]] == [["0", "0", "0", "0"], ["0", "1", "0", "1"]]
    bits = np.array([line[4] for line in lines], np.float32).reshape(6, 12)
    np.testing.assert_allclose(bits, found.bits, atol=1e-5)
    table = rows(file_of(page.get_by_role("button", name="Save these maps")).path())
    lines = table[1:]
    maps = np.array([line[2:] for line in lines], np.float32).reshape(16, 16, 3)
    assert (maps[..., 2] == maps[..., 1] - maps[..., 0]).all()
    np.testing.assert_allclose(maps[..., 0], pair.left.weights(3, 1), atol=1e-6)
    np.testing.assert_allclose(maps[..., 1], pair.right.weights(3, 1), atol=1e-6)
    saved = tmp_path / "page.html"
    offered = file_of(page.get_by_role("button", name="Save as HTML"))
    assert re.fullmatch(r"headlight-side-by-side_.+_3-1_the-animal--.+\.html", offered.suggested_filename)
    saved.write_bytes(offered.path().read_bytes())
    with browser.new_page() as alone:
        wrong: list[str] = []
        alone.on("console", lambda message: wrong.append(message.text))
        alone.on("pageerror", lambda error: wrong.append(str(error)))
        alone.goto(saved.as_uri())
        expect(alone.get_by_role("application")).to_have_count(4)
        expect(alone.get_by_text("In head 3-1, “it” gives “animal”")).to_be_visible()
        expect(alone.get_by_text(WIDE)).to_be_visible()
        assert not wrong


def test_words_of_one_text_only_are_marked_and_text_stays_text(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    other = "The <b>very</b> ![x](http://example.org/a.png) animal slept."
    open_page(page, app_url, "/compare", text="The animal slept.", other=other, words=1)
    said(page, "^In .* in the first text and")
    expect(chips(page, "In the second").filter(has_text="very")).to_contain_text("only here")
    expect(chips(page, "In the first text").filter(has_text="animal")).not_to_contain_text("only here")
    rest(page)
    assert page.locator("img[src*='example.org']").count() == 0
    click(page.get_by_role("radio", name="Another model"))
    said(page, "in headlight-bert")
    expect(page).to_have_url(re.compile("differs=model"))
    page.go_back()
    said(page, "^In .* in the first text and")


def test_across_a_set_a_head_opens_its_pairs_and_a_pair_opens_side_by_side(
    page: Page, app_url: str, problems: Problems, found: Changes
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/compare", show="set")
    said(page, "^[0-9]+ of 72 heads change more with meaning")
    click_cell(page, (3, 1), (6, 12))
    said(page, "^Head 3-1: ")
    expect(page).to_have_url(re.compile("show=set.*layer=3&head=1"))
    table = rows(file_of(page.get_by_role("button", name="Save pair results")).path())
    lines = [line for line in table[1:] if line[2:4] == [TIRED, WIDE]]
    assert float(lines[0][6]) == pytest.approx(float(found.bits[3, 1]), abs=1e-5)
    said(page, re.escape(f"“{TIRED}” | “{WIDE}”"))
    pairs = page.locator(".headlight-note").filter(has_text=" bits, ")
    nth = next(at for at, text in enumerate(pairs.all_inner_texts()) if WIDE in text)
    click(page.get_by_role("link", name=str(COMPARE)).nth(nth))
    text = said(page, "In head 3-1, “it” gives “animal”")
    expect(page.get_by_role("textbox", name="Second text")).to_have_value(WIDE)
    expect(page).to_have_url(re.compile(r"/compare\?(?!.*show=set).*other=.*wide.*layer=3&head=1"))
    page.reload()
    assert said(page, "In head 3-1, “it” gives “animal”") == text
    page.go_back()
    expect(page).to_have_url(re.compile("show=set.*layer=3&head=1"))
    said(page, "^Head [0-9]-[0-9]+: change ")


def test_across_a_file_hostile_text_is_text_and_long_work_stops_and_goes_on(
    page: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/compare", show="set", bring="file")
    hostile = '<img src="http://example.org/a.png"> ![x](http://example.org/b.png) slept.'
    long = "".join(f"{'this and that ' * 90}{at},{'this and that ' * 90}{at + 1},\n" for at in range(200))
    page.get_by_test_id("stMainBlockContainer").locator("input[type=file]").set_input_files(
        {
            "name": "pairs.csv",
            "mimeType": "text/csv",
            "buffer": f"a,b,kind\n{hostile},{hostile} Well.,\n{long}".encode(),
        }
    )
    page.get_by_role("button", name="Stop", exact=True).click()
    said(page, "^Stopped after [0-9]+ of 201 steps")
    said(page, "Without controls")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    assert page.locator("img[src*='example.org']").count() == 0
    click(page.get_by_role("radio", name="Ready pairs"))
    said(page, "^[0-9]+ of 72 heads change more with meaning")


def test_what_is_removed_can_be_cleared_by_a_finger(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/compare", text="One text for all pages.", differs="edit", layer=2, head=3)
    clear = page.get_by_role("button", name="Clear all")
    expect(clear).to_be_visible(timeout=PATIENCE)
    rest(page)
    box = box_of(clear)
    # The minimum target size in pixels is that of WCAG 2.2, criterion 2.5.8.
    assert min(box["width"], box["height"]) >= 24
