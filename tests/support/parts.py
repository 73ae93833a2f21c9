"""Three parts of the tests in order of speed: quick tests, tests marked slow, and tests with a browser.

``make test`` runs all parts, ``make test-fast`` the first. With several processes (pytest-xdist), each process
receives all of a file's tests in a part together and in order, so that a file's fixtures are set up a single time.
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
PARTS = ("", "slow", "browser")  # Each part has a mark.
# Seconds per test of a file, if far from two: a long file must not start when the others have ended.
EACH = {
    **dict.fromkeys(["test_pages.py", "test_restart.py"], 20),
    **dict.fromkeys(["test_base_path.py", "test_teach.py"], 12),
    **dict.fromkeys(["test_by_hand.py", "test_classroom.py", "test_generate.py", "test_masked.py"], 9),
    **dict.fromkeys(["test_alignment.py", "test_results.py", "test_roles.py", "test_translate.py"], 8),
    **dict.fromkeys(["test_agreement.py", "test_compare.py", "test_find.py", "test_measure.py", "test_vectors.py"], 6),
    **dict.fromkeys(["test_next_sentence.py", "test_positions.py", "test_whole_pass.py", "test_why_attention.py"], 5),
    "test_support.py": 1,
}


@cache  # Some thousand tests are in some hundred files.
def in_browser(file: Path) -> bool:
    """Return True if all of a file's tests need a browser."""
    return file.is_relative_to(BROWSER)


def part(item: pytest.Item) -> str:
    """Return the mark of a test's part. Tests with a browser belong to no other part."""
    if in_browser(item.path) or "browser" in getattr(item, "fixturenames", ()):
        return "browser"
    return "slow" if item.get_closest_marker("slow") else ""


def scopes(names: Sequence[str]) -> dict[str, str]:
    """Return a group number for each test.

    Consecutive tests of the same file have the same number and run in the same process.

    >>> scopes(["a.py::one", "a.py::two", "b.py::one", "a.py::slow"])
    {'a.py::one': '0', 'a.py::two': '0', 'b.py::one': '1', 'a.py::slow': '2'}
    """
    files = groupby(names, key=lambda name: name.split("::")[0])
    return {name: str(at) for at, (_, neighbours) in enumerate(files) for name in neighbours}


class InOrder(LoadScopeScheduling):  # type: ignore[misc]
    """A scheduler that distributes tests in their order, with consecutive tests of a file together."""

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """Compute the scopes from a process's collection, which is the same in every process."""
        super().add_node_collection(node, collection)
        self._scopes = scopes(collection)

    def _split_scope(self, nodeid: str) -> str:
        return self._scopes[nodeid]


class Parts:
    """The plugin that tests/conftest.py registers."""

    @pytest.hookimpl(tryfirst=True)  # The marks must be set before pytest selects tests by them.
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark the tests with a browser and sort all tests by part.

        The browser files that take longest come first, so that at the end no process waits long for another's last
        file.
        """
        parts = {item: part(item) for item in items}
        long = Counter[Path]()
        for item in items:
            if parts[item] == "browser":
                item.add_marker("browser")
                long[item.path] += EACH.get(item.path.name, 2)
        items.sort(key=lambda item: (PARTS.index(parts[item]), -long[item.path] if parts[item] == "browser" else 0))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Producer) -> InOrder:
        """Return a scheduler that keeps the tests' order.

        The default starts with the largest files, which would mix browser tests with others.
        """
        config.option.loadscopereorder = False
        return InOrder(config, log)
