"""Tests of static pictures: colours match the weights, and hostile text stays text."""

from __future__ import annotations

import base64
import io
import re
import sys
import xml.etree.ElementTree as ET
from functools import cache
from typing import Any

import numpy as np
import pytest
from PIL import Image

from attention.view import View
from i18n import use_language
from tests.support.chinesetexts import sentences
from tests.support.traces import sentence_trace
from tests.viz.test_export import HOSTILE, hostile_trace
from viz.colors import sequential_ramp
from viz.export import TooLong
from viz.static import shapes as painting
from viz.static.head import CELL, color_weights, picture
from viz.static.shapes import RATIO, Anchor, Cells, PaintError, StaticPicture, Text, elide_text, image, png, svg

SVG = "{http://www.w3.org/2000/svg}"


def cells(made: StaticPicture) -> Cells:
    return next(shape for shape in made.shapes if isinstance(shape, Cells))


def test_svg_has_every_weight_as_its_colour_and_every_token_as_text() -> None:
    view = View(sentence_trace())
    weights = view.weights(1, 2)
    root = ET.fromstring(svg(picture(view, 1, 2, 1)))
    fills = [box.get("fill") for box in root.find(f"{SVG}g") or ()]
    assert len(fills) == weights.size
    top = weights.max()
    for fill, weight in zip(fills, weights.reshape(-1), strict=True):
        assert fill == f"#{bytes(sequential_ramp()[round(255 * float(np.sqrt(weight / top)))]).hex()}"
    texts = [text.text for text in root.iter(f"{SVG}text")]
    for cell in view.queries:
        assert texts.count(cell.label) >= 2
    told = " ".join(text or "" for text in texts)
    assert "head 1-2 · square-root colour scale · layers, heads and positions counted from 0" in told
    assert told.endswith("tiny · “playing chess.”")
    with use_language("zh"):
        chinese = svg(picture(view, 1, 2, 1)).decode()
    assert "头 1-2 · 平方根色阶" in chinese
    assert "head" not in chinese


def test_what_a_text_or_a_model_brings_is_text() -> None:
    content = svg(picture(View(hostile_trace()), 0, 0))
    root = ET.fromstring(content)
    assert b"<script" not in content
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {"svg", "title", "rect", "g", "text"}
    assert any((text.text or "").startswith(HOSTILE[:9]) for text in root.iter(f"{SVG}text"))


def test_a_png_carries_nothing_but_its_picture() -> None:
    """The PNG has no text chunks, in which other programs could interpret a token."""
    content, at, kinds = png(picture(View(hostile_trace()), 0, 0)), 8, []
    while at < len(content):
        kinds.append(content[at + 4 : at + 8])
        at += 12 + int.from_bytes(content[at : at + 4], "big")
    assert set(kinds) == {b"IHDR", b"pHYs", b"IDAT", b"IEND"}


def test_png_has_the_same_colours_in_the_same_places() -> None:
    view = View(sentence_trace())
    made = picture(view, 0, 1)
    painted = Image.open(io.BytesIO(png(made)))
    assert painted.size == (made.width * RATIO, made.height * RATIO)
    area = cells(made)
    for row, column in np.ndindex(*view.weights(0, 1).shape):
        middle = (area.x + (column + 0.5) * CELL) * RATIO, (area.y + (row + 0.5) * CELL) * RATIO
        assert painted.getpixel((int(middle[0]), int(middle[1]))) == tuple(area.colours[row, column])
    left = np.asarray(painted.convert("L"))[:, : int((area.x - 8) * RATIO)]
    assert (left < 128).sum() > 100, "the tokens beside the map are painted"


def test_a_large_map_is_an_image_of_its_largest_weights() -> None:
    weights = np.zeros((900, 900), np.float32)
    weights[899, 0] = 1
    many = color_weights(weights, 1)
    shape = Cells(0, 0, 900, 900, many)
    (data,) = re.findall(rb'href="data:image/png;base64,([^"]+)"', svg(StaticPicture(900, 900, (shape,), "")))
    seen = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))
    assert (seen == many).all()
    assert seen[899, 0].tolist() == sequential_ramp()[255].tolist()


def test_an_image_of_its_own_is_read_by_others() -> None:
    colours = np.random.default_rng(0).integers(0, 256, (3, 5, 3)).astype(np.uint8)
    assert (np.asarray(Image.open(io.BytesIO(image(colours)))) == colours).all()


def test_a_text_beyond_any_picture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.static.head.MOST_CELLS", 30)
    with pytest.raises(TooLong, match=r"at most 30 weights; .* 36"):
        picture(View(sentence_trace()), 0, 0)


def test_letters_that_no_font_here_has_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting, "FONT_FILES", ("NoSuchFont.ttf",))
    made = StaticPicture(40, 20, (Text("ok \U000120ab", 0, 9, 12, "#000000"),), "")
    with pytest.raises(PaintError, match="has 𒂫;"):
        png(made)
    assert png(StaticPicture(40, 20, (Text("ok", 0, 9, 12, "#000000"),), ""))


@cache
def chinese() -> bool:
    """Return True if any of the fonts is installed and has the Chinese character 猫."""
    return any(
        painting.font_of(name, 24) is not None and not painting.missing_glyphs(name, "猫")
        for name in painting.FONT_FILES
    )


@pytest.mark.slow
def test_every_letter_of_five_hundred_chinese_sentences_is_painted_or_it_says_that_no_font_has_them() -> None:
    letters = "".join(sorted(set("".join(sentences()))))
    if chinese():
        names = painting.fonts_for(letters)
        lost = [letter for letter in letters if all(painting.missing_glyphs(name, letter) for name in names)]
        assert lost == []
    else:
        with pytest.raises(PaintError, match="install Noto"):
            painting.fonts_for(letters)


def test_each_letter_is_painted_by_a_font_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several fonts together cover a text that no single font covers; the runs keep the order of the text."""
    fonts = {"Latin.ttf": "ab ", "Chinese.ttc": "猫狗。"}
    monkeypatch.setattr(painting, "FONT_FILES", tuple(fonts))
    monkeypatch.setattr(painting, "font_of", lambda name, _size: name or None)
    monkeypatch.setattr(
        painting, "missing_glyphs", lambda name, letters: "".join(one for one in letters if one not in fonts[name])
    )
    assert painting.fonts_for("ab") == ("Latin.ttf",)
    assert painting.fonts_for("猫") == ("Chinese.ttc",)
    names = painting.fonts_for("a猫 b。")
    assert painting.runs("a猫 b。", names) == [
        ("Latin.ttf", "a"), ("Chinese.ttc", "猫"), ("Latin.ttf", " b"), ("Chinese.ttc", "。"),
    ]  # fmt: skip
    with pytest.raises(PaintError, match="has 龙;"):
        painting.fonts_for("a猫龙")


@pytest.mark.parametrize(("anchor", "turned"), [("start", False), ("middle", False), ("end", False), ("start", True)])
def test_a_text_in_runs_stands_where_one_in_a_single_font_would(
    monkeypatch: pytest.MonkeyPatch, anchor: Anchor, turned: bool
) -> None:
    made = StaticPicture(99, 99, (Text("aa bb", 50, 50, 12, "#000000", anchor, turned=turned),), "")
    whole = png(made)
    monkeypatch.setattr(painting, "runs", lambda _text, names: [(names[0], "aa "), (names[0], "bb")])
    apart = np.asarray(Image.open(io.BytesIO(png(made)))).astype(int)
    together = np.asarray(Image.open(io.BytesIO(whole))).astype(int)
    assert (together < 128).any()
    assert np.abs(apart - together).mean() < 0.5, "no more than edges differ"


def test_without_pillow_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    made: Any = StaticPicture(40, 20, (), "")
    with pytest.raises(PaintError, match="install pillow"):
        png(made)


def test_a_label_of_a_million_letters_is_cut_in_one_go() -> None:
    """Removing letters individually from the end would take days."""
    assert elide_text("9" * 10**6, 8 * 0.64 * 12, 12) == "9" * 7 + "…"
