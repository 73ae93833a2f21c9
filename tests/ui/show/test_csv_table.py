"""Saved tables: readable by pandas with default arguments, and zip files with provenance."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import pandas as pd
import pytest
import streamlit as st

from attention.spreadsheet import plain_cell, with_provenance
from tests.support.repository import ROOT
from tests.support.savedfiles import parts
from ui.show.tables import csv_table, download_button

WORDS = ("=1+1", 'say "x"', "a,b", "two\nlines", "a\rb", "' quoted", " space", "那只动物", "＝1", "1e5x", "\ufeff")


def test_table_is_the_same_for_plain_pandas() -> None:
    rows = [(word, at, at / 3, at % 2 == 0) for at, word in enumerate(WORDS)]
    table = pd.read_csv(io.BytesIO(csv_table(["word", "n", "share", "even"], rows).encode()))
    assert table.columns.tolist() == ["word", "n", "share", "even"]
    assert [plain_cell(word) for word in table["word"]] == list(WORDS)
    assert table["n"].tolist() == list(range(len(WORDS)))
    assert table["share"].tolist() == pytest.approx([at / 3 for at in range(len(WORDS))], rel=1e-15)
    assert table["even"].tolist() == [at % 2 == 0 for at in range(len(WORDS))]


def test_column_names_are_those_of_plain_pandas() -> None:
    table = csv_table(["", "the", "the", "=x", "'=x", "a.1", "a", "a"], [range(8)])
    names = ["(empty)", "the", "the#2", "'=x", "'=x#2", "a.1", "a", "a#2"]
    assert pd.read_csv(io.BytesIO(table.encode())).columns.tolist() == names


@pytest.mark.parametrize("row", [(1,), (1, 2, 3)])
def test_ragged_row_is_an_error(row: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="has 2 columns"):
        csv_table(["a", "b"], [row])


def test_button_saves_the_table_and_its_provenance(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(st, "download_button", lambda *given, **_more: calls.append(given))
    table, about = csv_table(["word"], [("it",)]), {"model": "org/tiny", "text": "A cat.", "pair": "=1+1"}
    download_button("Save", table, "headlight-words.csv", "All digits", provenance=about)
    ((label, content, name, kind),) = calls
    assert (label, name, kind) == ("Save (zip)", "headlight-words_tiny_a-cat.zip", "application/zip")
    written, meta = parts(content)
    assert written == table.encode()
    assert {key: meta[key] for key in about} == about


def test_a_zip_has_two_files_of_a_name() -> None:
    with zipfile.ZipFile(io.BytesIO(with_provenance("那", b"a\r\n1\r\n", {"model": "tiny"}))) as archive:
        assert archive.namelist() == ["那.csv", "那.meta.json"]
        assert archive.read("那.csv") == b"\xef\xbb\xbfa\r\n1\r\n"
        assert json.loads(archive.read("那.meta.json"))["table"] == "那.csv"


def test_no_module_writes_lines_before_a_table() -> None:
    """Every CSV file comes from csv_table or from a module whose test reads the file with pandas."""
    tested = {
        "ui/show/tables.py",
        "viz/export.py",
        "ui/pages/vectors/corpus.py",
        "ui/pages/by_hand/as_csv.py",
        "ui/pages/step_by_step/steps.py",
        "probing/results.py",
    }
    writers = set()
    for folder in ("attention", "headlight", "inference", "pages", "probing", "serving", "training", "ui", "viz"):
        for path in (ROOT / folder).rglob("*.py"):
            if re.search(r"\bcsv\.(?:Dict)?[wW]riter\(", path.read_text(encoding="utf-8")):
                writers.add(path.relative_to(ROOT).as_posix())
    assert writers == tested
