"""Round trips of the packed format of labelled data."""

from __future__ import annotations

import random

import pytest

from probing.labelled.conll import to_bio
from probing.labelled.labeled_texts import LabeledText, TaggedText, join_words
from probing.labelled.ready_sets import line, pack, parse_labeled, parse_tagged, unpack
from tests.support.cases import draw_seeds, loop_over

TAGS = ["O", "O", "B-PER", "I-PER", "B-creative-work", "I-creative-work"]


def drawn(seed: int) -> TaggedText:
    """Return a tagged sentence of random words in two scripts, with or without spaces between them."""
    dice = random.Random(seed)
    words = ["".join(dice.choices("ab中文#|-'\u200b", k=dice.randint(1, 3))) for _ in range(dice.randint(1, 10))]
    text, places = join_words(words, dice.random() < 0.5)
    return TaggedText(text, tuple(places), tuple(to_bio(dice.choices(TAGS, k=len(words)))))


@draw_seeds(200)
def test_a_sentence_comes_back(seed: int) -> None:
    row = drawn(seed)
    assert parse_tagged(line(row)) == row
    assert parse_tagged(line(row, "a class")) == row
    assert parse_labeled(line(row, "a class")) == LabeledText(row.text, "a class")


def test_parts_come_back() -> None:
    parts = [[line(drawn(seed + 10 * part)) for seed in range(part + 2)] for part in range(3)]
    assert unpack(pack(parts)) == parts


def test_the_form_by_hand() -> None:
    row = TaggedText("Ann's dog", ((0, 3), (3, 5), (6, 9)), ("B-PER", "O", "O"))
    assert line(row, "x") == "x\t\tPER\tAnn\t's dog"
    assert line(TaggedText("它们吃", ((0, 1), (1, 2), (2, 3)), ("O", "O", "O"))) == "\t它\x1f们\x1f吃"
    assert line(LabeledText("a b", "x")) == "x\ta b"


@loop_over(
    "row",
    [
        LabeledText("a\tb", "x"),
        LabeledText("a\nb", "x"),
        LabeledText("a\x1fb", "x"),
        LabeledText("a", "x\ty"),
        TaggedText("a b", ((0, 3),), ("O",)),
        TaggedText("a b", ((0, 1),), ("O",)),
        TaggedText("a b", ((0, 1), (2, 3)), ("O", "I-X")),
    ],
)
def test_what_the_form_cannot_say_is_refused(row: LabeledText | TaggedText) -> None:
    with pytest.raises(ValueError, match="be packed"):
        line(row)
