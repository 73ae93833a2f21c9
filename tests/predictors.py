"""An app of its own with a tiny BERT that has both heads, for the browser tests of the pages that predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from inference import LocalBackend
from inference.settings import Settings
from tests.browser import faults, idle, running
from tests.tinyheads import save

BARE = "all-MiniLM-L6-v2"  # a model without either head


@dataclass(frozen=True)
class Predictor:
    """Where the app answers, its tiny model, and a backend that opens the same."""

    url: str
    model: str
    backend: LocalBackend


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Predictor]:
    """The app with one local model; its log must be clean in the end."""
    root = tmp_path_factory.mktemp("predictors")
    folder = save(root / "tiny-bert", "BERT", head=2)
    log = root / "app.log"
    with running(log, environ={"HEADLIGHT_MODEL_FOLDERS": str(root)}) as started:
        yield Predictor(started.url, str(folder), LocalBackend(Settings(model_folders=(root,), offline=True)))
    assert not faults(log.read_text(errors="replace"))


def calm(page: Page) -> None:
    """Waits until the page has come to rest: its script, and what fades; old elements are paler while it runs."""
    idle(page)
    expect(page.locator("[data-stale='true']")).to_have_count(0)
    ends = "a.playState === 'running' && a.effect.getTiming().iterations !== Infinity"  # a paused one never does
    moving = f"document.getAnimations().filter((a) => {ends})"
    page.evaluate(f"async () => {{ await Promise.allSettled({moving}.map((a) => a.finished)); }}")
