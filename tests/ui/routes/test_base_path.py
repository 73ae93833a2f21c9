"""The base path as a prefix of all addresses of the app."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.repository import ROOT, texts

BARE = re.compile(r"""(?<!\{BASE\})["'`]/headlight/""")


@pytest.mark.slow
def test_no_address_leaves_the_path_out() -> None:
    rooms = ("app.py", "ui", "pages", "viz")
    found = [
        f"{file}: {line.strip()}"
        for file, text in texts().items()
        if file.parts[0] in rooms and ".test." not in file.name and file.suffix != ".mjs"
        for line in text.splitlines()
        if BARE.search(line) and ">>>" not in line
    ]
    assert found == []


@pytest.mark.slow
def test_all_routes_are_served_below_it() -> None:
    script = (
        "from streamlit import config;"
        "config.get_config_options(options_from_flags={'server.baseUrlPath': 'some/path'});"
        "import app; print(*[route.path for route in app.ours], sep='\\n')"
    )
    told = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    paths = told.stdout.split()
    assert len(paths) > 10
    assert [path for path in paths if not path.startswith("/some/path/headlight/")] == []
