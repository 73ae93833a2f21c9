"""Files of labelled texts, read by named columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.errors import UserError
from probing.labelled.columns import Columns
from training.finetune.data import task


def test_named_columns_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("text,said,label,mood\n" + "".join(f"x,No. {at},y,{at % 2}\n" for at in range(40)))
    labels = task("classify", str(file), None, None, 0, Columns("said", "mood")).labels
    assert labels.labels == ("0", "1")
    assert {row.text[:3] for row in labels.train} == {"No."}


def test_columns_of_words_are_named_by_number(tmp_path: Path) -> None:
    file = tmp_path / "a.conll"
    file.write_text("".join(f"Ann B-PER B-X\n{at} O O\n\n" for at in range(40)))
    assert task("tag", str(file), None, None, 0, Columns(label="2")).labels.labels == ("O", "B-PER", "I-PER")
    with pytest.raises(UserError, match="from 1, got tags"):
        task("tag", str(file), None, None, 0, Columns(label="tags"))
