"""Shared servers of the browser tests: the app, and scripts outside the app."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.atrest import PATIENCE, rest
from tests.support.browser import Windows, forget
from tests.support.running import App, faults, one_script, running

# A page of `scripts` runs the script that was in its address when the page was opened.
BY_NAME = """import streamlit as st

st.session_state.setdefault("script", st.query_params.get("script"))
st.navigation([st.Page(f"scripts/{st.session_state.script}.py")], position="hidden").run()"""


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory, windows: Windows) -> Iterator[App]:
    """Yield the app as `make run` starts it, offline and after a first visit, so that its model is loaded.

    The app may open models from a single folder, which is empty at first. The app's log must contain no errors
    after the last test.
    """
    log, models = tmp_path_factory.mktemp("app") / "app.log", tmp_path_factory.mktemp("models")
    places = {"HEADLIGHT_MODEL_FOLDERS": str(models), "HEADLIGHT_TAUGHT": str(log.with_name("taught"))}
    # Compiling UMAP takes longer than projecting some dozens of points without compilation.
    plain = {"NUMBA_DISABLE_JIT": "1"}
    with running(log, environ={**places, **plain}) as started:
        first = windows.current().new_page()
        first.goto(started.url)
        rest(first, 3 * PATIENCE)
        forget(first)
        yield replace(started, models=models)
    text = log.read_text(errors="replace")
    assert not faults(text), f"The app's log has errors:\n{text}"


@pytest.fixture(scope="session")
def app_url(app: App) -> str:
    """Return the address of the app, without a slash at the end."""
    return app.url


@dataclass(frozen=True)
class Scripts:
    """A server of pages outside the app. Each page is a script that may import the project's packages."""

    url: str
    folder: Path
    models: Path  # The pages may open models from this folder.

    def page(self, name: str, script: str) -> str:
        """Write a script to the server's folder and return the address of its page."""
        (self.folder / f"{name}.py").write_text(script, encoding="utf-8")
        return f"{self.url}/?script={name}"


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scripts]:
    """Yield the server of all pages outside the app. Its log must contain no errors after the last test."""
    folder, models = tmp_path_factory.mktemp("scripts"), tmp_path_factory.mktemp("models")
    (folder / "scripts").mkdir()
    with one_script(folder, BY_NAME, HEADLIGHT_MODEL_FOLDERS=str(models)) as started:
        yield Scripts(started.url, folder / "scripts", models)
    text = started.log.read_text(errors="replace")
    assert not faults(text), f"The log of the tests' own pages has errors:\n{text}"
