"""Browser tests of an app served below a base path, as behind a reverse proxy with several apps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from attention.storage import parse
from tests.support.atrest import PATIENCE, click
from tests.support.browser import Problems, new_window
from tests.support.running import App, faults, running
from tests.support.visitor import DEEP_LINK, file_of, go_to, open_page, open_saved_trace, painted

BASE = "/some/path"


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Yield an app served below ``BASE``, and check at the end that its log has no faults."""
    with running(tmp_path_factory.mktemp("below") / "log", base=BASE) as started:
        yield started
    assert faults(started.log.read_text()) == []


@pytest.fixture
def outside(page: Page, below: App) -> list[str]:
    """Return a list that collects the URLs requested from the app's host outside its base path.

    A proxy would send these requests to another app.
    """
    asked: list[str] = []

    def note(url: str) -> None:
        place = urlsplit(url)
        if place.netloc == urlsplit(below.url).netloc and not f"{place.path}/".startswith(f"{BASE}/"):
            asked.append(url)

    page.on("request", lambda request: note(request.url))
    page.on("websocket", lambda websocket: note(websocket.url))
    return asked


def test_the_microscope_its_files_and_bertviz_of_a_saved_one(page: Page, below: App, outside: list[str]) -> None:
    open_page(page, below.url, text="A lecture prepared at home.", layer=2, head=3)
    painted(page, layer=2, head=3)
    saved = file_of(page.get_by_role("link", name="Save the trace")).path().read_bytes()
    trace = parse(saved)
    assert trace.text == "A lecture prepared at home."
    click(page.locator("summary", has_text="Download"))
    with page.expect_download() as coming:
        page.locator(".menu .item", has_text=re.compile("HTML")).click()
    assert b"A lecture prepared at home." in coming.value.path().read_bytes()
    assert {cookie["path"] for cookie in page.context.cookies() if cookie["name"].startswith("headlight")} == {BASE}
    open_saved_trace(page, {"name": "a.safetensors", "mimeType": "application/octet-stream", "buffer": saved})
    expect(page).to_have_url(re.compile("opened=file-"))
    painted(page)
    go_to(page, "bertviz_views")
    expect(page).to_have_url(re.compile(f"{BASE}/.*view=bertviz_views"))
    frame = page.frame_locator("iframe")
    expect(frame.locator("#vis svg, #vis canvas").first).to_be_visible(timeout=PATIENCE)
    assert outside == []


def test_a_class_is_followed_and_health_and_metrics_stand_beside_the_path(
    page: Page, below: App, outside: list[str], problems: Problems, browser: Browser
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, below.url, "/classroom")
    click(page.get_by_role("button", name="Open a class"))
    # The page shows no link to the class because the app listens on this machine only.
    code = page.locator("[data-testid=stMetricValue]").inner_text().strip()
    with new_window(browser) as context:
        student = context.new_page()
        student.goto(f"{below.url}/classroom?class={code}")
        click(student.get_by_role("button", name="Join"))
        expect(page.get_by_text("Students: 1.")).to_be_visible()
        click(page.get_by_text("Share my view"))
        go_to(page, "explore")
        painted(student)  # The student's page follows the teacher's without a click.
    # Streamlit probes these paths.
    assert {urlsplit(url).path.split("/")[-1] for url in outside} <= {"health", "host-config"}

    beside = below.url.removesuffix(BASE)
    for path, holds in {"live": "live", "ready": "ready"}.items():
        assert holds in page.request.get(f"{beside}/healthz/{path}").text()
    told = page.request.get(f"{beside}/metrics").text()
    assert 'headlight_page_seconds_count{page="classroom"}' in told
    assert re.search(r"headlight_sessions [1-9]", told)
    assert f'route="{BASE}/' in told
    assert told.endswith("# EOF\n")
    assert page.request.get(f"{below.url}/metrics").text() != told
