"""PNG files of pictures, painted by Pillow with an installed font or with Pillow's own."""

from __future__ import annotations

import io
import unicodedata
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from viz.static.shapes import Box, Cells, StaticPicture, Text

if TYPE_CHECKING:
    from PIL import Image, ImageFont

RATIO = 3  # pixels of the file for each pixel of the picture
# File names of common fonts, those with the most alphabets last. A picture uses the first font that has all of its
# characters, or else a few fonts that have them together.
FONTS = (
    "DejaVuSans.ttf", "Arial.ttf", "arial.ttf", "Helvetica.ttc", "Arial Unicode.ttf",
    "PingFang.ttc", "msyh.ttc", "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansSC-Regular.ttf",
    "SourceHanSansSC-Regular.otf", "wqy-zenhei.ttc", "wqy-microhei.ttc",
)  # fmt: skip
NO_LETTER = "\uffff"  # a noncharacter, for which a font draws its glyph for missing characters


class PaintError(ValueError):
    """Raised if a picture cannot be painted; the message names the missing part and the remedy."""


def png(picture: StaticPicture) -> bytes:
    """Return the picture as a PNG file.

    Raises PaintError if Pillow is not installed, or if no known font has the characters.
    """
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
    """Return fonts that together have all these characters, chosen greedily to be few.

    The fonts are names of FONTS; "" is Pillow's own font. Text from right to left is drawn as a whole, and so
    needs a single font. Raises PaintError if a character has no font, or if Pillow cannot draw text from right to
    left.
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
        best = min(here, key=lambda name: len(missing[name]))  # the font with the fewest missing characters
        if len(missing[best]) == len(left) > 0 or (turned and missing[best]):
            raise PaintError(
                f"No font that Headlight knows on this machine has {' '.join(missing[best][:8])}; write SVG, which the "
                "reader's fonts draw, or install Noto Sans CJK."
            )
        names, left = (*names, best), missing[best]
    return names


def missing_glyphs(name: str, letters: str) -> str:
    """Return the characters for which an installed font has no glyph."""
    font = font_of(name, 24)
    assert font is not None
    nothing = bytes(font.getmask(NO_LETTER))
    return "".join(letter for letter in letters if not letter.isspace() and bytes(font.getmask(letter)) == nothing)


@cache
def font_of(name: str, size: int) -> ImageFont.FreeTypeFont | Any:
    """Return an installed font, or None if the name is unknown; "" is the font of Pillow."""
    from PIL import ImageFont

    try:
        return ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
    except OSError:
        return None


def runs(text: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Split a text into runs (font name, text), each in the first font that has its characters."""
    if len(names) == 1:
        return [(names[0], text)]
    having = {
        letter: next((name for name in names if not missing_glyphs(name, letter)), names[0]) for letter in set(text)
    }
    return [(name, "".join(run)) for name, run in groupby(text, key=having.__getitem__)]


def write(canvas: Image.Image, shape: Text, names: tuple[str, ...]) -> None:
    """Draw a line of text; turned text is drawn on a separate image, which is rotated and pasted."""
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
