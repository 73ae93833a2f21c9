"""Word-by-word comparison of true and predicted entity spans."""

from __future__ import annotations

from itertools import product

from probing.labelled.evaluation import compare_words, score
from probing.labelled.predictions import TagPrediction
from tests.support.cases import loop_over


def words(tags: str, said: str) -> list[tuple[str, str]]:
    row = TagPrediction("", (), tuple(tags.split()), tuple(said.split()), (), ())
    return [(word.verdict, word.label) for word in compare_words(row)]


@loop_over(
    ("tags", "said", "expected"),
    [
        ("O O", "O O", [("", ""), ("", "")]),
        ("B-PER I-PER", "B-PER I-PER", [("right", "PER"), ("right", "")]),
        ("B-PER B-PER", "B-PER B-PER", [("right", "PER"), ("right", "PER")]),
        ("B-PER I-PER", "O O", [("missed", "missed PER"), ("missed", "")]),
        ("O O", "B-PER I-PER", [("wrong", "predicted PER"), ("wrong", "")]),
        ("B-PER", "B-LOC", [("wrong", "predicted LOC, true PER")]),
        ("B-PER I-PER", "B-PER O", [("wrong", "PER, ends differ"), ("missed", "missed PER")]),
    ],
)
def test_by_hand(tags: str, said: str, expected: list[tuple[str, str]]) -> None:
    assert words(tags, said) == expected


def test_as_many_names_are_right_as_the_scores_count() -> None:
    """Verdicts agree with the scores for all pairs of three-tag sequences."""
    each = list(product(("O", "B-A", "I-A", "B-C"), repeat=3))
    for true, said in product(each, each):
        found = words(" ".join(true), " ".join(said))
        right = sum(verdict == "right" and bool(label) for verdict, label in found)
        assert right == score([true], [said])[0].right, (true, said)
        assert [bool(verdict) for verdict, _ in found] == [
            a != "O" or b != "O" for a, b in zip(true, said, strict=True)
        ]
