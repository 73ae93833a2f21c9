"""Tables saved by pages: readable by pandas with default arguments, with provenance in each zip file."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pandas as pd
import pytest

from attention import spreadsheet
from inference.files.embedded import SMOLLM
from tests.support.asking import asked
from ui.show import tables

PAGES = {  # The values are address parameters that show tables.
    "agreement": {},
    "block": {},
    "cause": {},
    "compare": {},
    "find": {},
    "generate": {"show": "induction"},
    "masked_words": {},
    "measure": {},
    "next_sentence": {},
    "roles": {},
    "step_by_step": {},
    "tokens": {},
    "translate": {},
    "vectors": {},
    "whole_pass": {},
}
FOLDED = {"block", "tokens", "vectors", "whole_pass"}  # These pages compute tables when a section is expanded.
TEXT = "The cat, =1+1 or NA, sat."


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_saved_table_is_read_by_pandas(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, str | bytes, bytes]] = []

    def keep(stem: str, table: str | bytes, provenance: Any) -> bytes:
        content = spreadsheet.with_provenance(stem, table, provenance)
        made.append((stem, table, content))
        return content

    monkeypatch.setattr(tables, "with_provenance", keep)
    page = asked(name, text=TEXT, **PAGES[name])
    assert not page.exception
    drawn = name not in FOLDED and (name != "generate" or SMOLLM.is_installed())
    assert bool(made) == drawn
    for stem, table, content in made:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert sorted(archive.namelist()) == [f"{stem}.csv", f"{stem}.meta.json"]
            about = json.loads(archive.read(f"{stem}.meta.json"))
            frame = pd.read_csv(io.BytesIO(archive.read(f"{stem}.csv")))
        lines = table.decode("utf-8-sig") if isinstance(table, bytes) else table.removeprefix("\ufeff")
        header = lines.splitlines()[0]
        assert len(frame.columns) == len(set(frame.columns))
        assert not any(column.startswith("Unnamed") for column in frame.columns)
        assert frame.columns[0] in header
        assert list(frame.index) == list(range(len(frame)))  # No extra cell became an index.
        assert about["table"] == f"{stem}.csv"
        readings = [reading for reading in (about, *about.values()) if isinstance(reading, dict)]
        models = [str(reading["model"]) for reading in readings if "model" in reading]
        assert any(model.rsplit("/", 1)[-1][:8] in stem for model in models)
        assert len(frame) > 0
