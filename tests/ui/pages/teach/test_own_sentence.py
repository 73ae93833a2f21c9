"""The reader's own sentence, classified by a model that was fine-tuned in the app."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from attention.edits import Ablate
from inference.files import sources
from inference.task_heads import CLASSIFY, TAG
from probing.labelled.labeled_texts import Kind
from tests.support.asking import asked, notes, press, says, stands
from tests.support.taughtfolders import put, taught_in
from tests.support.tinylabels import save
from training.jobs import job as jobs
from ui.ablation.controls import CLEAR
from ui.ablation.edits import count_edits
from ui.pages.teach.own_sentence import LONGEST, TYPED, first_row

HOSTILE = "<script>alert(1)</script>"
FIRST = "the animal was a cat"


@contextmanager
def toys(root: Path, kind: Kind, rows: str, family: str = "BERT") -> Iterator[str]:
    """Yield the id of a finished training whose test predictions are ``rows``."""
    with taught_in(root):
        job = put(root, "done", kind=kind)
        folder = root / job.id / sources.MODEL
        save(folder, family, CLASSIFY if kind == "classify" else TAG, ("O", HOSTILE, "B-x"))
        (folder / sources.SCORES).write_text("{}")
        (folder / jobs.PREDICTIONS).write_text(rows, encoding="utf-8")
        yield job.id


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classify", "tag"])
def test_the_first_test_row_is_there_to_begin_with(tmp_path: Path, kind: Kind) -> None:
    with toys(tmp_path, kind, json.dumps({"text": FIRST}) + "\n") as job:
        page = asked("teach", job=job, show="try", label=1)
        (box,) = (box for box in page.text_input if box.key == TYPED)
        assert box.value == FIRST
        says(page, f"the logit of “{HOSTILE}”")
        says(page, " of 6 heads")
        stands(page)
        page = asked("teach", job=job, show="try", label=1, edits="a0-1")
        assert count_edits((Ablate(0, 1),)) in [caption.value for caption in page.caption]
        says(page, "With head 0-1")
        press(page, CLEAR)
        assert page.query_params["edits"] in ("-", ["-"])
        text = "it was" if kind == "tag" else "it"
        page = asked("teach", job=job, show="try", sentence=text, word=2, needed=4, label=99)
        says(page, "Prediction")
        says(page, "Masking “it”")
        stands(page)
        (box,) = (box for box in page.text_input if box.key == TYPED)
        box.set_value("the cat").run()
        assert page.query_params["sentence"] == "the cat"
        assert "word" not in page.query_params
        assert page.query_params["needed"] == "4", "a head is the model's, whatever the sentence"


@pytest.mark.slow
def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with toys(tmp_path, "classify", "no json") as job:
        page = asked("teach", job=job, show="try")
        assert "The text is empty. Type a word or a sentence." in notes(page, "refusal")
        says(asked("teach", job=job, show="try", sentence="the cat " * 50), "at most 40")


@pytest.mark.slow
def test_a_model_with_attention_of_its_own_has_fewer_ways(tmp_path: Path) -> None:
    with toys(tmp_path, "classify", "", "DeBERTa v2") as job:
        page = asked("teach", job=job, show="try", sentence="it was the cat")
        says(page, "ablation. Choose")
        says(page, "value zeroing")
        stands(page)


def test_the_first_row_is_read_whatever_stands_there(tmp_path: Path) -> None:
    job = jobs.new_job("", "toys", "tag", model="bert")
    look = jobs.JobStatus(job, "done", "teach", "", 0, tmp_path)
    assert first_row(look) == ""
    look.model.mkdir()
    for line, text in (("[]", ""), ('{"text": 3}', "3"), ('{"text": "a b"}\nx', "a b"), ("[" * 99_999, ""),
                       (json.dumps({"text": "x" * 9_999}), "x" * LONGEST)):  # fmt: skip
        (look.model / jobs.PREDICTIONS).write_text(line)
        assert first_row(look) == text
    assert first_row(replace(look, folder=tmp_path / "gone")) == ""
