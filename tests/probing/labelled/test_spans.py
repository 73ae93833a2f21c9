"""Spans of tags and their scores, compared with nervaluate and with cases by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest
from nervaluate import Evaluator

from probing.labelled.evaluation import SpanCounts, score, spans
from tests.support.cases import draw_seeds, loop_over

KINDS = ("PER", "LOC", "ORG")
TAGS = ("O", *(f"{prefix}-{kind}" for kind in KINDS for prefix in "BI"))

Tags = list[list[str]]


def drawn(seed: int) -> tuple[Tags, Tags]:
    """Return random tag sequences, not necessarily well-formed, and a partly changed copy."""
    dice = random.Random(seed)
    true = [dice.choices(TAGS, k=dice.randint(1, 12)) for _ in range(dice.randint(1, 20))]
    found = [[tag if dice.random() < 0.7 else dice.choice(TAGS) for tag in tags] for tags in true]
    return true, found


def counted(stated: Any) -> tuple[int, int, int]:
    """Return nervaluate's correct, predicted and true spans for exact matches."""
    return stated.correct, stated.actual, stated.possible


@draw_seeds(40)
def test_scores_are_what_nervaluate_counts(seed: int) -> None:
    true, found = drawn(seed)
    theirs = Evaluator(true, found, tags=list(KINDS), loader="list").evaluate()
    overall, by_kind = score(true, found)
    assert (overall.right, overall.found, overall.true) == counted(theirs["overall"]["strict"])
    assert {kind: (one.right, one.found, one.true) for kind, one in by_kind.items()} == {
        kind: counted(stated["strict"]) for kind, stated in theirs["entities"].items()
    }
    shares = theirs["overall"]["strict"]
    assert (overall.precision, overall.recall) == pytest.approx((shares.precision, shares.recall))
    assert overall.f1 == pytest.approx(shares.f1)


@draw_seeds(40)
def test_spans_are_in_order_apart_and_cover_all_but_o(seed: int) -> None:
    for tags in drawn(seed)[0]:
        covered = [at for _, first, end in spans(tags) for at in range(first, end)]
        assert covered == [at for at, tag in enumerate(tags) if tag != "O"]
        assert all(first < end and tags[first][2:] == kind for kind, first, end in spans(tags))


def test_the_sum_of_the_kinds_is_the_whole_and_order_does_not_matter() -> None:
    true, found = drawn(1)
    overall, by_kind = score(true, found)
    assert overall == SpanCounts(
        *(sum(getattr(one, name) for one in by_kind.values()) for name in ("right", "found", "true"))
    )
    assert score(true[::-1], found[::-1]) == (overall, by_kind)
    assert score(found, true)[0] == SpanCounts(overall.right, overall.true, overall.found)
    assert score(true, true)[0].f1 == 1


@loop_over(
    ("tags", "said"),
    [
        ("", []),
        ("O", []),
        ("B-A I-A O", [("A", 0, 2)]),
        ("B-A B-A", [("A", 0, 1), ("A", 1, 2)]),
        ("O I-A I-A", [("A", 1, 3)]),
        ("B-A I-B I-B", [("A", 0, 1), ("B", 1, 3)]),
        ("B-A O I-A", [("A", 0, 1), ("A", 2, 3)]),
        ("B-a-b I-a-b", [("a-b", 0, 2)]),
    ],
)
def test_spans_by_hand(tags: str, said: list[tuple[str, int, int]]) -> None:
    assert spans(tags.split()) == said


def test_scores_by_hand() -> None:
    true = [["B-A", "I-A", "O", "B-B"], ["O", "O"]]
    found = [["B-A", "O", "O", "B-B"], ["B-B", "O"]]  # The first span is too short; the last has no true span.
    overall, by_kind = score(true, found)
    assert overall == SpanCounts(right=1, found=3, true=2)
    assert (overall.precision, overall.recall, overall.f1) == (1 / 3, 1 / 2, 0.4)
    assert by_kind == {"A": SpanCounts(0, 1, 1), "B": SpanCounts(1, 2, 1)}
    assert (by_kind["A"].f1, SpanCounts(0, 0, 0).precision, SpanCounts(0, 0, 0).recall, SpanCounts(0, 0, 0).f1) == (
        0,
        0,
        0,
        0,
    )


def test_sentences_of_other_lengths_are_no_pair() -> None:
    with pytest.raises(ValueError, match="has 2 words and 1 tags"):
        score([["O", "O"]], [["O"]])
