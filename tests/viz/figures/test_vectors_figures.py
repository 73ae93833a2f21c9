"""Tests of the figures of the Vectors page."""

from __future__ import annotations

import numpy as np
import pytest

from viz.figures.theme import (
    BLANK,
    DARK,
    LIGHT,
    Figure,
    Theme,
    add_cell_text,
    color_at,
    diverging_scale,
    empty,
    luminance,
    sequential_scale,
)
from viz.figures.vectors import COSINE_TICKS, NAMED, NUMBERS, context_lines, cosine_map, scatter

NAMES = ["<b>it</b>", "cat", "cat", "an-extraordinarily-long-word"]


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_map_of_cosines(theme: Theme) -> None:
    likeness = np.clip(random(4, 4), -1, 1)
    figure = cosine_map(likeness, NAMES, theme, "<i>t</i>", marked=2)
    heat = figure.data[0]
    np.testing.assert_allclose(heat.z, likeness, atol=1e-4)
    assert (heat.zmin, heat.zmax) == (-1, 1)
    assert list(figure.layout.xaxis.ticktext) == ["&lt;b&gt;it&lt;/b&gt;", "cat", "cat", "an-extraordinaril…"]
    assert heat.customdata[3][0] == ["an-extraordinaril…", "&lt;b&gt;it&lt;/b&gt;"]
    assert (figure.layout.shapes[0].y0, figure.layout.shapes[0].y1) == (1.5, 2.5)
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "the first row is on top"
    assert figure.layout.title.text == "&lt;i&gt;t&lt;/i&gt;"


def test_a_large_map_has_fewer_labels_and_no_numbers() -> None:
    count = COSINE_TICKS + 10
    assert count > NUMBERS
    figure = cosine_map(np.eye(count, dtype=np.float32), [f"w{at}" for at in range(count)], LIGHT, "")
    assert list(figure.layout.xaxis.ticktext) == [f"w{at}" for at in range(0, count, 2)]
    assert len(figure.data) == 1, "no texts"


def cell_texts(figure: Figure) -> list[list[str]]:
    """Return the text of each cell (row, column) of a heatmap, from the traces of all colours."""
    traces = [trace for trace in figure.data if trace.type == "heatmap" and trace.texttemplate]
    return [
        ["".join(text for text in cell if BLANK not in text) for cell in zip(*rows, strict=True)]
        for rows in zip(*(trace.text for trace in traces), strict=True)
    ]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_digits_contrast_with_their_cell(theme: Theme) -> None:
    """Each cell has its number once, with a contrast of at least 4.5 : 1 (WCAG 2); the traces have one font size."""
    count = 20
    likeness = np.linspace(-1, 1, count * count).astype(np.float32).reshape(count, count)
    heat, *texts = cosine_map(likeness, [f"w{at}" for at in range(count)], theme, "").data
    assert heat.texttemplate is None
    assert {trace.textfont.color for trace in texts} == {"#000000", "#ffffff"}
    assert len({max(len(text) for row in trace.text for text in row) for trace in texts}) == 1
    for row, column in np.ndindex(likeness.shape):
        ((written, ink),) = [
            (trace.text[row][column], trace.textfont.color) for trace in texts if BLANK not in trace.text[row][column]
        ]
        assert float(written.replace("\u2212", "-")) == pytest.approx(likeness[row, column], abs=0.006)
        assert written not in ("\u22120.00", "-0.00")
        ground = luminance(color_at(diverging_scale(theme), (float(likeness[row, column]) + 1) / 2))
        high, low = max(ground, luminance(ink)), min(ground, luminance(ink))
        assert (high + 0.05) / (low + 0.05) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_cell_without_colour_has_the_text_of_the_page(theme: Theme) -> None:
    figure = empty(theme, "", "", "")
    add_cell_text(
        figure, [["a", "b"], ["", "c"]], np.array([[0.0, 1.0], [np.nan, np.nan]]), sequential_scale(theme), theme
    )
    inks = {text: trace.textfont.color for trace in figure.data for row in trace.text for text in row}
    assert (inks["a"], inks["b"], inks["c"]) == (
        *(("#000000", "#ffffff") if theme == LIGHT else ("#ffffff", "#000000")),
        theme.text,
    )


def drawn(figure: Figure) -> dict[str, tuple[float, ...]]:
    """Return the coordinates of each point (2 or 3 axes) by its name in the hover text."""
    return {
        str(name): tuple(
            float(getattr(trace, axis)[at]) for axis in ("x", "y", "z") if getattr(trace, axis, None) is not None
        )
        for trace in figure.data
        for at, name in enumerate(trace.customdata)
    }


@pytest.mark.parametrize("axes", [2, 3])
def test_every_point_is_where_it_belongs(axes: int) -> None:
    points, names = random(5, axes), ["a", "<b>", "c", "[SEP]", "e"]
    figure = scatter(points, names, [f"Axis {at}" for at in range(axes)], LIGHT, "", marked=2, pale=[3])
    found = drawn(figure)
    assert len(figure.data) == 3
    for at, name in enumerate(["a", "&lt;b&gt;", "c", "[SEP]", "e"]):
        assert found[name] == pytest.approx(points[at].tolist())
    assert [trace.marker.color for trace in figure.data if "c" in trace.customdata] == [LIGHT.accent]
    if axes == 2:
        assert figure.layout.yaxis.scaleanchor == "x", "distances are to scale"
    else:
        assert figure.layout.scene.aspectmode == "data"


def test_names_never_cover_each_other() -> None:
    points = np.array([[0, 0], [0.001, 0], [0.002, 0], [0.003, 0], [0.004, 0], [0.005, 0], [10, 5]], dtype=np.float32)
    names = [f"a long name {at}" for at in range(7)]
    figure = scatter(points, names, ["1", "2"], LIGHT, "")
    shown = [name for name in figure.data[0].text if name]
    assert names[0] in shown
    assert names[6] in shown
    assert len(shown) < 7
    assert list(figure.data[0].customdata) == names, "the hover text has them all"


def test_many_points_have_no_names_beside_them() -> None:
    figure = scatter(random(NAMED + 1, 2), ["x"] * (NAMED + 1), ["1", "2"], LIGHT, "")
    assert figure.data[0].mode == "markers"


def test_lines_through_the_levels() -> None:
    pairs = {"sentences 1 and 2": np.array([1, 0.5, 0.25]), "sentences 1 and 3": np.array([1, 0.75, -0.5])}
    baseline = np.array([0.1, 0.2, 0.3])
    figure = context_lines(pairs, baseline, ["Embeddings", "After layer 0", "After layer 1"], LIGHT, "<bank>")
    assert [trace.name for trace in figure.data] == [*pairs, "different words, mean"]
    np.testing.assert_array_equal(figure.data[1].y, pairs["sentences 1 and 3"])
    np.testing.assert_array_equal(figure.data[2].y, baseline)
    assert len({(trace.line.color, trace.line.dash) for trace in figure.data}) == 3
    assert figure.layout.yaxis.range[0] <= -0.5
    assert "&lt;bank&gt;" in figure.layout.title.text
