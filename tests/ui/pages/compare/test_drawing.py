"""Comparison of two attention rows word by word: order, unmatched words, and cuts of long texts."""

from __future__ import annotations

import numpy as np
import pytest

from attention.comparison import AlignedViews, changes, same_heads
from attention.mask import FloatArray
from attention.record import MapRecord
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import View
from tests.support.traces import sentence_trace
from ui.pages.compare import page
from ui.pages.compare.comparison import Comparison
from ui.pages.compare.options import CompareOptions
from ui.pages.compare.page import row_of, window
from ui.pages.compare.sides import Sides
from ui.run.services import ViewOptions


def read(words: str, row: list[float]) -> Trace:
    """Return a trace of whole words with a single head whose rows are all equal."""
    pieces = tuple(words.split())
    numbers = tuple(range(len(pieces)))
    maps: FloatArray = np.tile(np.array(row, np.float32), (1, len(pieces), 1))
    tokens = TokenRow(pieces, numbers, numbers, (0,) * len(pieces), (None,) * len(pieces))
    return sentence_trace(text=words, source=tokens, parts={"encoder": (MapRecord(maps),)})


def compared(left: Trace, right: Trace, focus: int, target: int) -> Comparison:
    beside = AlignedViews.align(View(left), View(right))
    heads = same_heads(beside.left, beside.right)
    assert heads is not None
    sides = Sides(beside, ViewOptions(), CompareOptions(), ("tiny", "tiny"), (("tiny", ""), ("tiny", "")))
    return Comparison(sides, changes(beside, heads), heads, (0, 0), (0, 0), None, 0, focus, target)


def shown(found: Comparison) -> tuple[list[str], np.ndarray, np.ndarray, int | None]:
    """Return the words of a row, their weights in both readings, and the place of the selected key."""
    lines = row_of(found)
    first, second = np.transpose([line.weights for line in lines])
    place = next((at for at, line in enumerate(lines) if line.is_target), None)
    return [line.text for line in lines], first, second, place


LEFT = read("it was too tired", [0.1, 0.2, 0.3, 0.4])
RIGHT = read("so it was wide", [0.4, 0.3, 0.2, 0.1])


def test_a_row_is_in_the_first_text_s_order_and_has_what_only_one_reading_has() -> None:
    words, first, second, place = shown(compared(LEFT, RIGHT, 0, 1))
    assert words == ["so", "it", "was", "too", "tired", "wide"]
    np.testing.assert_allclose(first, [np.nan, 0.1, 0.2, 0.3, 0.4, np.nan])
    np.testing.assert_allclose(second, [0.4, 0.3, 0.2, np.nan, np.nan, 0.1])
    assert place == 2


def test_a_word_beside_the_one_that_takes_its_place_is_one_line() -> None:
    found = compared(LEFT, read("it was too wide", [0.4, 0.3, 0.2, 0.1]), 0, 3)
    words, first, second, place = shown(found)
    assert words == ["it", "was", "too", "tired → wide"]
    assert (first[3], second[3], place) == (pytest.approx(0.4), pytest.approx(0.1), 3)
    assert found.sides.names() == ("with “tired”", "with “wide”")


def test_a_word_without_a_partner_looks_in_the_first_reading_only() -> None:
    found = compared(LEFT, RIGHT, 2, 0)
    assert found.row is None
    _, first, second, _ = shown(found)
    np.testing.assert_allclose(first[1], 0.1)
    assert np.isnan(second).all()


def test_of_a_long_row_the_largest_are_drawn_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_WORDS", 2)
    words, first, _, place = shown(compared(LEFT, read("it was too tired", [0.9, 0.0, 0.0, 0.1]), 0, 1))
    assert words == ["it", "tired"]
    np.testing.assert_allclose(first, [0.1, 0.4])
    assert place is None


@pytest.mark.parametrize("length", [1, 47, 48, 49, 200])
def test_a_window_holds_the_word_in_focus(length: int) -> None:
    for at in range(length):
        shown = window(length, at)
        assert at in shown
        assert len(shown) == min(length, page.MOST_SHOWN)
        assert 0 <= shown.start < shown.stop <= length
