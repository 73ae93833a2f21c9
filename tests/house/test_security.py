"""The tests that docs/SECURITY.md names exist."""

from __future__ import annotations

import re

from tests.support.repository import ROOT

TEXT = (ROOT / "docs" / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+(?:\.py)?/?)?(?:::(\w+))?`")


def test_every_promise_names_a_test_that_exists() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| **")]
    assert len(rows) > 10
    for row in rows:
        file, found = "", 0
        for path, name in NAMED.findall(row.rsplit("|", 2)[1]):
            file = path or file
            assert file, row
            assert (ROOT / file).exists(), file
            if name:
                assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{name}"
            found += 1
        assert found, row
