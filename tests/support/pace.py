"""A report of tests that should be marked slow, printed at the end of a run.

The time is processor time, which a busy machine does not lengthen, of this process and of finished child
processes. Shared fixtures do not count, because the first test that requests them would pay for all. No test fails
for its time, because the first test that imports a library pays for the others.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

SLOW = 0.5  # Seconds; slower tests must be marked, and tests above a third of it may be.
SECONDS = "processor_seconds"  # Attribute of a report with the processor time.


def processor() -> float:
    """Return the processor time of this process and its finished children, in seconds."""
    return sum(os.times()[:4])


class Pace:
    """The plugin that tests/conftest.py registers."""

    def __init__(self) -> None:
        self._begun = self._shared = 0.0
        self._making = False  # True while a shared fixture is set up.
        self._unmarked: list[tuple[float, str]] = []

    def pytest_runtest_logstart(self) -> None:
        """Reset the timer at the start of a test."""
        self._begun, self._shared = processor(), 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Measure the time of a shared fixture, including the fixtures that it requests."""
        if fixturedef.scope == "function" or self._making:
            return (yield)
        begun, self._making = processor(), True
        try:
            return (yield)
        finally:
            self._making = False
            self._shared += processor() - begun

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add the time to the report, which pytest-xdist may send to another process."""
        report = yield
        if call.when == "call":
            vars(report)[SECONDS] = processor() - self._begun - self._shared
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the test if it is slow and has no mark."""
        seconds = vars(report).get(SECONDS, 0.0)
        if seconds > SLOW and not {"slow", "browser"} & report.keywords.keys():
            self._unmarked.append((seconds, report.nodeid))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the slow tests without a mark."""
        if self._unmarked:
            terminalreporter.section(f"not marked slow, and took over {SLOW} s of the processor", sep="-")
        for seconds, name in sorted(self._unmarked, reverse=True):
            terminalreporter.write_line(f"{seconds:6.1f} s  {name}")
