"""The link that is highlighted by default: specific to its text and to a word."""

from __future__ import annotations

import numpy as np

from attention.excess import DefaultLink, positional_prior
from attention.mask import FloatArray
from attention.measures import summarize_heads
from attention.record import MapRecord
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import View
from tests.support.traces import sentence_trace

# The tokens are [CLS] the tired cat didn ' t run . [SEP].
TEXT = "the tired cat didn't run."
SPANS = ((0, 3), (4, 9), (10, 13), (14, 18), (18, 19), (19, 20), (21, 24), (24, 25))
ROW = TokenRow(
    ("[CLS]", "the", "tired", "cat", "didn", "'", "t", "run", ".", "[SEP]"),
    tuple(range(10)),
    (None, 0, 1, 2, 3, 4, 5, 6, 7, None),
    (0,) * 10,
    (None, *SPANS, None),
)
SIZE = len(ROW)
COLUMN, BEFORE, OWN, APOSTROPHE, EVEN = range(5)


def heads() -> FloatArray:
    """Return maps of five heads: all to "cat", previous token, "tired" to "cat", inside "didn't", and uniform."""
    maps = np.full((5, SIZE, SIZE), 0.01, np.float32)
    maps[COLUMN, :, 3] = 0.9
    maps[BEFORE, np.arange(1, SIZE), np.arange(SIZE - 1)] = 0.95
    maps[OWN, 2, 3] = 0.6
    maps[APOSTROPHE, 6, 4] = 0.8
    maps[EVEN] = 1 / SIZE
    shares: FloatArray = maps / maps.sum(axis=2, keepdims=True)
    return shares


def trace(*kept: int) -> Trace:
    parts = {"encoder": (MapRecord(heads()[list(kept) or slice(None)]),)}
    return sentence_trace(text=TEXT, source=ROW, parts=parts)


def test_it_is_the_word_s_own() -> None:
    view = View(trace())
    assert summarize_heads(view, 48).own.best(view, positional_prior([view.trace])) == DefaultLink(0, OWN, 2, 3)


def test_a_place_is_known_from_other_texts_only() -> None:
    view = View(trace())
    found = summarize_heads(view, 48).own.best(view, None)
    assert found is not None
    assert found.head == BEFORE, "in one text alone it cannot be told from a link of words"


def test_a_positional_head_is_opened_where_there_is_no_other() -> None:
    view = View(trace(BEFORE))
    found = summarize_heads(view, 48).own.best(view, positional_prior([view.trace]))
    assert found is not None
    assert found.head == 0


def test_parts_of_one_written_word_say_nothing_of_each_other() -> None:
    view = View(trace(APOSTROPHE))
    found = summarize_heads(view, 48).own.best(view, positional_prior([view.trace]))
    assert found is None or (found.query, found.key) != (6, 4)


def test_signs_without_spaces_are_words_of_their_own() -> None:
    row = TokenRow(("[CLS]", "动", "物", "累", "了", "[SEP]"), tuple(range(6)), (None, 0, 1, 2, 3, None), (0,) * 6,
                   (None, (0, 1), (1, 2), (2, 3), (3, 4), None))  # fmt: skip
    maps = np.full((1, 6, 6), 0.02, np.float32)
    maps[0, 3, 2] = 0.9
    view = View(sentence_trace(text="动物累了", source=row, parts={"encoder": (MapRecord(maps),)}))
    assert summarize_heads(view, 48).own.best(view, None) == DefaultLink(0, 0, 3, 2)


def test_one_head_may_be_asked_alone() -> None:
    view = View(trace())
    asked = np.zeros((1, 5), dtype=bool)
    asked[0, COLUMN] = True
    found = summarize_heads(view, 48).own.best(view, positional_prior([view.trace]), asked)
    assert found is not None
    assert (found.head, found.key) == (COLUMN, 3)


def test_a_text_of_one_word_has_none() -> None:
    row = TokenRow(("[CLS]", "cat", "[SEP]"), (0, 1, 2), (None, 0, None), (0,) * 3, (None, (0, 3), None))
    maps = np.full((1, 3, 3), 1 / 3, np.float32)
    view = View(sentence_trace(text="cat", source=row, parts={"encoder": (MapRecord(maps),)}))
    assert summarize_heads(view, 48).own.best(view, None) is None
