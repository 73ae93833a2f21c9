"""Checks of labelled texts before training, with expected values by hand."""

from __future__ import annotations

from collections.abc import Sequence

from probing.labelled.data_checks import LengthFit, balance, duplicates, fit, preview
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText


def classes(train: str, dev: str = "", test: str = "") -> LabeledDataset:
    """Return a classification data set from strings of the form "t1:a t2:b"."""
    rows = [[LabeledText(*pair.split(":")) for pair in part.split()] for part in (train, dev, test)]
    return LabeledDataset("classify", ("a", "b"), *rows)


def sentence(text: str, tags: str) -> TaggedText:
    return TaggedText(text, tuple((at, at + 1) for at in range(0, len(text), 2)), tuple(tags.split()))


TAGS = LabeledDataset(
    "tag",
    ("O", "B-X", "I-X", "B-Y", "I-Y"),
    [sentence("a b c", "B-X I-X B-X"), sentence("d e", "O B-Y"), sentence("f", "O")],
    [sentence("a b c", "B-X I-X O")],
    [sentence("g", "B-Y")],
)


def test_rows_to_look_at_are_of_all_classes_by_turns() -> None:
    labels = classes("1:b 2:b 3:a 4:b 5:a 6:b")
    assert [row.text for row in preview(labels)] == list("315246")
    assert [row.text for row in preview(labels, 3)] == list("315")
    assert [row.text for row in preview(TAGS)] == ["f", "a b c", "d e"]


def test_classes_are_counted() -> None:
    found = balance(classes("1:b 2:b 3:a 4:b", "5:a", "6:b 7:b"))
    assert found.counts == {"train": {"b": 3, "a": 1}, "dev": {"b": 0, "a": 1}, "test": {"b": 2, "a": 0}}
    assert found.largest == ("b", 0.75)
    assert found.sentence == "2 classes; always guessing “b” is right for 75% of train."
    assert "see macro F1" in balance(classes("1:b 2:b 3:a 4:b 5:b")).sentence


def test_kinds_of_spans_are_counted() -> None:
    found = balance(TAGS)
    assert found.counts == {"train": {"X": 2, "Y": 1}, "dev": {"X": 1, "Y": 0}, "test": {"X": 0, "Y": 1}}
    assert found.sentence == "Span types: 2; “X” is 67% of train."


def test_duplicates_are_counted_across_and_within() -> None:
    found = duplicates(classes("1:b 1:b 1:a 2:a 3:a", "2:a 2:a 4:b", "2:b 3:a 4:b 5:a"))
    assert found.across == {("train", "dev"): 1, ("train", "test"): 2, ("dev", "test"): 2}
    assert (found.within, found.contradictory, found.examples) == (2, 2, ("1", "2"))
    assert found.sentence == (
        "Texts of dev that are also in train: 1. Texts of test that are also in train: 2. Texts of test that are also"
        " in dev: 2. Scores on them flatter. Repeated texts in train: 2. Texts with contradictory labels: 2."
    )
    assert duplicates(classes("1:a 2:b", "3:a")).sentence == "No text is repeated."
    assert (duplicates(TAGS).across["train", "dev"], duplicates(TAGS).contradictory) == (1, 1)


def test_what_is_cut_and_unknown_is_counted() -> None:
    labels = classes("aa:a abcd:b", "ab?:a", "?:b")

    def letters(texts: Sequence[str]) -> list[tuple[int, int]]:
        return [(len(text), text.count("?")) for text in texts]

    found = fit(labels, letters, 3)
    assert found == LengthFit(length=3, texts=4, of=4, cut=1, longest=4, tokens=10, unknown=2)
    assert found.sentence == ("4 texts were measured; cut to 3 tokens: 1 (25.0%). Unknown tokens: 2 of 10 (20.0%).")
    some = fit(labels, letters, 9, most=2)
    assert (some.texts, some.of, some.tokens) == (2, 4, 5)  # The sample takes every second text.
    assert some.sentence.startswith("2 texts (evenly taken from 4) were measured; none exceeds 9 tokens; the")
    assert fit(labels, letters, 9, most=3).texts == 2
