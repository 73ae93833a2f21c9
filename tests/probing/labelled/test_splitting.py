"""Splits of labelled rows: complete, without shared texts, and stable if rows are added."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from probing.labelled import files
from probing.labelled.files import kinds, split
from probing.labelled.labeled_texts import LabeledText, TaggedText
from tests.support.cases import draw_seeds


def texts(number: int, seed: int = 0) -> list[LabeledText]:
    """Return rows of three classes of unequal size; about a tenth of the rows occur twice."""
    dice = random.Random(seed)
    rows = [LabeledText(f"text {dice.randrange(10**9)}", dice.choice("aaaaabbbc")) for _ in range(number)]
    return rows + dice.sample(rows, number // 10)


def sentences(number: int) -> list[TaggedText]:
    """Return sentences with no span, with a frequent span type, or with a rare span type."""
    tags = {0: ("O", "B-RARE"), 1: ("B-A", "I-A"), 2: ("B-A", "O")}
    return [TaggedText(f"{at:03} b", ((0, 3), (4, 5)), tags.get(at % 20, ("O", "O"))) for at in range(number)]


def where(parts: dict[str, list[LabeledText]]) -> dict[str, str]:
    return {row.text: part for part, rows in parts.items() for row in rows}


@pytest.mark.parametrize("seed", range(5))
def test_the_parts_are_the_whole_and_share_no_text(seed: int) -> None:
    rows = texts(300, seed)
    parts = split(rows, seed)
    assert Counter(row for some in parts.values() for row in some) == Counter(rows)
    found = [{row.text for row in some} for some in parts.values()]
    assert sum(map(len, found)) == len(set().union(*found))
    for some in parts.values():  # Each split keeps the order of the file.
        assert [row for row in rows if row in set(some)] == some


def test_each_class_has_its_share_of_each_part() -> None:
    rows = [
        LabeledText(f"{label} {at}", label) for label, many in (("a", 400), ("b", 50), ("c", 4)) for at in range(many)
    ]
    counts = {part: Counter(row.label for row in some) for part, some in split(rows).items()}
    assert counts["test"] == {"a": 40, "b": 5, "c": 1} == counts["dev"]
    assert counts["train"] == {"a": 320, "b": 40, "c": 2}


def test_permuting_rows_permutes_the_parts() -> None:
    rows = texts(300)
    mixed = random.Random(1).sample(rows, len(rows))
    assert where(split(rows)) == where(split(mixed))
    assert where(split(rows, 1)) != where(split(rows, 0))


@draw_seeds(10)
def test_a_row_more_moves_few(seed: int) -> None:
    rows = texts(300, seed)
    before, after = where(split(rows)), where(split([*rows, LabeledText("one more", "b")]))
    assert sum(after[text] != part for text, part in before.items()) <= 3


def test_only_what_is_asked_for_is_divided() -> None:
    assert set(split(texts(50), parts=["dev"])) == {"train", "dev"}
    test = split(texts(300), parts=["test"])["test"]
    assert test == split(texts(300))["test"]


def test_of_a_class_one_text_at_least_is_learned_from() -> None:
    rows = [*(LabeledText(f"a{at}", "a") for at in range(30)), LabeledText("b", "b"), LabeledText("b", "b")]
    rows += [LabeledText("c", "c"), LabeledText("C", "c"), LabeledText("a0", "only where another class is")]
    for seed in range(10):
        parts = split(rows, seed)
        assert {row.label for row in parts["train"]} == {row.label for row in rows}
        assert [row.label for row in parts["test"]].count("c") == 1  # This class has two texts.
        assert not {row.text for row in parts["train"]} & {row.text for row in parts["dev"] + parts["test"]}


@draw_seeds(10)
def test_sentences_with_a_rare_kind_are_in_every_part(seed: int) -> None:
    parts = split(sentences(200), seed)
    for some in parts.values():
        assert frozenset({"A", "RARE"}) <= {kind for row in some for kind in kinds(row)}
    assert {part: sum("RARE" in kinds(row) for row in some) for part, some in parts.items()} == {
        "train": 8, "dev": 1, "test": 1
    }  # fmt: skip


def test_what_is_scored_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST", {"test": 20, "dev": 10})
    parts = split([LabeledText(str(at), str(at % 2)) for at in range(1000)])
    assert {part: len(some) for part, some in parts.items()} == {"train": 970, "dev": 10, "test": 20}
