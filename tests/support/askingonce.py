"""What Streamlit's AppTest does anew for each page that is asked, and once for all pages of a server.

An AppTest reads the metadata of every package that is installed, in search of components, and parses and compiles the
scripts that it runs. Together that takes most pages longer than their own run, and gives each the same: nothing is
installed while the tests run, and no script changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import local_script_runner


@pytest.fixture(scope="session", autouse=True)
def once() -> Iterator[None]:
    """One search for components, and one set of compiled scripts, as in a server."""
    scripts = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(local_script_runner, "ScriptCache", lambda: scripts)
        yield
