"""Every test runs offline, with settings and caches of its own; the processes that a test starts do too."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import loopback  # tests/offline, on the path by pyproject.toml and by the PYTHONPATH below
import pytest

from inference.settings import machine_memory
from tests.support.apps import app, app_url, scripts  # noqa: F401  (fixtures)
from tests.support.browser import (  # noqa: F401  (fixtures)
    FAILED,
    browser,
    colour_scheme,
    page,
    problems,
    profile,
    viewport,
    windows,
)
from tests.support.collecting import Collecting, tidy, untidy  # noqa: F401  (fixtures)
from tests.support.logged import logged  # noqa: F401  (fixture)
from tests.support.pace import Pace
from tests.support.parts import Parts

EACH = 4_000_000_000  # bytes that a process of the tests takes with what it starts
OFFLINE = Path(__file__).parent / "offline"
collect_ignore = ["offline/sitecustomize.py"]  # for processes that tests start; in this one the guard is already in


def _home() -> str:
    """A folder for what Hugging Face's libraries keep, gone when the tests are."""
    folder = tempfile.mkdtemp(prefix="headlight-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _python_path() -> str:
    """PYTHONPATH with the folder whose sitecustomize.py guards a process."""
    others = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != str(OFFLINE)]
    return os.pathsep.join([str(OFFLINE), *others])


# Before any library reads it.
os.environ.update(
    PYTHONPATH=_python_path(),
    HF_HOME=_home(),
    HF_HUB_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    OMP_NUM_THREADS="1",  # there are more processes than cores
    NUMBA_OPT="0",  # UMAP is compiled in haste: it places some dozens of points
    STREAMLIT_BROWSER_GATHER_USAGE_STATS="false",
    STREAMLIT_SERVER_HEADLESS="true",
    TOKENIZERS_PARALLELISM="false",
)
loopback.install()


@pytest.fixture(autouse=True)
def nothing_leaves_the_machine() -> Iterator[None]:
    """Fails a test during which anything tried to reach another machine, even where the code swallowed the refusal."""
    yield
    tried = loopback.refused.copy()
    loopback.refused.clear()
    assert not tried, "\n".join(tried)


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores, since each waits now and then, for a page or for what it started; no more
    than there is memory for, since each has an app and a browser."""
    return max(1, min((os.cpu_count() or 1) + 1, machine_memory() // EACH))


def pytest_configure(config: pytest.Config) -> None:
    """What holds for all tests: their order, what is said of their pace, and what garbage is looked for."""
    config.pluginmanager.register(Parts())
    config.pluginmanager.register(Pace())
    config.pluginmanager.register(Collecting())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tells the fixtures whether the test itself failed (``page`` then keeps a picture)."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report
