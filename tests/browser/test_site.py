"""A static site in a browser: served by a plain server below a path, with every other host blocked, and offline."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from attention.view import View
from headlight.command import main
from headlight.site_command import FAMOUS
from inference import LocalBackend, TraceRequest
from tests.support.accessibility import accessibility
from tests.support.atrest import PATIENCE
from tests.support.browser import Problems
from tests.support.statichosts import host_folder

CAT = "The cat sat on the mat because it was warm."


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("host")
    assert main(["site", str(root / "some" / "path"), "--text", CAT]) == 0
    with host_folder(root) as address:
        yield f"{address}some/path/"


def painted(page: Page) -> None:
    expect(page.locator("[data-painted]").first).to_be_visible(timeout=PATIENCE)


def test_the_famous_pair_is_there_and_a_click_switches_it(page: Page, site: str) -> None:
    page.goto(site)
    painted(page)
    backend = LocalBackend()
    for word, text in zip(FAMOUS.words, FAMOUS.texts, strict=True):
        page.locator("#variants").get_by_role("button", name=word).click()
        trace = backend.trace(TraceRequest(text=text))
        row = View(trace).rows(trace.tokens.index("it"))[3, 1]
        target = row.argmax()
        expect(page.locator(".hl")).to_contain_text(f"{row[target]:.0%}")
        expect(page.locator(".hl")).to_contain_text(trace.tokens[target])
        expect(page.locator("#about")).to_contain_text(text)
    expect(page.locator("#note")).to_contain_text(re.compile(r"\d+ .*72"))
    for width, height in ((1440, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        painted(page)
        assert accessibility(page) == []


def test_a_link_restores_a_text_and_its_head(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("button", name=CAT, exact=True).click()
    painted(page)
    page.locator(".chip").nth(2).press("]")
    expect(page).to_have_url(re.compile("head="))
    head = page.locator("[data-painted]").first.get_attribute("data-painted")
    page.reload()
    expect(page.locator("[data-painted]").first).to_have_attribute("data-painted", str(head), timeout=PATIENCE)
    page.go_back()
    expect(page.locator("#about")).to_contain_text(FAMOUS.texts[0])


def test_an_opened_site_opens_without_a_network(browser: Browser, site: str) -> None:
    with browser.new_context() as context:  # the contexts of other tests have no service workers
        page = context.new_page()
        page.goto(site)
        painted(page)
        page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
        context.set_offline(True)
        page.reload()
        painted(page)
        page.locator("#variants").get_by_role("button", name=FAMOUS.words[1]).click()
        expect(page.locator("#about")).to_contain_text(FAMOUS.texts[1])


def test_a_missing_text_gives_a_sentence(page: Page, site: str, problems: Problems) -> None:
    problems.allow("404")
    page.route("**/texts/*", lambda route: route.fulfill(status=404))
    page.goto(site)
    expect(page.get_by_role("alert")).to_contain_text("404")
