"""Browser tests of the token tree on a page of its own: drawing, keys, picking, labels and saving."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.apps import Scripts
from tests.support.atrest import click
from tests.support.browser import PHONE
from tests.support.looks import ON_A_PHONE, accessible_and_fits
from tests.support.visitor import box_of

PAGE = """
import streamlit as st

from viz.components.tree import tree
from viz.components.tree.tree import TreeNode

state = st.session_state
state.setdefault("at", "b2")

def keep():
    state.at = tree.picked_node("small")

st.title("Trees")
nodes = [
    TreeNode("root", None, "start", kind="kept"),
    TreeNode("a", "root", "<b>Je</b>", -0.25, "kept", "step 1"),
    TreeNode("b", "root", "Tu", -1.5, "kept", "step 1"),
    TreeNode("a2", "a", "suis", -0.5, "dropped"),
    TreeNode("b2", "b", "es", -1.75, "kept"),
    TreeNode("b3", "b2", "</s>", -2.0, "ended"),
]
tree.mount(nodes, "small", title="Beams", current=state.at, on_pick=keep, unit="log-probability")
st.text(f"at {state.at}")
chain = [TreeNode("0", None, "Once"), *(TreeNode(str(i), str(i - 1), f"word{i}") for i in range(1, 200))]
tree.mount(chain, "chain", title="A chain", current="199")
wide = [TreeNode("0", None, "Once"), *(TreeNode(str(i), "0", f"way{i}", kind="dropped") for i in range(1, 60))]
tree.mount(wide, "wide", title="Many ways", current="59")
"""


@pytest.fixture(scope="module")
def url(scripts: Scripts) -> str:
    return scripts.page("trees", PAGE)


@pytest.fixture
def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.get_by_text("at b2")).to_be_visible()
    expect(page.get_by_role("tree")).to_have_count(3)
    return page


def beams(page: Page) -> Locator:
    return page.get_by_role("tree", name="Beams").get_by_role("treeitem")


def node(page: Page, name: str) -> Locator:
    return page.get_by_role("tree", name="Beams").get_by_role("treeitem", name=name)


def test_keys_walk_and_pick_the_place_is_kept_and_who_walks_on_while_the_page_answers_stays_there(opened: Page) -> None:
    node(opened, "es,").focus()
    for key, name in [("ArrowLeft", "Tu"), ("ArrowUp", "<b>Je"), ("ArrowRight", "suis"), ("ArrowDown", "es,")]:
        opened.keyboard.press(key)
        expect(node(opened, name)).to_be_focused()
    opened.keyboard.press("End")
    opened.keyboard.press("Enter")
    expect(opened.get_by_text("at b3")).to_be_visible()
    # This attribute shows that the tree has been redrawn too.
    expect(node(opened, "</s>")).to_have_attribute("aria-selected", "true")
    expect(node(opened, "</s>")).to_be_focused()
    opened.keyboard.press("Home")
    expect(node(opened, "start")).to_be_focused()
    press = "(node, key) => node.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))"
    node(opened, "suis").focus()
    # A single script presses both keys before the server can answer; real key presses would leave it time.
    node(opened, "suis").evaluate(f"(node) => {{ const press = {press}; press(node, 'Enter'); press(node, 'Home'); }}")
    expect(node(opened, "suis")).to_have_attribute("aria-selected", "true")
    expect(node(opened, "start")).to_be_focused()


def test_the_current_node_is_seen_a_tree_is_saved_a_node_says_what_it_is_and_is_picked_and_all_is_accessible(
    opened: Page,
) -> None:
    for name, told in (("A chain", "word199, tried, current"), ("Many ways", "way59, dropped, current")):
        item = opened.get_by_role("tree", name=name).get_by_role("treeitem", name=told)
        box, around = box_of(item), box_of(opened.locator(".canopy", has=item))
        assert around["x"] <= box["x"]
        assert box["x"] + box["width"] <= around["x"] + around["width"]
        assert around["y"] <= box["y"]
        assert box["y"] + box["height"] <= around["y"] + around["height"]
        assert around["height"] <= 460
    assert opened.get_by_role("heading", name="Trees").is_visible()
    assert opened.get_by_test_id("stMain").evaluate("(main) => main.scrollTop") == 0
    last = opened.get_by_role("tree", name="A chain").get_by_role("treeitem", name="word199")
    last.focus()
    opened.keyboard.press("Enter")
    opened.keyboard.press("ArrowLeft")
    expect(opened.get_by_role("tree", name="A chain").get_by_role("treeitem", name="word198")).to_be_focused()
    first = opened.locator(".hl.tree").first
    with opened.expect_download() as download:
        click(first.get_by_role("button", name="Save as SVG"))
    assert download.value.suggested_filename == "headlight-Beams.svg"
    saved = Path(download.value.path()).read_text(encoding="utf-8")
    assert saved.startswith("<svg")
    assert "&lt;b&gt;Je&lt;/b&gt;" in saved
    assert "<title>Beams</title>" in saved
    with opened.expect_download() as download:
        click(first.get_by_role("button", name="Save as PNG"))
    assert Path(download.value.path()).read_bytes()[:4] == b"\x89PNG"
    expect(beams(opened)).to_have_count(6)
    expect(node(opened, "<b>Je</b>, log-probability −0.25, kept, step 1")).to_have_count(1)
    expect(node(opened, "es, log-probability −1.75, kept, current")).to_have_attribute("aria-selected", "true")
    node(opened, "suis").hover()
    expect(opened.get_by_role("tooltip").first).to_have_text("suislog-probability −0.50dropped")
    click(node(opened, "suis"))
    expect(opened.get_by_text("at a2")).to_be_visible()
    expect(node(opened, "suis")).to_have_attribute("aria-selected", "true")
    expect(node(opened, "es,")).to_have_attribute("aria-selected", "false")

    def drawn() -> None:
        for box in opened.locator(".canopy").all():
            assert box_of(box)["width"] <= PHONE["width"]

    accessible_and_fits(opened, ON_A_PHONE, drawn)
