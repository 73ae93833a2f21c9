"""Whoever writes a CSV file writes its texts by the one rule that keeps a spreadsheet from running them."""

from __future__ import annotations

import re

from tests.support.repository import ROOT

WRITES = re.compile(r"\bcsv\.(?:Dict)?[wW]riter\(|\.to_csv\(")
ROOMS = ("attention", "inference", "probing", "training", "ui", "pages", "viz")


def test_every_file_of_a_table_is_written_by_the_rule() -> None:
    writers = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
    }
    writers = {name: code for name, code in writers.items() if WRITES.search(code)}
    assert "ui/show/csv_table.py" in writers
    assert [name for name, code in writers.items() if "safe_cell(" not in code and "map(safe_cell" not in code] == []
