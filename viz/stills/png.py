"""A picture as PNG, painted by Pillow with a font of this machine, or with the one that Pillow brings."""

from __future__ import annotations

import io
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

from viz.stills.shapes import Box, Cells, Picture, Text

if TYPE_CHECKING:
    from PIL import Image, ImageFont

RATIO = 3  # pixels of the file for one of the picture
# Files of fonts as systems call them, those with the most alphabets last: the first that has all letters is taken.
FONTS = (
    "DejaVuSans.ttf", "Arial.ttf", "arial.ttf", "Helvetica.ttc", "Arial Unicode.ttf",
    "PingFang.ttc", "msyh.ttc", "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansSC-Regular.ttf",
    "SourceHanSansSC-Regular.otf", "wqy-zenhei.ttc", "wqy-microhei.ttc",
)  # fmt: skip
NO_LETTER = "\uffff"  # what a font draws for it, it draws for all that it lacks


class CannotPaint(ValueError):
    """One sentence: what is missing to paint a picture, and how to have it."""


def png(picture: Picture) -> bytes:
    """The file; raises CannotPaint where Pillow is not installed, or no font here has the letters."""
    try:
        from PIL import Image, ImageDraw
    except ModuleNotFoundError as missing:
        raise CannotPaint("A PNG needs Pillow (pip install pillow); SVG needs nothing.") from missing
    letters = {letter for shape in picture.shapes if isinstance(shape, Text) for letter in shape.text}
    name = font_for("".join(sorted(letters)))
    canvas = Image.new("RGB", (picture.width * RATIO, picture.height * RATIO), "#ffffff")
    draw = ImageDraw.Draw(canvas)
    for shape in picture.shapes:
        if isinstance(shape, Text):
            _write(canvas, shape, _font(name, shape.size * RATIO))
            continue
        left, top, right, bottom = (
            round(RATIO * at) for at in (shape.x, shape.y, shape.x + shape.width, shape.y + shape.height)
        )
        if isinstance(shape, Cells):
            cells = Image.fromarray(shape.colours).resize((right - left, bottom - top), Image.Resampling.NEAREST)
            canvas.paste(cells, (left, top))
        elif isinstance(shape, Box):
            draw.rectangle((left, top, right, bottom), outline=shape.stroke, width=round(shape.thick * RATIO))
    file = io.BytesIO()
    canvas.save(file, "PNG", dpi=(96 * RATIO, 96 * RATIO))
    return file.getvalue()


def font_for(letters: str) -> str:
    """The first font of FONTS here that has these letters, or "" for Pillow's own; raises CannotPaint."""
    from PIL import features

    turned = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in letters)
    if turned and not features.check("raqm"):
        raise CannotPaint("Pillow sets text from right to left with FriBiDi, which is not here; write SVG instead.")
    missing = {name: lacking(name, letters) for name in ("", *FONTS) if _font(name, 24) is not None}
    for name in (*FONTS, ""):
        if missing.get(name) == "":
            return name
    fewest = min(missing.values(), key=len)
    raise CannotPaint(
        f"No font that Headlight knows on this machine has {' '.join(fewest[:8])}; write SVG, which the reader's fonts "
        "draw, or install Noto Sans CJK."
    )


def lacking(name: str, letters: str) -> str:
    """Those of the letters that a font of this machine has no shape for."""
    font = _font(name, 24)
    assert font is not None
    nothing = bytes(font.getmask(NO_LETTER))
    return "".join(letter for letter in letters if not letter.isspace() and bytes(font.getmask(letter)) == nothing)


@cache
def _font(name: str, size: int) -> ImageFont.FreeTypeFont | Any:
    """A font of this machine, None where there is none of that name; "" is the one that Pillow brings."""
    from PIL import ImageFont

    try:
        return ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
    except OSError:
        return None


def _write(canvas: Image.Image, shape: Text, font: Any) -> None:
    """A line of text; one that is turned is written on a sheet of its own, which is turned and laid on top."""
    from PIL import Image, ImageDraw

    x, y, bold = shape.x * RATIO, shape.y * RATIO, RATIO / 3 if shape.bold else 0
    anchor = {"start": "lm", "middle": "mm", "end": "rm"}[shape.anchor]
    if not shape.turned:
        ImageDraw.Draw(canvas).text((x, y), shape.text, shape.fill, font, anchor, stroke_width=bold)
        return
    wide, tall = round(font.getlength(shape.text)) + 4, 2 * shape.size * RATIO
    sheet = Image.new("L", (wide, tall), 0)
    ImageDraw.Draw(sheet).text((0, tall / 2), shape.text, 255, font, "lm", stroke_width=bold)
    turned = sheet.transpose(Image.Transpose.ROTATE_90)
    canvas.paste(shape.fill, (round(x - tall / 2), round(y) - wide), turned)
