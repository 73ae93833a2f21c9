"""What counting words reaches: TF-IDF and logistic regression on the same rows. A model should beat it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from probing.labelled.labeled_texts import LabeledText

# Letters of scripts that part no words by spaces: Thai to Khmer, kana, Han.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
LETTER = re.compile(r"\w")
SAMPLE = 1_000  # texts that tell which way a language is written
MOST = 200_000  # kinds of features, the most frequent ones


def fit_baseline(rows: Sequence[LabeledText]) -> Pipeline:
    """Learned from these rows; ``predict`` takes texts.

    >>> rows = [LabeledText("good film", "+"), LabeledText("bad film", "-")] * 3
    >>> fit_baseline(rows).predict(["a good one"]).tolist()
    ['+']
    """
    found = make_pipeline(features([row.text for row in rows[:SAMPLE]]), LogisticRegression(C=10.0, max_iter=1_000))
    found.fit([row.text for row in rows], [row.label for row in rows])
    return found


def features(texts: Sequence[str]) -> Any:
    """Words and pairs of words; where most letters are of a script without spaces, one to three characters.

    >>> features(["一只猫"]).analyzer, features(["a cat"]).analyzer
    ('char', 'word')
    """
    letters = sum(len(LETTER.findall(text)) for text in texts)
    characters = 2 * sum(len(UNSPACED.findall(text)) for text in texts) >= letters
    by: dict[str, Any] = (
        {"analyzer": "char", "ngram_range": (1, 3)}
        if characters
        else {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\w+|[^\w\s]"}
    )
    return TfidfVectorizer(sublinear_tf=True, max_features=MOST, **by)
