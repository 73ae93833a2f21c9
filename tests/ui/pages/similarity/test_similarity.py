"""The view Similarity: its sentences, its table by words, and refused texts."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from attention.edits import Ablate, PatchHead
from attention.similarity import POOLINGS
from attention.vectors import cosine
from inference import EMBEDDED, LocalBackend
from inference.tasks.edit_effects import VectorEffects
from inference.tasks.similarity import SimilarityEffects
from tests.support.asking import asked, says, stands
from tests.support.cases import loop_over
from tests.support.savedfiles import SavedBytes, parts
from ui.pages.similarity.effects import describe_deletions, describe_heads, measure_deletions, measure_heads
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
@pytest.mark.parametrize("show", ["matrix", "lines", "words", "removal", "heads"])
def test_the_view_opens_with_a_result(show: str) -> None:
    page = asked("similarity", model=EMBEDDED, show=show)
    says(page, "Cosine: 0.")
    stands(page)


@pytest.mark.slow
def test_a_text_without_a_counterpart_needs_a_second() -> None:
    says(asked("similarity", text="A cat sat."), "second text")
    says(asked("similarity", text="A cat sat.", other="word " * 600), "512")


@pytest.mark.slow
@loop_over("pooling", POOLINGS)
def test_without_an_edit_the_cosine_stays(pooling: str) -> None:
    found, backend = measured(pooling=pooling), LocalBackend()
    zero = (PatchHead(2, 1, (), seed=3),)
    question = SimilarityEffects(EMBEDDED, a=CAT, b=KITTEN, pooling=pooling, edits=((), (Ablate(2, 1),), zero))
    values = backend.inspect(question).values[:, 0]
    assert values[0] == pytest.approx(found.cosine, abs=1e-5)
    assert len({*values.tolist()}) == 3
    swapped = backend.inspect(replace(question, a=KITTEN, b=CAT)).values[:, 0]
    assert swapped[1] == pytest.approx(values[1], abs=1e-6)


@pytest.mark.slow
def test_heads_are_ablated_in_both_texts() -> None:
    heads = measure_heads(measured())
    values = [
        LocalBackend().inspect(VectorEffects(EMBEDDED, text=text, edits=((), (Ablate(4, 7),)))).values
        for text in (CAT, KITTEN)
    ]
    cosines = cosine(values[0], values[1])
    assert heads.changes[4, 7] == pytest.approx(cosines[1, 1] - cosines[0, 0], abs=1e-5)
    assert heads.random.complete
    assert 0 < len(heads.beyond) < len(heads.places)
    beyond = dict(zip(heads.places, heads.random.largest.tolist(), strict=True))
    assert all(abs(heads.changes[head]) > beyond[head] for head in heads.beyond)
    assert str(len(heads.beyond)) in describe_heads(heads)
    same = measure_heads(measured(CAT, CAT))
    np.testing.assert_allclose(same.changes, 0, atol=1e-6)


@pytest.mark.slow
def test_a_deleted_word_is_missing_from_its_text() -> None:
    found = measured()
    both = measure_deletions(found)
    assert both is not None
    a, b = both
    without = measured(CAT.replace("sleeps", ""), KITTEN)
    assert a.falls[a.names.index("sleeps")] == pytest.approx(found.cosine - without.cosine, abs=1e-5)
    without = measured(CAT, KITTEN.replace("napping", ""))
    assert b.falls[b.names.index("napping")] == pytest.approx(found.cosine - without.cosine, abs=1e-5)
    special = float(found.table[[0, -1]].sum())
    assert a.shares.sum() == pytest.approx(found.cosine - special, abs=1e-5)
    assert f"{-float(min(-both[0].falls.max(), -both[1].falls.max())):.3f}" in describe_deletions(both)


@pytest.mark.slow
def test_a_text_of_a_single_word_has_no_deletions() -> None:
    both = measure_deletions(measured("Cat", "Dog"))
    assert both is not None
    assert np.isnan(both[0].falls).all()
    assert describe_deletions(both)


@pytest.mark.slow
def test_a_hit_becomes_the_second_text() -> None:
    page = asked("similarity", model=EMBEDDED, text=CAT, show="search")
    stands(page)
    page.file_uploader(key="similarity_file").set_value(("a.txt", f"It rains.\n{KITTEN}".encode(), "text/plain")).run()
    says(page, "of 2 ")
    says(page, f"{measured().cosine:.3f}")
    table = page.dataframe[0].value
    assert table.iloc[0, 1] == 2
    stands(page)


@pytest.mark.slow
def test_the_saved_hits_name_the_search(saved_bytes: SavedBytes) -> None:
    page = asked("similarity", model=EMBEDDED, text=CAT, show="search", pooling="max")
    file = f"sentence,number\nIt rains.,1\n{KITTEN},2\n"
    page.file_uploader(key="similarity_file").set_value(("a.csv", file.encode(), "text/csv")).run()
    _hits, about = parts(saved_bytes(page, "Save as CSV"))
    assert about["text"] == CAT
    digest = sha256(f"It rains.\n{KITTEN}".encode()).hexdigest()
    assert about["data"] == f"2 sentences of a.csv, column sentence (SHA-256 {digest})"
    assert about["sentences_read"] == 2
    assert about["pooling"] == "max"
