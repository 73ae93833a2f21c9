"""Saved predictions of a fine-tuned model, and their agreement with the saved scores."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from inference.errors import UserError
from probing.labelled.evaluation import confusion, f1_interval, most_mistaken, per_label, summed_up
from probing.labelled.predictions import (
    ROWS,
    SCORES,
    TagPrediction,
    TextPrediction,
    in_cell,
    load_predictions,
    worst_first,
)
from tests.support import toldfolders

TAGGED = [
    ("Ann Lee sings\u2028in Rome", "B-PER I-PER O O B-LOC", "B-PER I-PER O O B-LOC", (0.9, 0.8, 0.99, 0.98, 0.7)),
    ("Rome met Bo", "B-LOC O B-PER", "B-PER O O", (0.6, 0.9, 0.95)),
    ("no name", "O O", "O B-ORG", (0.9, None)),
]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return toldfolders.drawn(tmp_path / "texts", classes=4, rows=90, right=0.7)


@pytest.fixture
def words(tmp_path: Path) -> Path:
    return toldfolders.words(tmp_path / "words", TAGGED)


def test_the_counts_are_those_of_the_saved_scores(texts: Path, words: Path) -> None:
    """Counts from the saved rows equal the scores that were saved with the model."""
    for folder in (texts, words):
        found = load_predictions(folder)
        assert confusion(found).tolist() == found.test["confusion"]
        each = per_label(found)
        assert list(each) == list(found.test["classes"])
        for name, scores in found.test["classes"].items():
            mine = each[name]
            assert (mine.precision, mine.recall, mine.f1) == pytest.approx(
                (scores["precision"], scores["recall"], scores["f1"])
            )
            assert mine.true == scores["support"]


def test_every_row_is_in_the_cell_that_counts_it(texts: Path) -> None:
    found = load_predictions(texts)
    counts = confusion(found)
    for true, said in np.ndindex(*counts.shape):
        assert len(in_cell(found.rows, true, said)) == counts[true, said]
    assert len(in_cell(found.rows, None, 2)) == counts[:, 2].sum()
    assert in_cell(found.rows, None, None) == list(found.rows)


def test_a_text_has_what_was_said_of_it(texts: Path) -> None:
    row = load_predictions(texts).rows[0]
    written = json.loads((texts / ROWS).read_text(encoding="utf-8").split("\n")[0])
    assert isinstance(row, TextPrediction)
    assert (row.text, row.sure) == (written["text"], max(written["shares"]))
    assert row.due == written["shares"][row.true]


def test_words_have_their_kinds_and_a_line_end_inside_a_text_ends_no_row(words: Path) -> None:
    found = load_predictions(words)
    assert found.labels == ("O", "LOC", "ORG", "PER")
    first, second, third = found.rows
    assert isinstance(first, TagPrediction)
    assert "\u2028" in first.text
    assert (first.hit, first.sure) == (True, 0.7), "the least sure word"
    assert (second.pairs, second.hit, second.sure) == (((1, 3), (0, 0), (3, 0)), False, 0.95)
    assert third.sure == 0.0, "nothing is known of a word that was cut off"


def test_mistakes_come_first_the_surest_before_the_others(texts: Path) -> None:
    rows = worst_first(load_predictions(texts).rows)
    wrong = [row for row in rows if not row.hit]
    assert wrong
    assert rows[: len(wrong)] == wrong
    assert [row.sure for row in wrong] == sorted((row.sure for row in wrong), reverse=True)
    assert [row.sure for row in rows[len(wrong) :]] == sorted(row.sure for row in rows[len(wrong) :])


def test_names_have_the_interval_of_their_f1(words: Path) -> None:
    found = load_predictions(words)
    low, high = f1_interval(found)
    assert 0 <= low < found.test["f1"] < high <= 1


def test_the_labels_with_fewest_mistakes_are_added_up(texts: Path) -> None:
    counts = np.array([[5, 0, 1, 0], [0, 9, 0, 0], [3, 0, 4, 0], [0, 0, 1, 2]])
    kept = most_mistaken(counts, 2)
    assert kept == [0, 2]
    assert summed_up(counts, kept).tolist() == [[5, 1, 0], [3, 4, 0], [0, 1, 11]]
    assert summed_up(counts, most_mistaken(counts, 9)).tolist() == counts.tolist()
    whole = confusion(load_predictions(texts))
    assert summed_up(whole, [1]).sum() == whole.sum()


@pytest.mark.parametrize("file", [SCORES, ROWS])
@pytest.mark.parametrize("content", [None, "", "{", '{"task": "tag"}\n', "[1]\n"])
def test_what_is_damaged_is_refused_by_name(texts: Path, file: str, content: str | None) -> None:
    (texts / file).unlink()
    if content is not None:
        (texts / file).write_text(content, encoding="utf-8")
    if (file, content) == (ROWS, ""):
        assert load_predictions(texts).rows == ()  # An empty test split is valid.
        return
    with pytest.raises(UserError, match=f"{file} is missing or damaged"):
        load_predictions(texts)


def test_words_and_tags_that_differ_in_number_are_refused(words: Path) -> None:
    lines = [json.loads(line) for line in (words / ROWS).read_text(encoding="utf-8").split("\n")[:-1]]
    lines[0]["shares"] = lines[0]["shares"][:-1]
    (words / ROWS).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(UserError, match=ROWS):
        load_predictions(words)
