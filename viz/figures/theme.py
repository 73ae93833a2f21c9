"""Colours, fonts, margins and labels shared by all figures."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.colors import read_colors


def escape_label(text: str) -> str:
    """Return a token escaped for plotly, which reads "<b>" and "&lt;" in labels as markup.

    >>> escape_label("<b>&")
    '&lt;b&gt;&amp;'
    """
    return html.escape(text, quote=False)


def truncate(text: str, most: int = 18) -> str:
    """Return a token cut to at most ``most`` characters; a cut token ends in "…".

    >>> truncate("antidisestablishmentarianism")
    'antidisestablishm…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


FONT = '"Source Sans", "Source Sans Pro", sans-serif'  # the font of the app
ABOVE, BELOW = 48, 8  # pixels for the title, and pixels under a figure without a legend
LEGEND, LEGENDS = 60, 90  # pixels for a legend in a single line, and in several lines on a phone
BAR = 46  # additional pixels above a map for the colour note and the colour bar

Figure = go.Figure  # the return type of every figure function, for modules that do not import plotly


@dataclass(frozen=True)
class Theme:
    """The colours of figures on a light or a dark page, as CSS colours."""

    text: str
    grid: str
    heads: str  # colour of heads that are not selected
    accent: str  # colour of the selection
    line: str  # colour of means and reference lines


LIGHT = Theme(text="#31333f", grid="#e6e6ea", heads="#0072b2", accent="#d55e00", line="#31333f")
DARK = Theme(text="#e8e8ec", grid="#33353f", heads="#56b4e9", accent="#e69f00", line="#e8e8ec")


def empty(theme: Theme, title: str, x: str, y: str) -> go.Figure:
    """Return a figure without data, with title, axis names, transparent background, and the legend below.

    ``title`` is text, not markup; the axis names ``x`` and ``y`` are markup, and get a capital letter.
    """
    axis = {"gridcolor": theme.grid, "zeroline": False, "linecolor": theme.grid, "automargin": True}
    return go.Figure(
        layout={
            "template": None,
            "title": {"text": escape_label(title), "x": 0, "xanchor": "left", "font": {"size": 15}},
            "xaxis": {**axis, "title": {"text": sentence_case(x), "font": {"size": 13}}},
            "yaxis": {**axis, "title": {"text": sentence_case(y), "font": {"size": 13}}, "rangemode": "tozero"},
            "font": {"color": theme.text, "size": 13, "family": FONT},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 8, "r": 8, "t": ABOVE, "b": BELOW},
            # The legend is below the axes, since above them its line breaks on narrow pages would cover the title.
            "legend": {"orientation": "h", "x": 0, "xref": "container", "y": 0, "yref": "container"},
            "hoverlabel": {"namelength": -1},
        }
    )


def sentence_case(label: str) -> str:
    """Return a label with a capital first letter, except a symbol such as n or d_k.

    >>> [sentence_case(label) for label in ("share of attention", "d_k", "n", "% found")]
    ['Share of attention', 'd_k', 'n', '% found']
    """
    return label[:1].upper() + label[1:] if len(label) > 1 and label[:2].isalpha() else label


def add_color_note(figure: go.Figure, theme: Theme, meaning: str) -> None:
    """Add a note on the meaning of the colours under the title; it is text, not markup.

    A title of the colour bar would displace the figure's title.
    """
    figure.update_layout(
        title={"subtitle": {"text": escape_label(sentence_case(meaning)), "font": {"size": 12, "color": theme.text}}}
    )


def color_bar() -> dict[str, Any]:
    """Return the layout of a horizontal colour bar above a map, 220 pixels long on all pages.

    A bar at the right side would be far from the map on a wide page. The map's top margin needs BAR more pixels.
    """
    return {
        "orientation": "h",
        "tickfont": {"size": 12},
        "thickness": 10,
        "lenmode": "pixels",
        "len": 220,
        "x": 0,
        "xanchor": "left",
        "y": 1,
        "yanchor": "bottom",
        "ypad": 4,
        "nticks": 5,
        "outlinewidth": 0,
    }


def reference(figure: go.Figure, theme: Theme, value: float, text: str) -> None:
    """Draw a dotted horizontal line at ``value``; the legend names the line, so that the name covers no data."""
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_hline(y=value, line=line, showlegend=True, name=escape_label(text))


Scale = list[list[float | str]]


def sequential_scale(theme: Theme) -> Scale:
    """Return the sequential colour scale, from least to most; on a dark page the least is dark.

    >>> from viz.figures.theme import LIGHT
    >>> sequential_scale(LIGHT)[0], sequential_scale(DARK)[-1]
    ([0.0, '#f9faf9'], [1.0, '#f9faf9'])
    """
    colours = read_colors("ANCHORS")
    return _scale(colours[::-1] if theme == DARK else colours)


def diverging_scale(theme: Theme) -> Scale:
    """Return the diverging colour scale, from negative (blue) to positive; zero has the page's colour.

    >>> from viz.figures.theme import LIGHT
    >>> diverging_scale(LIGHT)[4]
    [0.5, '#f8f8f8']
    """
    light, dark = read_colors("DIVERGING")[:10], read_colors("DIVERGING")[10:]
    below, above = (dark if theme == DARK else light)[:5], (dark if theme == DARK else light)[5:]
    return _scale((*below[:0:-1], *above))


def sides(theme: Theme) -> tuple[str, str]:
    """Return the names of the colours of ``diverging_scale`` for negative and for positive values.

    >>> sides(DARK)
    ('blue', 'orange')
    """
    return (_("blue"), _("orange") if theme == DARK else _("brown"))


def line_colors(theme: Theme) -> tuple[str, ...]:
    """Return eight distinct colours for the lines of a figure.

    >>> from viz.figures.theme import LIGHT
    >>> len(line_colors(LIGHT)), line_colors(DARK)[0]
    (8, '#56B4E9')
    """
    colours = read_colors("HEAD_COLOURS")
    return colours[8:] if theme == DARK else colours[:8]


def color_at(scale: Scale, share: float) -> str:
    """Return the colour at the place ``share``, 0 to 1, of a colour scale, interpolated as plotly does.

    >>> color_at([[0.0, "#000000"], [0.5, "#808080"], [1.0, "#ffffff"]], 0.25)
    '#404040'
    """
    place = min(max(share, 0.0), 1.0) * (len(scale) - 1)
    low = min(int(place), len(scale) - 2)
    pairs = zip(_channels(str(scale[low][1])), _channels(str(scale[low + 1][1])), strict=True)
    return "#" + "".join(f"{round(one + (place - low) * (other - one)):02x}" for one, other in pairs)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2), 0 to 1.

    >>> luminance("#ffffff"), luminance("#000000")
    (1.0, 0.0)
    """
    shares = (channel / 255 for channel in _channels(colour))
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink_on(colour: str) -> str:
    """Return black or white, the more readable text colour on a ground; the contrast is at least 4.5 : 1.

    The rule equals that of inkOn in colours.js.

    >>> ink_on("#f9faf9"), ink_on("#3e5a95")
    ('#000000', '#ffffff')
    """
    return "#000000" if luminance(colour) > 0.179 else "#ffffff"


BLANK = "\u200b"  # a character without width


def add_cell_text(  # noqa: PLR0913  (keyword options of a figure)
    figure: go.Figure,
    texts: Sequence[Sequence[str]],
    shares: FloatArray,
    scale: Scale,
    theme: Theme,
    size: int | None = None,
) -> None:
    """Write a text on each cell of a heatmap, in black or white, whichever is more readable.

    ``texts`` (row, column) are markup. ``shares`` (row, column) are the places of the cells on the colour scale, 0 to
    1; a cell with NaN has the page's background. Plotly would choose colours with a contrast as low as 3.1 : 1. Each
    text colour is a trace. Without ``size`` plotly fits the font to the cells, and the page's style sheet hides sizes
    under 7 pixels. Blank texts of the same length keep the font sizes of the traces equal.
    """
    inks = [
        [theme.text if np.isnan(share) else ink_on(color_at(scale, share)) for share in row] for row in shares.tolist()
    ]
    cells = [list(zip(row, own, strict=True)) for row, own in zip(texts, inks, strict=True)]
    blank = BLANK * max((len(text) for row in texts for text in row), default=0)
    for ink in sorted({own for row in cells for text, own in row if text}):
        figure.add_heatmap(
            z=[[0] * len(row) for row in cells],
            text=[[text if own == ink and text else blank for text, own in row] for row in cells],
            texttemplate="%{text}",
            textfont={"color": ink, "size": size},
            opacity=0,
            showscale=False,
            hoverinfo="skip",
            xgap=1,
            ygap=1,
        )


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))


def _scale(colours: tuple[str, ...]) -> Scale:
    return [[index / (len(colours) - 1), colour] for index, colour in enumerate(colours)]
