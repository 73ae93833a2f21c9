"""The shapes of a picture, the layout of their texts, and their export as SVG and PNG.

Coordinates are CSS pixels from the upper left corner.
"""

from __future__ import annotations

import base64
import html
import io
import re
import struct
import unicodedata
import zlib
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from viz.colors import Colors

if TYPE_CHECKING:
    from PIL import Image, ImageFont


_SQUARE = "\u2e80-\u2fff\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_OPEN, _CLOSE = "（《「『“‘", "，。、；：！？）》」』”’…"
# An unbreakable unit with the spaces after it: a square character and the marks around it, or a word.
_UNIT = re.compile(f"(?:[{_OPEN}]*[{_SQUARE}][{_CLOSE}]*|(?:(?![{_OPEN}]+[{_SQUARE}])[^ {_SQUARE}])+| ) *")

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A frame without a fill."""

    x: float
    y: float
    width: float
    height: float
    stroke: str
    thick: float = 1


@dataclass(frozen=True)
class Cells:
    """Coloured cells (row, column), given by their RGB colours, that fill a rectangle."""

    x: float
    y: float
    width: float
    height: float
    colours: Colors


@dataclass(frozen=True)
class Text:
    """A line of text with its vertical middle at ``y``.

    ``turned`` text reads upwards and has its horizontal middle at ``x``.
    """

    text: str
    x: float
    y: float
    size: int
    fill: str
    anchor: Anchor = "start"
    bold: bool = False
    turned: bool = False


Shape = Box | Cells | Text


@dataclass(frozen=True)
class StaticPicture:
    """A picture: shapes on white, in drawing order; ``about`` is its title, a single line."""

    width: int
    height: int
    shapes: tuple[Shape, ...]
    about: str


def printable_text(text: str) -> str:
    """Return a text on a single line, with U+FFFD for characters that no font draws.

    >>> printable_text("a\\nb\\x00")
    'a b�'
    """
    line = " ".join(text.split("\n"))
    return "".join("\ufffd" if unicodedata.category(letter) in ("Cc", "Cs", "Cn") else letter for letter in line)


def width(text: str, size: float) -> float:
    """Return the approximate width of a text: ``size`` per Chinese character, 0.64 · ``size`` per other character.

    >>> width("猫", 12), round(width("cat", 12), 1)
    (12, 23.0)
    """
    return sum(size if unicodedata.east_asian_width(letter) in "WF" else 0.64 * size for letter in text)


def elide_text(text: str, room: float, size: float) -> str:
    """Return a text cut to a width of ``room`` pixels; a cut text ends in "…".

    >>> elide_text("the animal", 40, 12)
    'the…'
    """
    end, used, fits = width("…", size), 0.0, 0
    for at, letter in enumerate(text, 1):
        used += width(letter, size)
        if used > room:
            return f"{text[:fits].rstrip()}…"
        fits = at if used + end <= room else fits
    return text


def wrap_text(text: str, room: float, size: float) -> list[str]:
    """Break a text into lines of at most ``room`` pixels; a word that is too long for a line is cut.

    Chinese text breaks anywhere except before a closing punctuation mark or after an opening mark.

    >>> wrap_text("it looks back at the animal", 90, 12)
    ['it looks', 'back at the', 'animal']
    >>> wrap_text("因为它太累了，BERT 说。", 72, 12)
    ['因为它太累', '了，BERT', '说。']
    """
    lines = [""]
    for word in _UNIT.findall(text):
        longer = lines[-1] + word
        if lines[-1] and width(longer.rstrip(), size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return [elide_text(line.rstrip(" "), room, size) for line in lines]


FONTS = "Helvetica, Arial, 'DejaVu Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif"
RECTANGLES = 4096  # cells that are drawn as rectangles at most; more become an image


def svg(picture: StaticPicture, rectangles: int = RECTANGLES) -> bytes:
    """Return the picture as an SVG file; texts are escaped.

    Cells are rectangles, or an embedded PNG image if there are more than ``rectangles``.
    """
    drawn = "\n".join(_shape_svg(shape, rectangles) for shape in picture.shapes)
    size = f'width="{picture.width}" height="{picture.height}" viewBox="0 0 {picture.width} {picture.height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONTS}">
<title>{html.escape(picture.about)}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
{drawn}
</svg>
""".encode()


def _shape_svg(shape: Shape, rectangles: int) -> str:
    if isinstance(shape, Box):
        return (
            f'<rect x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" height="{shape.height:g}" fill="none" '
            f'stroke="{shape.stroke}" stroke-width="{shape.thick:g}"/>'
        )
    return _text(shape) if isinstance(shape, Text) else _cells(shape, rectangles)


def _text(shape: Text) -> str:
    turned = f' transform="rotate(-90 {shape.x:g} {shape.y:g})"' if shape.turned else ""
    bold = ' font-weight="600"' if shape.bold else ""
    return (
        f'<text x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size}" fill="{shape.fill}" '
        f'text-anchor="{shape.anchor}" dy=".35em"{bold}{turned}>{html.escape(shape.text)}</text>'
    )


def _cells(shape: Cells, rectangles: int) -> str:
    rows, columns = shape.colours.shape[:2]
    if rows * columns > rectangles:
        data = base64.b64encode(image(shape.colours)).decode()
        return (
            f'<image x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" height="{shape.height:g}" '
            f'preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
        )
    wide, tall = shape.width / columns, shape.height / rows
    drawn = "\n".join(
        f'<rect x="{shape.x + column * wide:g}" y="{shape.y + row * tall:g}" width="{wide + 0.05:g}" '
        f'height="{tall + 0.05:g}" fill="#{bytes(shape.colours[row, column]).hex()}"/>'
        for row in range(rows)
        for column in range(columns)
    )
    return f'<g shape-rendering="crispEdges">\n{drawn}\n</g>'


def image(colours: Colors) -> bytes:
    """Return a PNG image with a pixel for each cell of ``colours``, (row, column, RGB)."""
    rows, columns = colours.shape[:2]
    lines = b"".join(b"\0" + row.tobytes() for row in colours)
    parts = {
        b"IHDR": struct.pack(">2I5B", columns, rows, 8, 2, 0, 0, 0),
        b"IDAT": zlib.compress(lines, 9),
        b"IEND": b"",
    }
    framed = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


RATIO = 3  # pixels of the file for each pixel of the picture
# File names of common fonts, those with the most alphabets last. A picture uses the first font that has all of its
# characters, or else a few fonts that have them together.
FONT_FILES = (
    "DejaVuSans.ttf", "Arial.ttf", "arial.ttf", "Helvetica.ttc", "Arial Unicode.ttf",
    "PingFang.ttc", "msyh.ttc", "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansSC-Regular.ttf",
    "SourceHanSansSC-Regular.otf", "wqy-zenhei.ttc", "wqy-microhei.ttc",
)  # fmt: skip
NO_LETTER = "\uffff"  # a noncharacter, for which a font draws its glyph for missing characters


class PaintError(ValueError):
    """Raised if a picture cannot be written as PNG; the message names the missing part and the remedy."""


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
    """Return the names of a few fonts that together have all these characters; "" is Pillow's own font.

    The fonts are chosen greedily: each has most of the characters that are still missing. Text from right to left is
    drawn as a whole and needs a single font. Raises PaintError if no font has a character, or if Pillow cannot draw
    text from right to left.
    """
    from PIL import features

    turned = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in letters)
    if turned and not features.check("raqm"):
        raise PaintError("Pillow sets text from right to left with FriBiDi, which is not here; write SVG instead.")
    here = [name for name in (*FONT_FILES, "") if font_of(name, 24) is not None]
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
    """Split a text into runs (font name, text); each run uses the first font of ``names`` that has its characters."""
    if len(names) == 1:
        return [(names[0], text)]
    having = {
        letter: next((name for name in names if not missing_glyphs(name, letter)), names[0]) for letter in set(text)
    }
    return [(name, "".join(run)) for name, run in groupby(text, key=having.__getitem__)]


def write(canvas: Image.Image, shape: Text, names: tuple[str, ...]) -> None:
    """Draw a line of text on an image; rotated text is drawn on a separate image, turned, and pasted."""
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
