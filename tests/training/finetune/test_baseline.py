"""The word-count baseline, in languages with and without spaces."""

from __future__ import annotations

import pytest

from probing.labelled.labeled_texts import LabeledText
from training.finetune.evaluation import features, fit_baseline


def test_it_tells_classes_that_words_tell() -> None:
    rows = [LabeledText(f"{word} number {at}", word) for at in range(20) for word in ("red", "blue", "green")]
    texts = ["a blue thing", "number 3 is red"]
    assert list(fit_baseline(rows).predict(texts)) == ["blue", "red"]


def test_chinese_is_read_by_characters() -> None:
    rows = [LabeledText(f"今天{word}很多", word) for word in ("下雨", "刮风") for _ in range(5)]
    assert list(fit_baseline(rows).predict(["明天下雨吗"])) == ["下雨"]


@pytest.mark.parametrize(
    ("texts", "by"),
    [
        (["A cat."], "word"),
        (["一只 cat 猫在这里"], "char"),
        (["แมวตัวหนึ่ง"], "char"),
        (["кошка", "猫"], "word"),
        (["!!"], "char"),
    ],
)
def test_what_is_counted_fits_the_language(texts: list[str], by: str) -> None:
    assert features(texts).analyzer == by
    features(texts * 2).fit(texts * 2)


def test_it_hangs_on_nothing_but_its_rows() -> None:
    rows = [LabeledText(f"{'good' if at % 3 else 'bad'} {at % 7}", str(at % 3 > 0)) for at in range(60)]
    one, other = (fit_baseline(rows).predict_proba([row.text for row in rows]) for _ in range(2))
    assert (one == other).all()
