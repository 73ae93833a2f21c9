"""Caches for work that Streamlit's AppTest repeats for each page and a server does a single time.

An AppTest searches the metadata of every installed package for components, and parses and compiles the scripts
that it runs. For most pages both together take longer than the run itself. The results are the same for every
page, because nothing is installed and no script changes while the tests run.
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
    """Share the search for components and the compiled scripts between all pages, as a server does."""
    scripts = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(local_script_runner, "ScriptCache", lambda: scripts)
        yield
