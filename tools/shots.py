"""A script that takes the screenshots of README.md: it opens the app in a browser and writes to assets/.

python tools/shots.py
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.test_pages import drawn  # noqa: E402  (after the path is set)
from tests.support.atrest import rest  # noqa: E402
from tests.support.browser import chromium  # noqa: E402
from tests.support.running import running  # noqa: E402
from tests.support.visitor import open_page, painted  # noqa: E402

FOLDER = ROOT / "assets" / "screenshots"


@dataclass(frozen=True)
class Shot:
    """A screenshot to take: the page ("" for the first), its query, the window size and the colour scheme."""

    page: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    size: tuple[int, int] = (1440, 900)
    scheme: Literal["light", "dark"] = "light"


SHOTS = {
    "explore": Shot(),
    "explore-dark-lines": Shot(query={"tab": "lines", "pins": "5-11"}, scheme="dark"),
    "explore-phone": Shot(size=(390, 844)),
    "step-by-step": Shot("step_by_step"),
    "translate": Shot("translate", {"model": "headlight-en-fr", "text": "The black cat sleeps under the table."}),
    "find": Shot("find"),
    "cause": Shot("cause", scheme="dark"),
}


def main() -> None:
    """Take every screenshot again."""
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    log = Path(tempfile.mkdtemp()) / "app.log"
    with running(log) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        for name, shot in SHOTS.items():
            width, height = shot.size
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=shot.scheme)
            open_page(page, app.url, f"/{shot.page}", **shot.query)
            if shot.page:
                drawn(page, shot.page)
                rest(page)
            else:
                painted(page)
            page.evaluate("document.fonts.ready")
            page.screenshot(path=FOLDER / f"{name}.png")
            print(f"{name}: {(FOLDER / name).with_suffix('.png').stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
