"""Supported kinds of tables, named in the help texts and accepted by the file chooser."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from i18n import translate
from probing import formats, sentence_files, text_pairs
from probing.labelled.files import File
from probing.labelled.loading import TaskFiles, read_labeled
from tests.support.cases import loop_over
from training.finetune.command import KINDS
from ui.input import sentence_upload
from ui.input.text_files import TABLES, decode_table
from ui.pages.compare import pair_set
from ui.pages.measure import corpus
from ui.pages.teach import own_files

NAMES = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSON Lines", "parquet": "Parquet"}
Rows = Sequence[Mapping[str, str]]


def written(rows: Rows, kind: str) -> bytes:
    """Return ``rows`` as a file of this kind."""
    if kind == "parquet":
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), sink)
        return sink.getvalue()
    if kind == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t" if kind == "tsv" else ",", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


LABELLED = [{"text": f"{at} is a number.", "label": "odd" if at % 2 else "even"} for at in range(40)]
PAIRS = [{"a": "It was hot.", "b": "It was cold."}]
LINKS = [{"text": "The cat saw the dog as it fled.", "source": "it", "target": "cat", "distractor": "dog"}]
SENTENCES = [{"id": "1", "sentence": "A first sentence."}, {"id": "2", "sentence": "A second sentence."}]


def read_labelled(content: bytes, kind: str) -> int:
    labels = read_labeled(TaskFiles(File(f"mine.{kind}", content))).labels
    return len(labels.train) + len(labels.dev) + len(labels.test)


def read_sentences(content: bytes, kind: str) -> int:
    assert sentence_files.is_table(f"mine.{kind}")
    return len(sentence_files.parse_table(decode_table(content)).rows)


CASES: dict[str, tuple[Rows, Callable[[bytes, str], int], Sequence[str]]] = {
    "teach": (LABELLED, read_labelled, (own_files.WANTED["classify"], KINDS["classify"])),
    "compare": (PAIRS, lambda content, _kind: len(text_pairs.parse(content)), (pair_set.WANTED,)),
    "measure": (
        LINKS,
        lambda content, _kind: len(formats.parse(content, "csv").items),
        (corpus.WANTED["csv"], formats.NAMES["csv"]),
    ),
    "vectors": (SENTENCES, read_sentences, (sentence_upload.WANTED,)),
}


@loop_over("kind", list(NAMES))
@loop_over("place", list(CASES))
def test_each_kind_of_table_that_is_read_is_named(place: str, kind: str) -> None:
    rows, read, texts = CASES[place]
    assert read(written(rows, kind), kind) == len(rows)
    for text in texts:
        assert NAMES[kind] in translate(text)


@pytest.mark.parametrize("suffixes", [TABLES, corpus.SUFFIXES["csv"]])
def test_the_file_chooser_offers_each_kind_of_table(suffixes: Sequence[str]) -> None:
    assert set(NAMES) <= set(suffixes)
