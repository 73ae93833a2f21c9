"""Browser tests of other models: local folders of every kind, and a hub model from offer to first map."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from attention.view import View
from inference import LocalBackend, TraceRequest
from inference.settings import Settings
from tests.support.atrest import click
from tests.support.browser import Problems
from tests.support.fakehub import FakeHub, serving
from tests.support.running import App, faults, running
from tests.support.tinymodels import save
from tests.support.visitor import DEEP_LINK, open_page, painted, text_box
from ui.input.model_chip import CHIP

KINDS = ["bert", "roberta", "gpt2", "llama", "t5", "marian", "deberta"]
HUB_MODEL = "someone/tiny-bert"
TEXT = "The small cat played and it was tired."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    models = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        save(models / kind, kind)
    return models


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeHub]:
    with serving() as fake:
        fake.add(HUB_MODEL, save(tmp_path_factory.mktemp("hub"), "bert", vocab_size=80_000))
        yield fake


@pytest.fixture(scope="module")
def own_app(folder: Path, hub: FakeHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Yield an app that may open ``folder`` and uses the fake hub; check its log at the end."""
    home = tmp_path_factory.mktemp("home")
    environ = {
        "HEADLIGHT_MODEL_FOLDERS": str(folder),
        "HF_ENDPOINT": hub.endpoint,
        "HF_HUB_OFFLINE": "0",
        "HF_HOME": str(home),
    }
    log = home / "app.log"
    with running(log, environ=environ) as started:
        yield started
    assert not faults(log.read_text(errors="replace"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_local_model_of_every_kind_is_traced(page: Page, own_app: App, folder: Path, kind: str) -> None:
    open_page(page, own_app.url, model=str(folder / kind), text=TEXT, layer=1, head=2)
    shown = painted(page, layer=1, head=2)
    backend = LocalBackend(Settings(model_folders=(folder,)))
    trace = backend.trace(TraceRequest(model=str(folder / kind), text=TEXT))
    focus = int(shown["focus"])
    sentence = page.locator(".truth")
    view = View(trace, words=True)
    word = next(at for at, cell in enumerate(view.queries) if cell.pieces[0] <= focus < cell.pieces[1])
    largest = 100 * float(view.rows(word)[1, 2].max())
    shares = [int(share) for share in re.findall(r"(\d+)%", sentence.inner_text())]
    assert max(shares) == pytest.approx(largest, abs=0.6)


def test_a_model_is_changed_in_the_chip(page: Page, own_app: App) -> None:
    open_page(page, own_app.url, text=TEXT)
    first = painted(page)
    click(page.locator(f".st-key-{CHIP}").get_by_role("button"))
    click(page.get_by_role("combobox", name=re.compile("Model")))
    # The list renders only the entries that fit on the screen.
    page.get_by_role("combobox", name=re.compile("Model")).fill("gpt2")
    page.get_by_role("option", name="gpt2", exact=True).click()
    expect(page).to_have_url(re.compile("model="))
    expect(page.locator(f"[data-painted]:not([data-painted^='{first['base']}'])").first).to_be_attached()
    expect(text_box(page)).to_have_value(TEXT)


def test_a_translation_model_shows_its_three_parts(page: Page, own_app: App, folder: Path) -> None:
    open_page(page, own_app.url, model=str(folder / "marian"), text=TEXT, target="le chat dort", part="cross")
    painted(page)
    expect(page.get_by_role("textbox", name="Translation")).to_have_value("le chat dort")
    for part in ("Encoder", "Decoder", "Cross"):
        expect(page.get_by_role("radio", name=re.compile(part))).to_be_visible()


def test_what_has_no_queries_and_keys_says_so(page: Page, own_app: App, folder: Path, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, own_app.url, model=str(folder / "deberta"), text=TEXT)
    painted(page)
    expect(page.get_by_text("attention maps only")).to_be_visible()
    open_page(page, own_app.url, "/bertviz", model=str(folder / "deberta"), text=TEXT, bertviz="neuron")
    expect(page.get_by_text("the neuron view needs queries and keys")).to_be_visible()


def test_a_hub_model_is_offered_downloaded_stopped_and_resumed(page: Page, own_app: App, hub: FakeHub) -> None:
    hub.pause = 0.5  # With half a second between blocks, the page has a minute to show the stop button.
    open_page(page, own_app.url, model=HUB_MODEL, text=TEXT)
    expect(page.get_by_text(re.compile("someone/tiny-bert is an encoder"))).to_be_visible()
    expect(page.get_by_text(re.compile(r"8 MB on disk, about \d"))).to_be_visible()
    expect(text_box(page)).to_have_value(TEXT)
    click(page.get_by_role("button", name=re.compile("Download")))
    # The download has received some bytes.
    expect(page.get_by_text(re.compile(r"^(?!0\.0 ).* MB \(running\)$"))).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("(stopped)")).to_be_visible()
    hub.pause = 0
    click(page.get_by_role("button", name="Go on"))
    painted(page)
    assert hub.ranges(), "the second attempt went on where the first one stopped"
    expect(text_box(page)).to_have_value(TEXT)
