"""Tests of a notebook cell in a real browser: it is drawn in a frame, answers clicks and reaches no other machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

import headlight
from tests.support.browser import Problems

HOSTILE = "</script><img src=x onerror=parent.pwned=1>"


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_a_cell_draws_and_answers(page: Page, problems: Problems, tmp_path: Path, width: int) -> None:
    problems.allow("machine: file:")
    maps = np.random.default_rng(0).random((2, 3, 4, 4)).astype(np.float32)
    shown = headlight.view(maps / maps.sum(axis=-1, keepdims=True), ["The", "cat", HOSTILE, "sat"])
    layer, head = (shown.selection[name] for name in ("layer", "head"))
    page.set_viewport_size({"width": width, "height": 900})
    (tmp_path / "cell.html").write_text(f"<!doctype html><meta charset=utf-8>{shown._repr_html_()}", encoding="utf-8")
    page.goto((tmp_path / "cell.html").as_uri())
    cell = page.frame_locator("iframe")
    cell.locator(f".hl[data-painted='|{layer}|{head}|{shown.selection['focus']}|matrix']").wait_for()
    cell.get_by_role("button", name="sat").first.click()
    cell.locator(f".hl[data-painted='|{layer}|{head}|3|matrix']").wait_for()
    assert HOSTILE in cell.locator("#view").inner_text()
    assert page.evaluate("window.pwned === undefined")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert cell.locator("html").evaluate("(page) => page.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("theme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(14, 17, 23)")])
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_a_cell_is_as_dark_as_it_was_asked_to_be(
    page: Page, problems: Problems, tmp_path: Path, theme: Any, ground: str
) -> None:
    """For any theme of the system, the frame has the theme that the notebook asked for."""
    problems.allow("machine: file:")
    shown = headlight.view([[[1, 0], [0.5, 0.5]]], ["a", "cat"], theme=theme)
    (tmp_path / "cell.html").write_text(f"<!doctype html><meta charset=utf-8>{shown._repr_html_()}", encoding="utf-8")
    page.goto((tmp_path / "cell.html").as_uri())
    cell = page.frame_locator("iframe")
    cell.locator(".hl[data-painted]").wait_for()
    assert cell.locator("body").evaluate("(body) => getComputedStyle(body).backgroundColor") == ground
    assert cell.locator(".hl.dark").count() == (theme == "dark")


def test_numbers_with_signs_are_drawn_on_both_sides_of_zero(page: Page, problems: Problems, tmp_path: Path) -> None:
    problems.allow("machine: file:")
    shown = headlight.view([[[0.25, -1.0], [-0.5, 0.0]]], ["a", "cat"], signed=True)
    page.goto(shown.save(tmp_path / "page.html").as_uri())
    page.locator(".hl[data-painted]").wait_for()
    assert "is −1.00." in page.locator(".truth").inner_text()
    assert page.locator(".matrix > canvas").get_attribute("aria-label") == "square-root colour scale, −1 – 1"
    page.get_by_role("tab", name="Lines").click()
    page.locator(".lines .note", has_text="dashed: below zero").wait_for()


def test_a_dark_page_prints_in_light_colours(page: Page, problems: Problems, tmp_path: Path) -> None:
    problems.allow("machine: file:")
    shown = headlight.view([[[1, 0], [0.5, 0.5]]], ["a", "cat"], theme="dark")
    page.goto(shown.save(tmp_path / "page.html").as_uri())
    page.locator(".hl.dark[data-painted]").wait_for()
    colour = "(node) => getComputedStyle(node).color"
    page.emulate_media(media="print")
    page.locator(".hl:not(.dark)").wait_for()
    for part in ("body", ".hl", ".hl .truth", "footer"):
        assert page.locator(part).first.evaluate(colour) == "rgb(30, 32, 40)"
    page.emulate_media(media="screen")
    page.locator(".hl.dark").wait_for()


def test_a_cell_below_the_fold_is_drawn(page: Page, problems: Problems, tmp_path: Path) -> None:
    problems.allow("machine: file:")
    cell = headlight.view([[[1, 0], [0.5, 0.5]]], ["a", "cat"])._repr_html_()
    below = f"<!doctype html><meta charset=utf-8><div style='height:9000px'></div>{cell}"
    (tmp_path / "cell.html").write_text(below, encoding="utf-8")
    page.goto((tmp_path / "cell.html").as_uri())
    page.frame_locator("iframe").locator(".hl[data-painted]").wait_for(state="attached")


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("letters", [101, 700])
def test_a_long_word_in_focus_keeps_the_page_narrow(
    page: Page, problems: Problems, tmp_path: Path, width: int, letters: int
) -> None:
    problems.allow("machine: file:")
    trace = headlight.view(np.full((1, 1, 2, 2), 0.5), ["a", "x" * letters]).trace
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(headlight.Shown(trace, 1).save(tmp_path / "page.html").as_uri())
    page.locator(".hl[data-painted]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_without_scripts_shows_its_picture(page: Page, tmp_path: Path) -> None:
    shown = headlight.view([[[1, 0], [0.5, 0.5]]], ["a", "cat"])
    still = page.context.browser.new_context(java_script_enabled=False).new_page()  # type: ignore[union-attr]
    still.goto(shown.save(tmp_path / "page.html").as_uri())
    still.locator(".still svg").wait_for()
    assert "this page shows one head" in still.locator(".still").inner_text()
    still.context.close()
