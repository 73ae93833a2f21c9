"""Browser tests of a click on Explore: its traffic, and a view that other pages and reloads keep."""

from __future__ import annotations

import re

from playwright.sync_api import Page, WebSocket, expect

from tests.support.atrest import rest
from tests.support.visitor import go_to, open_options, open_page, painted, read

CHINESE = "那只动物没有过马路，因为它太累了"


def heard(page: Page) -> list[int]:
    """Return a list that collects the sizes, in bytes, of WebSocket messages received from now on."""
    sizes: list[int] = []

    def follow(socket: WebSocket) -> None:
        socket.on("framereceived", lambda data: sizes.append(len(data)))

    page.on("websocket", follow)
    return sizes


def test_a_click_is_told_without_a_run_and_the_way_back_another_page_a_link_and_a_reload_have_the_head(
    page: Page, app_url: str
) -> None:
    sizes = heard(page)
    open_page(page, app_url, layer=3, head=1)
    painted(page, layer=3, head=1)
    rest(page)
    sizes.clear()
    for layer, head in ((3, 2), (3, 3)):
        page.get_by_role("application", name=re.compile("All heads")).press("ArrowRight")
        page.keyboard.press("Enter")
        painted(page, layer=layer, head=head)
        expect(page).to_have_url(re.compile(f"layer={layer}&head={head}"))
        rest(page)
    assert sum(sizes) < 2000  # So few bytes hold two addresses, but no redrawn page.
    for head in (2, 1):
        page.go_back()
        painted(page, layer=3, head=head)
        rest(page)
    page.go_forward()
    painted(page, layer=3, head=2)
    rest(page)
    page.get_by_role("application", name=re.compile("All heads")).press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("layer=3&head=3"))
    rest(page)
    go_to(page, "cause")
    expect(page).to_have_url(re.compile("ablation.*layer=3&head=3"))
    rest(page)
    go_to(page, "explore")
    painted(page, layer=3, head=3)
    rest(page)
    page.reload()
    painted(page, layer=3, head=3)


def test_the_options_follow_a_text_where_it_tells_of_it(page: Page, app_url: str) -> None:
    open_page(page, app_url, words=1)
    painted(page)
    read(page, CHINESE)
    open_options(page)
    expect(page.get_by_text("Chinese words")).to_be_visible()
    page.keyboard.press("Escape")
    read(page, "It was too tired.")
    open_options(page)
    expect(page.get_by_role("checkbox", name="Whole words")).to_be_checked()
    expect(page.get_by_text("Chinese words")).to_have_count(0)
    page.keyboard.press("Escape")
