"""Offline settings, separate caches and plugins for all tests; child processes inherit the settings."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import loopback  # The module is in tests/offline, on the path by pyproject.toml and by the PYTHONPATH below.
import pytest

from inference.settings import machine_memory
from tests.support.apps import app, app_url, scripts  # noqa: F401  (fixtures)
from tests.support.browser import (  # noqa: F401  (fixtures)
    FAILED,
    browser,
    colour_scheme,
    page,
    playwright,
    problems,
    profile,
    viewport,
    windows,
)
from tests.support.collecting import Collecting, tidy, untidy  # noqa: F401  (fixtures)
from tests.support.logged import logged  # noqa: F401  (fixture)
from tests.support.pace import Pace
from tests.support.parts import Parts

EACH = 4_000_000_000  # Bytes that a worker process needs together with its child processes.
OFFLINE = Path(__file__).parent / "offline"
collect_ignore = ["offline/sitecustomize.py"]  # The module is for child processes; this process has its guard already.


def _home() -> str:
    """Create a folder for the caches of Hugging Face's libraries; it is deleted when the tests end."""
    folder = tempfile.mkdtemp(prefix="headlight-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _python_path() -> str:
    """Return a PYTHONPATH with the folder whose sitecustomize.py guards each Python process."""
    others = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != str(OFFLINE)]
    return os.pathsep.join([str(OFFLINE), *others])


# The variables must be set before any library reads them.
os.environ.update(
    PYTHONPATH=_python_path(),
    HF_HOME=_home(),
    HF_HUB_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    OMP_NUM_THREADS="1",  # There are more processes than cores.
    NUMBA_OPT="0",  # UMAP projects only some dozens of points, so optimised compilation does not pay.
    STREAMLIT_BROWSER_GATHER_USAGE_STATS="false",
    STREAMLIT_SERVER_HEADLESS="true",
    TOKENIZERS_PARALLELISM="false",
)
loopback.install()


@pytest.fixture(autouse=True)
def nothing_leaves_the_machine() -> Iterator[None]:
    """Fail a test that tries to reach another machine, even if the code catches the error."""
    yield
    tried = loopback.refused.copy()
    loopback.refused.clear()
    assert not tried, "\n".join(tried)


def pytest_xdist_auto_num_workers() -> int:
    """Return the number of worker processes.

    It is the number of cores plus 1, because workers often wait for a page or for a child process. Memory limits
    it, because each worker has an app and a browser.
    """
    return max(1, min((os.cpu_count() or 1) + 1, machine_memory() // EACH))


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugins for the tests' order, their pace and garbage collection."""
    config.pluginmanager.register(Parts())
    config.pluginmanager.register(Pace())
    config.pluginmanager.register(Collecting())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Store the result of the test itself, so that the fixture ``page`` can save a picture of a failure."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report
