"""Browser tests of the Pictures page: hovering, keys, heads, files, and both themes on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from attention.trace import Trace
from inference.pictures.sample_picture import sample
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.looks import accessible_and_fits
from tests.support.visitor import DEEP_LINK, open_page

HEAD = {"of_layer": 3, "of_head": 2}
# The ZIP archive holds the table and its provenance.
FILES = {"Save as PNG": b"\x89PNG", "Save as SVG": b"<svg", "Save as CSV": b"PK"}


@pytest.fixture(autouse=True)
def linked(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return sample()


def drawn(page: Page, wanted: str) -> Locator:
    """Wait until the view and every head's thumbnail have drawn ``wanted``, and return the view.

    ``wanted`` lists layer, head, token, direction and kind, separated by “|”.
    """
    view = page.locator(".picture")
    expect(view).to_have_attribute("data-whole", wanted, timeout=PATIENCE)
    return view


def middle(
    page: Page, trace: Trace, row: int, column: int, canvas: str = ".picture .stage canvas"
) -> tuple[float, float]:
    """Return the window coordinates, in pixels, of the centre of an image patch, once the page is at rest.

    Parts above the image that appear late would move the patch away from the coordinates. The image is scrolled into
    view, since no pointer reaches a patch above the window.
    """
    rest(page)
    page.locator(canvas).evaluate("canvas => canvas.scrollIntoView({ block: 'center' })")
    grid, picture = trace.source.grid, trace.picture
    assert grid
    assert picture
    left, top, right, bottom = grid.pixels(grid.token(row, column)) or (0, 0, 0, 0)
    box = page.locator(canvas).bounding_box()
    assert box
    across, down = (left + right) / 2 / picture.width, (top + bottom) / 2 / picture.height
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def test_what_is_not_attended_is_darker_the_view_is_saved_and_hover_shows_where_a_patch_looks(
    page: Page, app_url: str, trace: Trace, browser: Browser, tmp_path: Path
) -> None:
    """A click pins the patch under the pointer."""
    open_page(page, app_url, "/pictures", **HEAD)
    drawn(page, "3|2|0|out|head")
    grid = trace.source.grid
    assert grid
    weights = trace.weights(3, 2)[0, grid.start : grid.start + len(grid)]
    bright, dark = (divmod(int(at), grid.columns) for at in (np.argmax(weights), np.argmin(weights)))
    read = """(canvas, [x, y]) => {
        const box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
        const at = [(x - box.left) * ratio, (y - box.top) * ratio];
        return [...canvas.getContext("2d").getImageData(at[0] - 3, at[1] - 3, 6, 6).data].reduce((a, b) => a + b) }"""
    canvas = page.locator(".picture .stage canvas")
    shown = [canvas.evaluate(read, list(middle(page, trace, *place))) for place in (bright, dark)]
    assert shown[0] > shown[1]

    for entry, begins in (
        ("Save as PNG", b"\x89PNG"),
        ("Save as SVG", b"<svg"),
        ("Save as CSV", b"PK"),
    ):
        click(page.locator(".picture").get_by_text("Save", exact=True))
        with page.expect_download() as coming:
            page.get_by_role("button", name=entry).click()
        assert Path(coming.value.path()).read_bytes().startswith(begins)
    with page.expect_download() as coming:
        click(page.get_by_role("link", name="Save as HTML"))
    saved = tmp_path / "picture.html"
    coming.value.save_as(saved)
    assert saved.stat().st_size < 1_500_000
    context = browser.new_context()
    try:
        alone, asked = context.new_page(), list[str]()
        alone.on("request", lambda request: asked.append(request.url))
        alone.goto(saved.as_uri())
        view = drawn(alone, "3|2|0|out|head")
        expect(view.locator(".said")).to_contain_text("Head 3-2: [CLS]")
        alone.get_by_role("application", name=re.compile("Enter keeps")).press("End")
        expect(view).to_have_attribute("data-painted", re.compile(r"\|3\|2\|\d\d+\|out\|head$"))
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    finally:
        context.close()

    token = grid.token(5, 9)
    page.mouse.move(*middle(page, trace, 5, 9))
    view = drawn(page, f"3|2|{token}|out|head")
    on_patches = float(trace.weights(3, 2)[token, grid.start :].sum())
    expect(view.locator(".said")).to_contain_text(
        f"Head 3-2: the patch in row 6, column 10 attends {on_patches:.0%} to patches"
    )
    expect(page.locator(".picture [aria-live]")).to_contain_text("row 6, column 10")
    page.mouse.click(*middle(page, trace, 5, 9))
    expect(page).to_have_url(re.compile(f"token={token}"))
    page.mouse.move(0, 0)
    drawn(page, f"3|2|{token}|out|head")
    page.get_by_role("combobox", name=re.compile("^Token")).select_option("is looked at by")
    drawn(page, f"3|2|{token}|in|head")
    expect(view.locator(".said")).to_contain_text("gets most attention from")


def test_keys_move_over_patches_and_heads(page: Page, app_url: str, trace: Trace) -> None:
    open_page(page, app_url, "/pictures", token=1, **HEAD)
    drawn(page, "3|2|1|out|head")
    stage = page.get_by_role("application", name=re.compile("Enter keeps"))
    grid = trace.source.grid
    assert grid
    stage.focus()
    for key in ("ArrowRight", "ArrowDown", "End"):
        stage.press(key)
    end = grid.token(1, grid.columns - 1)
    drawn(page, f"3|2|{end}|out|head")
    stage.press("Escape")
    drawn(page, "3|2|1|out|head")
    stage.press("ArrowRight")
    stage.press("Enter")
    expect(page).to_have_url(re.compile("token=2"))
    page.get_by_role("application", name=re.compile("chosen: ")).press("ArrowDown")
    drawn(page, "4|2|2|out|head")
    expect(page).to_have_url(re.compile("of_layer=4"))
    page.get_by_label("Shown").select_option("Weights × value norm")
    drawn(page, "4|2|2|out|norms")
    page.get_by_label("Shown").select_option("Attention rollout")
    drawn(page, "4|2|2|out|rollout")


FETCHED = """() => performance.getEntriesByType("resource").map((one) => one.name)
    .find((name) => name.includes("/picture.jpg"))"""
PASTE = """async (place) => {
    const answer = await fetch(place), file = new File([await answer.blob()], "a.png", { type: "image/png" });
    const held = new DataTransfer();
    held.items.add(file);
    document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: held, bubbles: true })) }"""


def test_a_picture_is_pasted_and_the_page_is_accessible_and_fits(page: Page, app_url: str) -> None:
    open_page(page, app_url, "/pictures", **HEAD)
    view = drawn(page, "3|2|0|out|head")
    base = str(view.get_attribute("data-painted")).split("|")[0]
    seal = (
        "() => performance.getEntriesByType('resource').map((one) => one.name).find((name) => /picture.jpg/.test(name))"
    )
    place = str(page.evaluate(seal))
    assert base in place
    page.evaluate(PASTE, place)
    expect(page).to_have_url(re.compile("given=[0-9a-f]{12}"))
    click(page.get_by_role("button", name="Show sample"))
    expect(page).not_to_have_url(re.compile("given="))
    drawn(page, "10|5|0|out|head")
    accessible_and_fits(page)


def test_two_regions_are_drawn_by_pointer_and_by_keys(page: Page, app_url: str, trace: Trace) -> None:
    open_page(page, app_url, "/pictures", show="links", **HEAD)
    regions = page.locator(".regions")
    expect(regions).to_have_attribute("data-drawn", "|", timeout=PATIENCE)
    stage = page.get_by_role("application", name=re.compile("Drag a region"))
    page.mouse.move(*middle(page, trace, 6, 5, ".regions .stage canvas"))
    page.mouse.down()
    page.mouse.move(*middle(page, trace, 4, 4, ".regions .stage canvas"), steps=3)
    page.mouse.up()
    expect(page).to_have_url(re.compile("region_a=4-4-6-5"))
    expect(page.get_by_role("button", name="B: attended patches")).to_have_attribute("aria-pressed", "true")
    stage.focus()
    for key in ("ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown", "Enter"):
        stage.press(key)
    expect(page).to_have_url(re.compile("region_b=4-5-5-6"))
    expect(regions).to_have_attribute("data-drawn", "4-4-6-5|4-5-5-6")
    expect(page.get_by_text(re.compile(r"links A to B most")).first).to_be_visible(timeout=PATIENCE)
    accessible_and_fits(page)


def test_what_heads_are_for_fits(page: Page, app_url: str) -> None:
    open_page(page, app_url, "/pictures", show="roles", **HEAD)
    expect(page.get_by_text("Attention to the eight patches around it").first).to_be_visible(timeout=PATIENCE)
    accessible_and_fits(page)
