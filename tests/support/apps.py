"""The servers that all browser tests share, started once: the app, and pages that stand alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.atrest import PATIENCE, rest
from tests.support.browser import Windows, forget
from tests.support.running import App, faults, one_script, running

# A page of `scripts` runs the script whose name its address held when it was opened.
BY_NAME = """import streamlit as st

st.session_state.setdefault("script", st.query_params.get("script"))
st.navigation([st.Page(f"scripts/{st.session_state.script}.py")], position="hidden").run()"""


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory, windows: Windows) -> Iterator[App]:
    """The app as `make run` starts it, offline, warm: it has had a visitor, and its model is there. It may open models
    from one folder, empty at first. Its log must be clean when all tests are through."""
    log, models = tmp_path_factory.mktemp("app") / "app.log", tmp_path_factory.mktemp("models")
    places = {"HEADLIGHT_MODEL_FOLDERS": str(models), "HEADLIGHT_TAUGHT": str(log.with_name("taught"))}
    plain = {"NUMBA_DISABLE_JIT": "1"}  # to compile UMAP takes longer than to place some dozens of points without
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
    """Where the app answers, without a slash at the end."""
    return app.url


@dataclass(frozen=True)
class Scripts:
    """A server of pages that stand alone, each a script that may import ours."""

    url: str
    folder: Path
    models: Path  # the folder that their models may be opened from

    def page(self, name: str, script: str) -> str:
        """The address of a page that runs this script."""
        (self.folder / f"{name}.py").write_text(script, encoding="utf-8")
        return f"{self.url}/?script={name}"


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scripts]:
    """One server for all pages that stand alone. Its log must be clean when all tests are through."""
    folder, models = tmp_path_factory.mktemp("scripts"), tmp_path_factory.mktemp("models")
    (folder / "scripts").mkdir()
    with one_script(folder, BY_NAME, HEADLIGHT_MODEL_FOLDERS=str(models)) as started:
        yield Scripts(started.url, folder / "scripts", models)
    text = started.log.read_text(errors="replace")
    assert not faults(text), f"The log of the tests' own pages has errors:\n{text}"
