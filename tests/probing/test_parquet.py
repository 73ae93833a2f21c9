"""Parquet files read as labelled texts, pairs and links."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inference.errors import UserError
from probing import formats, text_files, text_pairs
from probing.delimited import rows
from probing.labelled.columns import Columns
from probing.labelled.files import File
from probing.labelled.loading import TaskFiles, read_labeled


def saved(columns: dict[str, Any], features: dict[str, Any] | None = None) -> bytes:
    """Return a Parquet file of ``columns``, with Hugging Face metadata if ``features`` is given."""
    table = pa.table(columns)
    if features is not None:
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


TEXTS = [f'Line "{at}",\nthen 中文\t{at}' for at in range(40)]


def test_parquet_gives_the_texts_and_classes_as_written() -> None:
    content = saved({"label": [at % 2 for at in range(40)], "text": TEXTS, "picture": [b"\xff"] * 40})
    read = read_labeled(TaskFiles(File("a.parquet", content)))
    assert read.columns == ("label", "text")
    assert {row.text: row.label for part in ("train", "dev", "test") for row in getattr(read.labels, part)} == {
        text: str(at % 2) for at, text in enumerate(TEXTS)
    }
    swapped = read_labeled(
        TaskFiles(File("a.parquet", saved({"a": TEXTS, "b": list("xy" * 20), "c": list("zzww" * 10)}))),
        Columns("a", "c"),
    )
    assert swapped.labels.labels == ("w", "z")


def test_numbers_of_classes_become_their_names() -> None:
    features = {
        "label": {"names": ["bad", "good"], "_type": "ClassLabel"},
        "text": {"dtype": "string", "_type": "Value"},
        "ner": {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}, "_type": "Sequence"},
    }
    found = text_files.json_lines(saved({"text": ["a", "b"], "label": [1, 7], "ner": [[0, 1], [1]]}, features))
    assert [json.loads(line) for line in found.splitlines()] == [
        {"text": "a", "label": "good", "ner": ["O", "B-PER"]},
        {"text": "b", "label": 7, "ner": ["B-PER"]},
    ]


def test_tables_of_pairs_and_links_come_as_parquet() -> None:
    pairs = text_pairs.parse(saved({"a": ["It was hot."], "b": ["It was cold."], "kind": [None]}))
    assert [(pair.a, pair.b, pair.control) for pair in pairs] == [("It was hot.", "It was cold.", False)]
    link = {"text": "The cat saw the dog.", "source": "saw", "target": "cat", "distractor": "dog"}
    content = saved({name: [value] for name, value in link.items()})
    assert formats.parse(content, "csv").items[0].units == ((8, 11), (4, 7), (16, 19))


def test_json_lines_are_rows_of_a_table() -> None:
    assert list(rows('{"A": "x\\ny", "b": 1}\n\n{"b": null, "A": "z"}\n', ("a",))) == [
        (1, {"a": "x\ny", "b": "1"}),
        (3, {"a": "z", "b": ""}),
    ]


@pytest.mark.parametrize("content", [b"PAR1\x15", b"PAR1\x15\x04PAR1", saved({"a": ["b"]})[:-9]])
def test_a_damaged_parquet_file_is_named(content: bytes) -> None:
    with pytest.raises(UserError, match="or encrypted"):
        File("a.parquet", content).text()


def test_a_parquet_file_too_large_unpacked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "MOST_BYTES", 10)
    with pytest.raises(UserError, match="unpacked"):
        text_files.json_lines(saved({"text": ["a" * 100]}))


def test_a_folder_is_named_with_the_files_to_give(tmp_path: Path) -> None:
    for opened in (File.from_path, lambda path: formats.load(path, "csv")):
        with pytest.raises(UserError, match=r"folder. Give"):
            opened(tmp_path)
    (tmp_path / "state.json.arrow").write_bytes(b"")
    with pytest.raises(UserError, match="to_parquet"):
        File.from_path(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.parquet").write_bytes(b"")
    with pytest.raises(UserError, match=r"train\.parquet"):
        File.from_path(tmp_path)
