"""The view Similarity: its sentences, its table by words, and refused texts."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from attention.similarity import POOLINGS
from inference import EMBEDDED
from tests.support.asking import asked, says, stands
from tests.support.cases import loop_over
from ui.pages.similarity.table import WordTable, describe_table, measure_table, table_csv
from ui.state.view_state import ViewState

CAT, KITTEN = "The cat sleeps unbelievably long.", "A kitten is napping."


def measured(a: str = CAT, b: str = KITTEN, pooling: str = "", words: bool = True) -> WordTable:
    return measure_table(ViewState(model=EMBEDDED, text=a, words=words), b, pooling)


@pytest.mark.slow
@loop_over("pooling", POOLINGS)
def test_the_words_sum_to_the_cosine(pooling: str) -> None:
    found, back = measured(pooling=pooling), measured(KITTEN, CAT, pooling)
    assert found.table.sum() == pytest.approx(found.cosine, abs=1e-5)
    np.testing.assert_allclose(found.table.T, back.table, atol=1e-6)
    assert measured(CAT, CAT, pooling).cosine == pytest.approx(1)
    assert np.count_nonzero(found.table) == 1 or pooling not in ("first", "last")


@pytest.mark.slow
def test_a_word_has_the_sum_of_its_tokens() -> None:
    words, tokens = measured(), measured(words=False)
    at = words.names[0].index("unbelievably")
    pieces = len(tokens.names[0]) - len(words.names[0]) + 1
    assert pieces > 1
    assert words.table[at].sum() == pytest.approx(tokens.table[at : at + pieces].sum())


@pytest.mark.slow
def test_the_file_has_the_numbers_of_the_sentence() -> None:
    found = measured()
    rows = list(csv.DictReader(io.StringIO(table_csv(found).lstrip("\ufeff"))))
    assert sum(float(row["part of the cosine"]) for row in rows) == pytest.approx(found.cosine)
    said = describe_table(found)
    assert f"{found.cosine:.3f}" in said
    assert f"{found.table.max():.3f}" in said
    assert f"{found.special_share:.3f}" in said


@pytest.mark.slow
@pytest.mark.parametrize("show", ["matrix", "lines", "words"])
def test_the_view_opens_with_a_result(show: str) -> None:
    page = asked("similarity", model=EMBEDDED, show=show)
    says(page, "cosine is")
    stands(page)


@pytest.mark.slow
def test_a_text_without_a_counterpart_needs_a_second() -> None:
    says(asked("similarity", text="A cat sat."), "second text")
    says(asked("similarity", text="A cat sat.", other="word " * 600), "512")
