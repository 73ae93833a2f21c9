"""The files that a page asked without a browser offers to be saved.

from tests.support.savedfiles import Saved, table

def test_the_table_is_the_backends(saved: Saved) -> None:
    names, *rows = table(saved(asked("generate"), "Save as CSV"))

``saved`` is a fixture of all tests in tests/ui.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import PurePosixPath

import pytest
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import AppTest, app_test

from tests.support.visitor import table_of

Saved = Callable[[AppTest, str], str]


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> Saved:
    """What the button of a name saves; AppTest forgets a run's files unless they are kept for it."""
    files = MemoryMediaFileStorage("/mock/media")
    monkeypatch.setattr(app_test, "MemoryMediaFileStorage", lambda _address: files)

    def file_of(page: AppTest, label: str) -> str:
        (button,) = (part.proto for part in page.get("download_button") if part.proto.label == label)
        return files.get_file(PurePosixPath(button.url).name).content.decode("utf-8-sig")

    return file_of


def table(file: str) -> list[list[str]]:
    """The lines of a saved table, its names first, without what stands before it."""
    return list(csv.reader(io.StringIO(table_of(file))))
