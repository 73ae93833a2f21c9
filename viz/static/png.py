"""A picture as PNG, painted by Pillow with a font of this machine, or with the one that Pillow brings."""

from __future__ import annotations

import io
import unicodedata
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from viz.static.shapes import Box, Cells, StaticPicture, Text

if TYPE_CHECKING:
    from PIL import Image, ImageFont

RATIO = 3  # pixels of the file for one of the picture
# Files of fonts as systems call them, those with the most alphabets last: the first that has all letters is taken,
# or else a few that have them together.
FONTS = (
    "DejaVuSans.ttf", "Arial.ttf", "arial.ttf", "Helvetica.ttc", "Arial Unicode.ttf",
    "PingFang.ttc", "msyh.ttc", "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansSC-Regular.ttf",
    "SourceHanSansSC-Regular.otf", "wqy-zenhei.ttc", "wqy-microhei.ttc",
)  # fmt: skip
NO_LETTER = "\uffff"  # what a font draws for it, it draws for all that it lacks


class PaintError(ValueError):
    """One sentence: what is missing to paint a picture, and how to have it."""


def png(picture: StaticPicture) -> bytes:
    """The file; raises CannotPaint where Pillow is not installed, or no font here has the letters."""
    try:
        from PIL import Image, ImageDraw
    except ModuleNotFoundError as missing:
        raise PaintError("A PNG needs Pillow (pip install pillow); SVG needs nothing.") from missing
    names = fonts_for(
        "".join(sorted({letter for shape in picture.shapes if isinstance(shape, Text) for letter in shape.text}))
    )
    canvas = Image.new("RGB", (picture.width * RATIO, picture.height * RATIO), "#ffffff")
    draw = ImageDraw.Draw(canvas)
    for shape in picture.shapes:
        if isinstance(shape, Text):
            write(canvas, shape, names)
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


def fonts_for(letters: str) -> tuple[str, ...]:
    """Fonts of FONTS here that have these letters together, as few as will do, "" for Pillow's own; raises CannotPaint.

    A text from right to left is set as a whole, and so in one font.
    """
    from PIL import features

    turned = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in letters)
    if turned and not features.check("raqm"):
        raise PaintError("Pillow sets text from right to left with FriBiDi, which is not here; write SVG instead.")
    here = [name for name in (*FONTS, "") if font_of(name, 24) is not None]
    names: tuple[str, ...] = ()
    left = letters
    while left or not names:
        missing = {name: missing_glyphs(name, left) for name in here}
        best = min(here, key=lambda name: len(missing[name]))  # the first of those that lack the fewest
        if len(missing[best]) == len(left) > 0 or (turned and missing[best]):
            raise PaintError(
                f"No font that Headlight knows on this machine has {' '.join(missing[best][:8])}; write SVG, which the "
                "reader's fonts draw, or install Noto Sans CJK."
            )
        names, left = (*names, best), missing[best]
    return names


def missing_glyphs(name: str, letters: str) -> str:
    """Those of the letters that a font of this machine has no shape for."""
    font = font_of(name, 24)
    assert font is not None
    nothing = bytes(font.getmask(NO_LETTER))
    return "".join(letter for letter in letters if not letter.isspace() and bytes(font.getmask(letter)) == nothing)


@cache
def font_of(name: str, size: int) -> ImageFont.FreeTypeFont | Any:
    """A font of this machine, None where there is none of that name; "" is the one that Pillow brings."""
    from PIL import ImageFont

    try:
        return ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
    except OSError:
        return None


def runs(text: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """A text in runs, each with the name of its font: the first that has the letter."""
    if len(names) == 1:
        return [(names[0], text)]
    having = {
        letter: next((name for name in names if not missing_glyphs(name, letter)), names[0]) for letter in set(text)
    }
    return [(name, "".join(run)) for name, run in groupby(text, key=having.__getitem__)]


def write(canvas: Image.Image, shape: Text, names: tuple[str, ...]) -> None:
    """A line of text; one that is turned is written on a sheet of its own, which is turned and laid on top."""
    from PIL import Image, ImageDraw

    x, y, bold = shape.x * RATIO, shape.y * RATIO, RATIO / 3 if shape.bold else 0
    parts = [(font_of(name, shape.size * RATIO), run) for name, run in runs(shape.text, names)]
    long = sum(font.getlength(run) for font, run in parts)
    tall = 2 * shape.size * RATIO
    sheet = canvas if not shape.turned else Image.new("L", (round(long) + 4, tall), 0)
    at = 0 if shape.turned else x - long * {"start": 0, "middle": 0.5, "end": 1}[shape.anchor]
    for font, run in parts:
        place, fill = ((at, tall / 2), 255) if shape.turned else ((at, y), shape.fill)
        ImageDraw.Draw(sheet).text(place, run, fill, font, "lm", stroke_width=bold)
        at += font.getlength(run)
    if shape.turned:
        turned = sheet.transpose(Image.Transpose.ROTATE_90)
        canvas.paste(shape.fill, (round(x - tall / 2), round(y) - sheet.width), turned)
