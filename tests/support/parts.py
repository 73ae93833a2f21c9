"""The tests come in three parts, the quickest first: quick ones, those marked slow, and those with a browser.

``make test`` runs all of them, ``make test-fast`` the first part. Who runs them on several cores (pytest-xdist) gives
each process whole files, or what a part has of a file, in that order: a fixture that serves a file is made once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]
from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

BROWSER = Path(__file__).parents[1] / "browser"
PARTS = ("", "slow", "browser")  # the mark of each
# Seconds that a file's tests take, each, where that is far from two: a long one must not begin when the rest has ended.
EACH = {
    **dict.fromkeys(["test_pages.py", "test_restart.py"], 20),
    **dict.fromkeys(["test_base_path.py", "test_teach.py"], 12),
    **dict.fromkeys(["test_by_hand.py", "test_classroom.py", "test_generate.py", "test_masked.py"], 9),
    **dict.fromkeys(["test_alignment.py", "test_results.py", "test_roles.py", "test_translate.py"], 8),
    **dict.fromkeys(["test_agreement.py", "test_compare.py", "test_find.py", "test_measure.py", "test_vectors.py"], 6),
    **dict.fromkeys(["test_next_sentence.py", "test_positions.py", "test_whole_pass.py", "test_why_attention.py"], 5),
    "test_support.py": 1,
}


@cache  # of some thousand tests in some hundred files
def in_browser(file: Path) -> bool:
    """Whether all of a file's tests need a browser."""
    return file.is_relative_to(BROWSER)


def part(item: pytest.Item) -> str:
    """The mark of the part that a test belongs to: what needs a browser is none of the others'."""
    if in_browser(item.path) or "browser" in getattr(item, "fixturenames", ()):
        return "browser"
    return "slow" if item.get_closest_marker("slow") else ""


def scopes(names: Sequence[str]) -> dict[str, str]:
    """What is run in one process: neighbours from one file have the same number.

    >>> scopes(["a.py::one", "a.py::two", "b.py::one", "a.py::slow"])
    {'a.py::one': '0', 'a.py::two': '0', 'b.py::one': '1', 'a.py::slow': '2'}
    """
    files = groupby(names, key=lambda name: name.split("::")[0])
    return {name: str(at) for at, (_, neighbours) in enumerate(files) for name in neighbours}


class InOrder(LoadScopeScheduling):  # type: ignore[misc]
    """Hands the tests out in their order, neighbours from one file together."""

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """What a process has found, the same in each."""
        super().add_node_collection(node, collection)
        self._scopes = scopes(collection)

    def _split_scope(self, nodeid: str) -> str:
        return self._scopes[nodeid]


class Parts:
    """The plugin that tests/conftest.py registers."""

    @pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Each test gets the mark of its part, and the parts come in order; of the files with a browser those that
        take longest come first, so that in the end no process waits long for another's last file."""
        parts = {item: part(item) for item in items}
        long = Counter[Path]()
        for item in items:
            if parts[item] == "browser":
                item.add_marker("browser")
                long[item.path] += EACH.get(item.path.name, 2)
        items.sort(key=lambda item: (PARTS.index(parts[item]), -long[item.path] if parts[item] == "browser" else 0))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Producer) -> InOrder:
        """The order is ours, not that of the largest files first, in which browser tests would stand among others."""
        config.option.loadscopereorder = False
        return InOrder(config, log)
