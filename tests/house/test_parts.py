"""Every test is in one part, the parts come in order, and a run says which marks are wanting."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.parts import scopes
from tests.support.repository import ROOT

CONFTEST = """
import pytest
from tests.support import pace
from tests.support.parts import Parts

pace.SLOW = 0.1

def pytest_configure(config):
    config.addinivalue_line("markers", "slow: s")
    config.addinivalue_line("markers", "browser: b")
    config.pluginmanager.register(Parts())
    config.pluginmanager.register(pace.Pace())

@pytest.fixture
def browser(): ...

@pytest.fixture(scope="module")
def shared():
    work()

@pytest.fixture
def own():
    work()

def work():
    begun = pace.processor()
    while pace.processor() < begun + 0.2:
        pass
"""
TESTS = """
import pytest

@pytest.mark.slow
def test_marked(own): ...

def test_in_a_browser(browser, own): ...

def test_that_shares(shared): ...

def test_unmarked(own): ...
"""
QUICK = ["test_that_shares", "test_unmarked"]
SLOW = ["test_marked"]
BROWSER = ["test_in_a_browser"]
FAST = "not slow and not browser"  # as the Makefile has it


def run(folder: Path, *arguments: str) -> str:
    """What pytest says of these tests."""
    (folder / "none.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n", encoding="utf-8")
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-c", "none.ini", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def passed(said: str) -> list[str]:
    """The tests that passed, in order."""
    return [re.findall(r"::(\w+)", line)[0] for line in said.splitlines() if "PASSED" in line]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [[], ["-n", "1"]], ids=["here", "elsewhere"])
def test_parts_come_in_order_and_marks_that_are_wanting_are_named(tmp_path: Path, processes: list[str]) -> None:
    said = run(tmp_path, *processes)
    assert passed(said) == [*QUICK, *SLOW, *BROWSER]
    assert re.findall(r"::(\w+)", said.split("not marked slow")[1]) == ["test_unmarked"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("marks", "found"), [(FAST, QUICK), ("slow and not browser", SLOW), ("browser", BROWSER)], ids=["1", "2", "3"]
)
def test_the_parts_are_the_whole(tmp_path: Path, marks: str, found: list[str]) -> None:
    assert passed(run(tmp_path, "-m", marks)) == found


def test_the_commands_run_the_first_part_and_the_whole() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\ncheck: lint\n\t$(PYTEST) $(ARGS)\n" in makefile
    assert f'\ntest-fast: lint\n\t$(PYTEST) -m "{FAST}" $(ARGS)\n' in makefile


def test_neighbours_from_one_file_stay_together() -> None:
    """With two processes each runs what a part has of a file, in order."""
    names = ["a.py::1", "a.py::2", "b.py::1[x::y]", "a.py::3"]
    assert list(scopes(names).values()) == ["0", "0", "1", "2"]


@pytest.mark.slow
def test_the_file_with_most_tests_in_a_browser_comes_first_of_those(tmp_path: Path) -> None:
    (tmp_path / "test_few.py").write_text("def test_few(browser): ...\n", encoding="utf-8")
    (tmp_path / "test_many.py").write_text("def test_one(browser): ...\n\ndef test_two(browser): ...\n", "utf-8")
    assert passed(run(tmp_path, "-m", "not slow")) == [*QUICK, "test_one", "test_two", "test_few", *BROWSER]
