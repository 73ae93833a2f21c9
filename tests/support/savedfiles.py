"""Files that a page offers for download, for tests without a browser.

from tests.support.savedfiles import Saved, table

def test_the_table_is_the_backends(saved: Saved) -> None:
    names, *rows = table(saved(asked("generate"), "Save as CSV"))

``saved`` is a fixture of all tests in tests/ui.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import pandas as pd
import pytest
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import AppTest, app_test

Saved = Callable[[AppTest, str], str]
SavedBytes = Callable[[AppTest, str], bytes]


@pytest.fixture
def saved_bytes(monkeypatch: pytest.MonkeyPatch) -> SavedBytes:
    """Return a function from a page and a button's label, without "(zip)", to the bytes that the button saves.

    AppTest discards the files of each run; this fixture keeps them.
    """
    files = MemoryMediaFileStorage("/mock/media")
    monkeypatch.setattr(app_test, "MemoryMediaFileStorage", lambda _address: files)

    def file_of(page: AppTest, label: str) -> bytes:
        (button,) = (
            part.proto for part in page.get("download_button") if part.proto.label in (label, f"{label} (zip)")
        )
        content: bytes = files.get_file(PurePosixPath(button.url).name).content
        assert zipfile.is_zipfile(io.BytesIO(content)) or not button.label.endswith("(zip)")
        return content

    return file_of


@pytest.fixture
def saved(saved_bytes: SavedBytes) -> Saved:
    """Return a function from a page and a button's label to the table or text that the button saves."""
    return lambda page, label: text_of(saved_bytes(page, label))


def table(file: str) -> list[list[str]]:
    """Return the rows of a saved table, its column names first; pandas must read the same shape and names."""
    lines = list(csv.reader(io.StringIO(file, newline="")))
    plain = pd.read_csv(io.StringIO(file))
    assert plain.shape == (len(lines) - 1, len(lines[0]))
    assert plain.columns.tolist() == lines[0]
    return lines


def text_of(content: bytes) -> str:
    """Return the table of a saved zip file, or a saved text."""
    return (parts(content)[0] if content.startswith(b"PK") else content).decode("utf-8-sig")


def parts(content: bytes) -> tuple[bytes, dict[str, Any]]:
    """Return the table of a saved zip file and its provenance; the names of both files must match."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        table_name, meta_name = archive.namelist()
        assert meta_name == f"{table_name.removesuffix('.csv')}.meta.json"
        meta: dict[str, Any] = json.loads(archive.read(meta_name))
        assert meta["table"] == table_name
        return archive.read(table_name), meta
