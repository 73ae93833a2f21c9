"""Figures as images for papers: every figure of the gallery, and equal files from a light and from a dark page."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.text import Text

from tests.support.gallery import FIGURES
from viz.figures.theme import DARK, LIGHT, Theme
from viz.paper.chart import draw_chart, is_flat
from viz.paper.page import PaperOptions, render

FLAT = sorted(name for name in FIGURES if is_flat(FIGURES[name](LIGHT)))
BOTH = ("alignment", "bars", "complexity", "head_marks", "relation_scores", "role_map", "two_readings", "word_lines")


def svg(name: str, theme: Theme, options: PaperOptions) -> bytes:
    """Return a figure of the gallery as SVG."""
    figure = FIGURES[name](theme)
    return render(lambda: draw_chart(figure, options, "a model"), "svg")


@pytest.mark.parametrize("names", [FLAT[at::4] for at in range(4)], ids=", ".join)
def test_every_flat_figure_is_drawn_in_readable_type(names: list[str]) -> None:
    for name in names:
        page = draw_chart(FIGURES[name](LIGHT), PaperOptions(size=7), "a model")
        page.canvas.draw()
        texts = [text for text in page.findobj(Text) if text.get_visible() and text.get_text().strip()]
        assert texts, name
        small = {text.get_text() for text in texts if float(text.get_fontsize()) < 6.99}
        assert not small or FIGURES[name](LIGHT).data[0].type == "heatmap", (name, small)
        captioned = draw_chart(FIGURES[name](LIGHT), PaperOptions(caption=True), "a model · " + 12 * "a sentence ")
        for drawn in (page, captioned):
            drawn.draw_without_rendering()
            box = drawn.get_tightbbox()
            assert min(box.x0, box.y0, drawn.get_figheight() - box.y1) >= -0.001, f"{name} is cut off"


@pytest.mark.parametrize("name", BOTH)
def test_a_dark_page_gives_the_same_file_as_a_light_page(name: str) -> None:
    options = PaperOptions("svg", caption=True)
    assert svg(name, DARK, options) == svg(name, LIGHT, options)


@pytest.mark.parametrize(("file_format", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_each_format_is_a_file_of_its_kind(file_format: str, start: bytes) -> None:
    figure = FIGURES["bars"](LIGHT)
    assert render(lambda: draw_chart(figure, PaperOptions(file_format)), file_format).startswith(start)


@pytest.mark.parametrize(("width", "points"), [("column", 237.6), ("page", 504.0)])
def test_the_image_has_the_width_of_the_paper(width: str, points: float) -> None:
    found = re.search(rb'<svg[^>]* width="([\d.]+)pt"', svg("bars", LIGHT, PaperOptions("svg", width)))
    assert found is not None
    np.testing.assert_allclose(float(found[1]), points, atol=0.1)


def test_the_caption_is_left_out_if_it_is_not_wanted() -> None:
    with_it, without = (svg("bars", LIGHT, PaperOptions("svg", caption=wanted)) for wanted in (True, False))
    assert len(without) < len(with_it)


def test_a_figure_in_space_is_not_flat() -> None:
    assert not is_flat(FIGURES["scatter_solid"](LIGHT))
