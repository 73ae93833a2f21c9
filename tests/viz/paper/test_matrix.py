"""Images of a head's map: size, labels without overlap, and equal bytes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

from attention.tokens import TokenRow
from attention.view import View
from i18n import use_language
from tests.support.cases import loop_over
from tests.support.traces import record, sentence_trace
from viz.export import TooLong
from viz.paper.matrix import draw_matrix, plan_labels
from viz.paper.page import FORMATS, PaperOptions, render
from viz.static.head import color_weights

WORDS = ("animal", "because", "didn", "##ing", "$x$", "_sub^", "street", "it", "comfortable", "unbelievable")


def view_of_length(count: int) -> View:
    """Return a view of a text with ``count`` tokens, some of them long or with the signs of formulas."""
    pieces = tuple(WORDS[at % len(WORDS)] for at in range(count))
    row = TokenRow(pieces, tuple(range(count)), tuple(range(count)), (0,) * count, ((0, 1),) * count)
    return View(sentence_trace(source=row, parts={"encoder": (record(count, count),)}))


def texts_of(figure: Any) -> list[Any]:
    """Return the drawn texts of an image that are not empty."""
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def overlaps(figure: Any) -> list[tuple[str, str]]:
    """Return the pairs of texts whose boxes overlap, measured in the drawn figure."""
    figure.set_dpi(288)  # four pixels per point
    renderer = figure.canvas.get_renderer()
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts_of(figure)]
    return [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]


@loop_over("count", [1, 2, 16, 33])
@pytest.mark.parametrize("size", [7, 8])
def test_up_to_33_tokens_have_their_labels_in_a_column(count: int, size: int) -> None:
    view = view_of_length(count)
    figure: Any = draw_matrix(view, 0, 1, PaperOptions(width="column", size=size))
    assert figure.get_size_inches()[0] == pytest.approx(3.3)
    labels = [text for text in texts_of(figure) if text.get_color() != "#5f6168"]
    assert min(text.get_fontsize() for text in texts_of(figure)) >= 7
    assert len(labels) == 2 * count + 3, "every query and key, and three numbers of the colour bar"
    assert overlaps(figure) == []
    inside = figure.bbox
    for text in labels:
        box = text.get_window_extent(figure.canvas.get_renderer())
        assert box.x0 >= inside.x0, text.get_text()
        assert box.x1 <= inside.x1, text.get_text()


@loop_over("count", [34, 200])
def test_labels_of_longer_texts_are_thinned_and_keep_their_size(count: int) -> None:
    figure = draw_matrix(view_of_length(count), 0, 1, PaperOptions(width="column", size=7))
    assert {text.get_fontsize() for text in texts_of(figure)} == {7}
    assert overlaps(figure) == []
    assert figure.get_size_inches()[1] < 9, "it fits on a page"


def test_two_tiers_alternate_and_a_single_tier_leaves_out() -> None:
    assert plan_labels(6, 5, 9, tiers=2).tiers == (0, 1, 0, 1, 0, 1)
    assert plan_labels(6, 4, 9, tiers=2).indices == (0, 3)
    assert plan_labels(6, 9, 9).indices == tuple(range(6))


@pytest.mark.parametrize("file_format", FORMATS)
def test_equal_views_give_equal_bytes(file_format: str) -> None:
    view = view_of_length(6)
    first, second = (render(lambda: draw_matrix(view, 0, 1, PaperOptions()), file_format) for _ in range(2))
    other = render(lambda: draw_matrix(view, 0, 2, PaperOptions()), file_format)
    assert first == second != other


def test_pdf_files_embed_their_fonts_as_outlines() -> None:
    content = render(lambda: draw_matrix(view_of_length(6), 0, 1, PaperOptions()), "pdf")
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    svg = render(lambda: draw_matrix(view_of_length(6), 0, 1, PaperOptions()), "svg").decode()
    assert "<text" not in svg
    assert "<image" not in svg, "cells are shapes"


def test_cells_have_the_colours_and_places_of_their_weights() -> None:
    view = view_of_length(3)
    cells: Any = draw_matrix(view, 0, 1, PaperOptions()).axes[0].collections[0]
    weights = view.weights(0, 1)
    expected = color_weights(weights, float(weights.max())).reshape(-1, 3) / 255
    np.testing.assert_allclose(cells.get_facecolor()[:, :3], expected)
    second, fourth = (cells.get_paths()[at].vertices.mean(axis=0) for at in (1, 3))
    first = cells.get_paths()[0].vertices.mean(axis=0)
    assert second[0] > first[0], "the second key is further right"
    assert fourth[1] > first[1], "the second query is further down"


def test_captions_and_frames_are_optional() -> None:
    view = view_of_length(4)
    plain, more = (draw_matrix(view, 0, 1, PaperOptions(caption=shown, frame=shown)) for shown in (False, True))
    with use_language("zh"):
        chinese = {text.get_text() for text in texts_of(draw_matrix(view, 0, 1, PaperOptions()))}
    assert {"查询", "键"} <= chinese
    assert len(texts_of(more)) > len(texts_of(plain))
    assert len(more.axes[0].patches) == len(plain.axes[0].patches) + 1


def test_a_map_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.export.MOST_CELLS", 8)
    with pytest.raises(TooLong, match="8"):
        draw_matrix(view_of_length(3), 0, 1, PaperOptions())
