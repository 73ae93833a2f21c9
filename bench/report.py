"""The rows of a report, and their Markdown table."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class ReportRow:
    """A measured value. ``passed`` is None if the value has no limit."""

    what: str
    bar: str
    figure: str
    passed: bool | None = None
    note: str = ""

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        verdict = {True: "pass", False: "**fail**", None: "–"}[self.passed]
        return [self.what, self.bar, self.figure, verdict, self.note]


HEADINGS = ["what", "bar", "measured", "", "how"]


def table(rows: Iterable[ReportRow]) -> str:
    """Return the rows as a Markdown table.

    >>> print(table([ReportRow("forward", "≤ 1.10", "1.02", True)]))
    | what | bar | measured |  | how |
    |---|---|---|---|---|
    | forward | ≤ 1.10 | 1.02 | pass |  |
    """
    lines = [HEADINGS, *(row.cells() for row in rows)]
    texts = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines]
    texts.insert(1, "|" + "---|" * len(HEADINGS))
    return "\n".join(texts)


def upper_limit_row(what: str, limit: float, value: float, figure: str, note: str = "") -> ReportRow:
    """Return a row that passes if ``value`` is at most ``limit``."""
    return ReportRow(what, f"≤ {limit:.3g}", figure, value <= limit, note)


def machine() -> str:
    """Describe the machine, with its load average over the last minute."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{cores} cores, {memory:.0f} GiB, {system}; load before the run {os.getloadavg()[0]:.1f}"
