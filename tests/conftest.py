"""Every test runs offline, with settings and caches of its own; what a test starts does too."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.offline import loopback

OFFLINE = Path(__file__).parent / "offline"
collect_ignore = ["offline/sitecustomize.py"]  # guards the processes that tests start; here the guard is already in


def _environment(home: str) -> dict[str, str]:
    """What every process of the tests is told. Set before any library reads it."""
    path = os.environ.get("PYTHONPATH", "")
    return {
        "PYTHONPATH": os.pathsep.join(part for part in (str(OFFLINE), path) if part and part != str(OFFLINE) or not path),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HOME": home,
        "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
        "STREAMLIT_SERVER_HEADLESS": "true",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _home() -> str:
    """A folder for what Hugging Face's libraries keep, gone when the tests are."""
    folder = tempfile.mkdtemp(prefix="headlight-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


os.environ.update(_environment(_home()))
loopback.install()

from tests.browser import *  # noqa: E402, F403  (the fixtures: app_url, page and what they stand on)


@pytest.fixture(autouse=True)
def nothing_leaves_the_machine():
    """Fails a test during which anything tried to reach another machine, even where the code swallowed the refusal."""
    yield
    tried = loopback.refused.copy()
    loopback.refused.clear()
    assert not tried, "\n".join(tried)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with a browser come last: they are the slowest, and Playwright's event loop is in others' way."""
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))
