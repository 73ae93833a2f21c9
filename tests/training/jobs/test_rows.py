"""Packed rows of a training job: round trips, and refusal of other content."""

from __future__ import annotations

import json
import lzma
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inference.errors import UserError
from probing.labelled import ready_sets
from probing.labelled.files import File
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from probing.labelled.loading import TaskFiles
from probing.labelled.squad import read_questions
from tests.support.squadfiles import letters
from training.jobs import job
from training.jobs.job import UNREADABLE

LETTERS = 'ab \t\n\r\x1f\0\x85\u2028猫é\U0001f44d\ud800"\\,<'


def odd(seed: int, tags: bool) -> LabeledDataset:
    """Return a data set of random texts with characters that break naive file formats."""
    drawn = random.Random(seed)
    texts = ["".join(drawn.choices(LETTERS, k=drawn.randrange(40))) for _ in range(60)]
    if not tags:
        made: Any = [LabeledText(text, drawn.choice(LETTERS)) for text in texts]
        return LabeledDataset("classify", tuple(LETTERS), made[:40], made[40:50], made[50:])
    made = [TaggedText(text, ((0, 1), (1, len(text))), ("B-\t", "O")) for text in texts]
    return LabeledDataset("tag", ("O", "B-\t", "I-\t"), made[:40], made[40:], [])


@pytest.mark.parametrize("tags", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_whatever_rows_hold_they_are_read_as_they_were_written(tmp_path: Path, seed: int, tags: bool) -> None:
    labels = odd(seed, tags)
    job.write_rows(labels, tmp_path / "rows.xz")
    assert job.read_rows(tmp_path / "rows.xz") == labels


@pytest.mark.slow
def test_a_whole_set_is_read_as_it_was_written(tmp_path: Path) -> None:
    labels = ready_sets.load("uner-zh")
    job.write_rows(labels, tmp_path / "rows.xz")
    assert job.read_rows(tmp_path / "rows.xz") == labels


def test_more_rows_than_are_learned_from_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = odd(0, False)
    job.write_rows(labels, tmp_path / "rows.xz")
    monkeypatch.setattr(job, "MOST_ROWS", 59)
    with pytest.raises(UserError, match=r"60 rows; .* 59"):
        job.write_rows(labels, tmp_path / "more.xz")
    assert not (tmp_path / "more.xz").exists()
    with pytest.raises(UserError, match=re.escape(UNREADABLE)):
        job.read_rows(tmp_path / "rows.xz")


@pytest.mark.parametrize("no_answer", [False, True])
def test_questions_are_read_as_they_were_written(tmp_path: Path, no_answer: bool) -> None:
    content = json.dumps(letters(30, no_answer)).encode()
    questions = read_questions(TaskFiles(File("mine.json", content)))
    job.write_rows(questions, tmp_path / "rows.xz")
    assert job.read_rows(tmp_path / "rows.xz") == replace(questions, notes=())


def test_half_a_file_is_refused(tmp_path: Path) -> None:
    job.write_rows(ready_sets.load("sib-200-en"), tmp_path / "rows.xz")
    content = (tmp_path / "rows.xz").read_bytes()
    (tmp_path / "rows.xz").write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match=re.escape(UNREADABLE)):
        job.read_rows(tmp_path / "rows.xz")


HEAD = {"kind": "classify", "labels": ["x"], "rows": [1, 0, 0]}


def test_what_is_no_packed_rows_is_refused(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for content in [
        b"",
        b"not packed",
        lzma.compress(b"{}"),
        lzma.compress(json.dumps(HEAD).encode()),
        lzma.compress(json.dumps(HEAD).encode() + b'\n["a"]\n'),
        lzma.compress(json.dumps({**HEAD, "kind": "write"}).encode() + b'\n["a", "x"]\n'),
        lzma.compress(json.dumps({**HEAD, "rows": [10**12]}).encode() + b'\n["a", "x"]\n'),
        lzma.compress(json.dumps({**HEAD, "rows": "1"}).encode() + b'\n["a", "x"]\n'),
        lzma.compress(json.dumps(HEAD).encode() + b"\n" + b"[" * 100_000),
    ]:
        with subtests.test(content=content):
            (tmp_path / "rows.xz").write_bytes(content)
            with pytest.raises(UserError, match=re.escape(UNREADABLE)):
                job.read_rows(tmp_path / "rows.xz")
