"""Which tests should be marked slow: a run says in the end where it found the mark wanting.

Counted is the processor's time, which a busy machine does not lengthen, in this process and in those that it waited
for; without fixtures that several tests share, since they are made for whichever comes first. No test fails for it:
the first one that imports a library pays for all.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

SLOW = 0.5  # seconds above which a test has to be marked; what takes a third of it may be: test-fast has two minutes
SECONDS = "processor_seconds"  # where a report has them


def processor() -> float:
    """Seconds of the processor that this process and its children took."""
    return sum(os.times()[:4])


class Pace:
    """The plugin that tests/conftest.py registers."""

    def __init__(self) -> None:
        self._begun = self._shared = 0.0
        self._making = False  # a shared fixture
        self._unmarked: list[tuple[float, str]] = []

    def pytest_runtest_logstart(self) -> None:
        """A test begins."""
        self._begun, self._shared = processor(), 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """What a shared fixture takes, others that it asks for included, is not the test's."""
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
        """Notes the time on the report, which may travel to another process."""
        report = yield
        if call.when == "call":
            vars(report)[SECONDS] = processor() - self._begun - self._shared
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Compares the time with the mark."""
        seconds = vars(report).get(SECONDS, 0.0)
        if seconds > SLOW and not {"slow", "browser"} & report.keywords.keys():
            self._unmarked.append((seconds, report.nodeid))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The tests whose mark is wanting."""
        if self._unmarked:
            terminalreporter.section(f"not marked slow, and took over {SLOW} s of the processor", sep="-")
        for seconds, name in sorted(self._unmarked, reverse=True):
            terminalreporter.write_line(f"{seconds:6.1f} s  {name}")
