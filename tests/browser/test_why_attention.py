"""Browser tests of the Why attention page: sliders, sentence, figures and table agree."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.visitor import DEEP_LINK, file_of, open_page, read


def test_the_model_s_width_and_the_text_s_length_come_first_and_a_slider_changes_them(
    page: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/why_attention")
    said = page.get_by_role("status").filter(has_text="n² · d").first
    expect(said).to_contain_text(re.compile(r"n = 16 .*d = 384,.* 0\.0417 .*n² · d = 98,304,"), timeout=PATIENCE)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    click(page.get_by_text("Trained networks", exact=True))
    expect(page.locator(".js-plotly-plot")).to_have_count(8, timeout=PATIENCE)
    read(page, "One two three.")
    expect(said).to_contain_text(re.compile(r"n = 6 .*d = 384,"), timeout=PATIENCE)
    expect(page).not_to_have_url(re.compile(r"[?&]n="))
    rest(page)
    slider = page.get_by_role("slider", name="Tokens n")
    expect(slider).to_be_visible(timeout=PATIENCE)
    slider.focus()
    page.keyboard.press("End")
    expect(said).to_contain_text(re.compile(r"n = 100,000 .*d = 384,.* 260 "), timeout=PATIENCE)
    expect(page).to_have_url(re.compile("n=100000"))
    page.get_by_role("slider", name="Tokens n").focus()
    page.keyboard.press("Home")
    expect(said).to_contain_text(re.compile(r"n = 2 .*d = 384,"), timeout=PATIENCE)


def test_a_link_restores_the_numbers_which_are_saved_by_our_button_only(
    page: Page, app_url: str, problems: Problems, tmp_path: Path
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/why_attention", d=500, k=5, r=32, n=500)
    said = page.get_by_role("status").filter(has_text="n² · d").first
    expect(said).to_contain_text("n² · d = 125,000,000, n · d² = 125,000,000", timeout=PATIENCE)
    expect(page.get_by_text("n = 500, d = 500, k = 5, r = 32")).to_be_visible()
    waiting = file_of(page.locator(".st-key-save_why_table").get_by_role("button"))
    waiting.save_as(tmp_path / "saved.csv")
    assert 'Recurrent,O(n · d²),"125,000,000",O(n),500,O(n),500' in (tmp_path / "saved.csv").read_text()
    page.get_by_test_id("stDataFrame").first.hover()  # Streamlit's own download would contain spreadsheet formulas.
    expect(page.get_by_test_id("stElementToolbarButton").get_by_role("button", name="Search").first).to_be_visible()
    expect(page.get_by_role("button", name="Download as CSV")).to_have_count(0)
