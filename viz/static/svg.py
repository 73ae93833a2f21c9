"""SVG files of pictures; text remains text, drawn with the viewer's fonts."""

from __future__ import annotations

import base64
import html
import struct
import zlib

from viz.colors import Colors
from viz.static.shapes import Box, Cells, Shape, StaticPicture, Text

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
    """Return colours, (row, column, RGB), as a PNG file with a pixel for each cell."""
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
