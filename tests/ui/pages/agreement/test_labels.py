"""Explained labels on the Agreement page, and the message for models without labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.task_heads import TAG, WHAT
from tests.support.asking import allowed, asked, says, stands
from tests.support.tinylabels import save
from ui.show.text import TOO_FEW

TEXT = "the animal was a cat"


@pytest.mark.slow
def test_labels_are_explained_and_missing_heads_told(tmp_path: Path) -> None:
    text, words = save(tmp_path / "text"), save(tmp_path / "words", head=TAG)
    with allowed(tmp_path):
        page = asked("agreement", model=text, text=TEXT, explain="label", label=2)
        says(page, "Prediction: ")
        says(page, "of “glad”")
        stands(page)
        page = asked("agreement", model=words, text=TEXT, explain="tag", focus=3)
        says(page, "“was”: ")
        says(page, TOO_FEW)  # of 4 words
        says(asked("agreement", model=text, text=TEXT, explain="tag"), f"text has {WHAT[TAG]}")
