"""Tests of the alignment matrix, the table of heads, and the sentence about the best head."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.alignment import AlignmentCounts, CrossRowConvention
from probing.alignments import AlignmentState, BestHead
from ui.pages.translate.quality import COMPARED, TITLES, rows, summary
from viz.figures.theme import DARK, LIGHT, Figure
from viz.figures.vectors import ALIGNMENT_TICKS, POINTS, alignment_map, picked_pair

WEIGHTS = np.array([[0.75, 0.25, 0.0], [0.1, 0.2, 0.7]], np.float32)  # Shape (target, source).
TARGET, SOURCE = ("<b>Il</b>", "הכלב"), ("It", "rains", "</s>")


def drawn(**extra: Any) -> Figure:
    return alignment_map(WEIGHTS, TARGET, SOURCE, LIGHT, "Head 1", **extra)


def test_every_weight_stands_in_its_cell_and_every_cell_can_be_picked() -> None:
    figure = drawn()
    np.testing.assert_allclose(figure.data[0].z, WEIGHTS, atol=1e-4)
    points = figure.data[1]
    cells = {(y, x): data for x, y, data in zip(points.x, points.y, points.customdata, strict=True)}
    assert set(cells) == set(np.ndindex(2, 3))
    for place, data in cells.items():
        assert tuple(data[:2]) == place
        assert data[4] == float(WEIGHTS[place])
        assert picked_pair({"selection": {"points": [{"customdata": data}]}}) == place


def test_words_are_text_and_turn_nothing_around() -> None:
    figure = drawn()
    assert figure.layout.yaxis.ticktext == ("\u2068&lt;b&gt;Il&lt;/b&gt;\u2069", "\u2068הכלב\u2069")
    assert figure.data[1].customdata[0][2] == "\u2068&lt;b&gt;Il&lt;/b&gt;\u2069"
    assert "<b>" not in str(alignment_map(WEIGHTS, TARGET, SOURCE, LIGHT, "<b>x").layout.title.text)


def test_the_first_word_written_is_on_top_and_the_scale_is_always_the_same() -> None:
    figure = drawn()
    top, bottom = figure.layout.yaxis.range[1], figure.layout.yaxis.range[0]
    assert (top, bottom) == (-0.5, 1.5)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)


def test_marks() -> None:
    figure = drawn(chosen=1, strongest=[0, None])
    dots = figure.data[2]
    assert (dots.x, dots.y) == ((0,), (0,))
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 2.5, 0.5, 1.5)
    assert not drawn().layout.shapes


def test_of_many_words_some_are_named_and_none_can_be_picked() -> None:
    size = 2 * ALIGNMENT_TICKS + 1
    assert size**2 > POINTS
    names = [f"w{at}" for at in range(size)]
    figure = alignment_map(np.full((size, size), 1 / size), names, names, DARK, "Long")
    assert [trace.type for trace in figure.data] == ["heatmap", "scatter"]
    assert len(figure.layout.xaxis.ticktext) == len(figure.layout.xaxis.tickvals) <= ALIGNMENT_TICKS
    assert figure.layout.xaxis.ticktext[1] == f"\u2068w{figure.layout.xaxis.tickvals[1]}\u2069"


@pytest.mark.parametrize("event", [None, {"selection": {"points": []}}, {"selection": {"points": [{"x": 1}]}}])
def test_nothing_was_picked(event: dict[str, Any] | None) -> None:
    assert picked_pair(event) is None


def best(layer: int, head: int, share: float, p: float, diagonal: float = 74.28) -> BestHead:
    return BestHead(layer, head, share, 60.0, 80.0, 175, 0.25, diagonal, 17.2, 0.27, p, 40)


@pytest.mark.parametrize(
    ("p", "diagonal", "verdict"),
    [
        (0.01, 50.0, "more"),
        (0.4, 50.0, "not clearly more"),
        (0.01, 74.28, "less"),
    ],
)
def test_the_sentence_says_how_the_best_head_stands(p: float, diagonal: float, verdict: str) -> None:
    told = summary(
        {CrossRowConvention.WRITING: best(2, 4, 70.01, p, diagonal), CrossRowConvention.OWN: best(0, 1, 33.71, 0.5)}
    )
    assert "70.0% (60.0 to 80.0) of 175 " in told
    assert "(alignment error rate 0.25)" in told
    assert f": {COMPARED[verdict]} " in told
    assert f"{diagonal:.1f}% (error rate 0.27; " in told
    assert f" 40 sentences, p = {p:.2g})" in told
    assert "17.2%" in told
    assert told.endswith("33.7% (head 0-1).")


def test_one_pair_names_no_best_head() -> None:
    assert "One pair" in summary({CrossRowConvention.WRITING: None, CrossRowConvention.OWN: None})


def test_the_table_has_every_head_in_both_readings_the_best_first() -> None:
    shape = (2, 3, 2)
    found = np.arange(12, dtype=float).reshape(shape)
    counts = AlignmentCounts(np.full(shape, 12.0), found, *(np.full(shape, 3.0) for _ in range(4)))
    table = rows(AlignmentState(heads={0: counts, 1: counts}))
    assert len(table) == 12
    assert [row[4] for row in table] == sorted((row[4] for row in table), reverse=True)
    read, layer, head, words, share, low, high, error = table[0]
    assert (read, layer, head, words) == (TITLES[CrossRowConvention.OWN], 2, 1, 24)
    np.testing.assert_allclose([share, error], [100 * 22 / 24, 1 - 12 / 12])
    assert low < share < high
