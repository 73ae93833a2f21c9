"""Images for papers: their options, fonts and files, drawn by matplotlib without a display."""

from __future__ import annotations

import io
import textwrap
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from i18n import gettext_lazy

if TYPE_CHECKING:  # Pages need the options only; matplotlib is imported when an image is drawn.
    from matplotlib.figure import Figure as PaperFigure
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

FORMATS = {"pdf": "application/pdf", "svg": "image/svg+xml", "png": "image/png"}
WIDTHS = {"column": 3.3, "page": 7.0}  # inches: a column of a two-column paper, and its page
SMALLEST, LARGEST, USUAL = 7, 14, 8  # points of the labels
DOTS = 600  # dots per inch of a PNG file
POINTS = 72  # points per inch
LEADING = 1.2  # distance between two lines of text, in font sizes
INK, MUTED, HAIR = "#1e2028", "#5f6168", "#d4d5d9"
# Fonts for Chinese; those that this computer lacks are left out.
HAN_FONTS = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
)

Value = TypeVar("Value")
_DRAWING = threading.Lock()  # matplotlib's caches of fonts are not safe for threads


class BadOption(ValueError):
    """Raised if an option of an image for a paper has an unknown value."""


@dataclass(frozen=True)
class PaperOptions:
    """The options of an image for a paper: file format, width, font size in points, frame and caption."""

    format: str = "pdf"
    width: str = "column"
    size: int = USUAL
    frame: bool = True
    caption: bool = False

    @property
    def points(self) -> float:
        """Return the width in points."""
        return WIDTHS[self.width] * POINTS

    @property
    def line(self) -> float:
        """Return the distance between two lines of text in points."""
        return self.size * LEADING


def paper_options(fields: Mapping[str, str]) -> PaperOptions:
    """Return the options of an image from the fields of a query; raise BadOption for an unknown value.

    >>> paper_options({"format": "png", "size": "9", "frame": "0"})
    PaperOptions(format='png', width='column', size=9, frame=False, caption=False)
    """
    sizes = {str(size): size for size in range(SMALLEST, LARGEST + 1)}
    return PaperOptions(
        _choice(fields, "format", {name: name for name in FORMATS}, "pdf"),
        _choice(fields, "width", {name: name for name in WIDTHS}, "column"),
        _choice(fields, "size", sizes, USUAL),
        _choice(fields, "frame", {"0": False, "1": True}, True),
        _choice(fields, "caption", {"0": False, "1": True}, False),
    )


def _choice(fields: Mapping[str, str], name: str, choices: Mapping[str, Value], default: Value) -> Value:
    raw = fields.get(name)
    if raw is None:
        return default
    if raw not in choices:
        raise BadOption(
            gettext_lazy(
                "“{name}” is {raw!r}; expected one of {choices}.", name=name, raw=raw[:20], choices=", ".join(choices)
            )
        )
    return choices[raw]


def render(draw: Callable[[], PaperFigure], file_format: str) -> bytes:
    """Return the figure that ``draw`` creates as a file; equal figures give equal bytes.

    ``file_format`` is a key of FORMATS.
    """
    from matplotlib import rc_context

    without_date = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[file_format]
    page = io.BytesIO()
    # Fonts are embedded as TrueType in PDF files and as outlines in SVG files, whose ids depend only on their content.
    ways = rc_context({"pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "headlight"})
    with _DRAWING, ways, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # It is drawn as a box.
        draw().savefig(page, format=file_format, dpi=DOTS, metadata=without_date)
    return page.getvalue()


def blank_figure(width: float, height: float) -> PaperFigure:
    """Return an empty white figure of the given size in points, with a canvas that can measure text."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / POINTS, height / POINTS), dpi=POINTS, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


@cache
def paper_font(size: float, bold: bool = False) -> FontProperties:
    """Return the font of a size in points, with a font for Chinese if this computer has one."""
    from matplotlib.font_manager import FontProperties, fontManager

    known = {font.name for font in fontManager.ttflist}
    names = ["DejaVu Sans", *(name for name in HAN_FONTS if name in known)]
    return FontProperties(family=names, size=size, weight="bold" if bold else "normal")


def text_width(text: str, size: float) -> float:
    """Return the width of a text in points.

    >>> text_width("", 8), 20 < text_width("animal", 8) < 35
    (0.0, True)
    """
    if not text:
        return 0.0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        return float(_text_path().get_text_width_height_descent(text, paper_font(size), False)[0])


@cache
def _text_path() -> TextToPath:
    from matplotlib.textpath import TextToPath

    return TextToPath()


def shorten(text: str, size: float, most: float) -> str:
    """Return a text cut to ``most`` points; a cut text ends in "…".

    >>> shorten("animal", 8, 100), shorten("antidisestablishmentarianism", 8, 50)[-1]
    ('animal', '…')
    """
    if text_width(text, size) <= most:
        return text
    cut = text
    while cut and text_width(f"{cut}…", size) > most:
        cut = cut[:-1]
    return f"{cut}…"


def caption_lines(text: str, size: float, width: float) -> list[str]:
    """Return a caption as lines that fit into ``width`` points.

    >>> caption_lines("head 3-1 of all-MiniLM-L6-v2", 8, 90)
    ['head 3-1 of all-', 'MiniLM-L6-v2']
    """
    letters = max(8, int(width / text_width("n", size)))
    return textwrap.wrap(text, letters) if text else []
