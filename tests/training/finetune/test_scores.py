"""Scores that are invariant to label names, compared with values by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import classification_report

from training.finetune.evaluation import score_tags, score_texts

LABELS = ("a", "b", "c", "d")


def drawn(seed: int) -> tuple[list[str], list[str]]:
    """Return the true and the predicted classes of 60 texts; "d" never occurs, and "c" is never predicted."""
    random = np.random.default_rng(seed)
    return [str(one) for one in random.choice(LABELS[:3], 60)], [str(one) for one in random.choice(LABELS[:2], 60)]


@pytest.mark.parametrize("seed", range(3))
def test_other_names_permute_the_confusion_matrix_and_change_no_score(seed: int) -> None:
    true, said = drawn(seed)
    names = dict(zip(LABELS, ("c", "a", "d", "b"), strict=True))
    one = score_texts(true, said, LABELS)
    other = score_texts([names[label] for label in true], [names[label] for label in said], LABELS)
    order = [LABELS.index(names[label]) for label in LABELS]
    moved = np.array(other["confusion"])[np.ix_(order, order)]
    assert moved.tolist() == one["confusion"]
    assert (other["accuracy"], other["macro_f1"]) == pytest.approx((one["accuracy"], one["macro_f1"]))
    assert {names[label]: scored for label, scored in one["classes"].items()} == other["classes"]


def test_scores_are_those_of_the_library() -> None:
    true, said = drawn(7)
    found = score_texts(true, said, LABELS)
    report = classification_report(true, said, output_dict=True, zero_division=0.0)
    assert found["accuracy"] == pytest.approx(report["accuracy"])
    assert found["macro_f1"] == pytest.approx(report["macro avg"]["f1-score"])
    assert found["classes"]["a"]["recall"] == pytest.approx(report["a"]["recall"])
    assert found["classes"]["d"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0}
    assert sum(map(sum, found["confusion"])) == 60


def test_a_name_counts_when_both_ends_and_the_kind_are_right() -> None:
    true = [("B-PER", "I-PER", "O", "B-LOC"), ("B-LOC", "O")]
    said = [("B-PER", "I-PER", "O", "B-PER"), ("B-LOC", "I-LOC")]
    found = score_tags(true, said)
    assert (found["precision"], found["recall"], found["f1"]) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert found["classes"]["PER"] == {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3), "support": 1}
    assert found["labels"] == ["O", "LOC", "PER"]
    assert found["confusion"] == [[1, 1, 0], [0, 1, 1], [0, 0, 2]]


def test_a_text_that_is_told_wholly_scores_one() -> None:
    tags = [("B-PER", "I-PER", "B-PER", "O", "I-LOC")]
    found = score_tags(tags, tags)
    assert {found[name] for name in ("precision", "recall", "f1", "macro_f1", "accuracy")} == {1.0}
    assert score_tags(tags, [("O",) * 5])["f1"] == 0.0
