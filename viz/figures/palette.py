"""The two palettes of the components as plotly's colour scales, read from the one place where they are written."""

from __future__ import annotations

from i18n import _
from viz.colors import read_colors
from viz.figures.theme import DARK, Theme

Scale = list[list[float | str]]


def sequential_scale(theme: Theme) -> Scale:
    """From least to most; on a dark page least is dark.

    >>> from viz.figures.theme import LIGHT
    >>> sequential_scale(LIGHT)[0], sequential_scale(DARK)[-1]
    ([0.0, '#f9faf9'], [1.0, '#f9faf9'])
    """
    colours = read_colors("ANCHORS")
    return _scale(colours[::-1] if theme == DARK else colours)


def diverging_scale(theme: Theme) -> Scale:
    """From most below zero, blue, to most above it, orange; zero is the ground.

    >>> from viz.figures.theme import LIGHT
    >>> diverging_scale(LIGHT)[4]
    [0.5, '#f8f8f8']
    """
    light, dark = read_colors("DIVERGING")[:10], read_colors("DIVERGING")[10:]
    below, above = (dark if theme == DARK else light)[:5], (dark if theme == DARK else light)[5:]
    return _scale((*below[:0:-1], *above))


def sides(theme: Theme) -> tuple[str, str]:
    """What a reader calls the two colours of ``diverging_scale``: that of less, and that of more.

    >>> sides(DARK)
    ('blue', 'orange')
    """
    return (_("blue"), _("orange") if theme == DARK else _("brown"))


def line_colors(theme: Theme) -> tuple[str, ...]:
    """Eight colours for lines beside each other.

    >>> from viz.figures.theme import LIGHT
    >>> len(line_colors(LIGHT)), line_colors(DARK)[0]
    (8, '#56B4E9')
    """
    colours = read_colors("HEAD_COLOURS")
    return colours[8:] if theme == DARK else colours[:8]


def color_at(scale: Scale, share: float) -> str:
    """The colour at a share of a scale, 0 to 1, between its colours as a figure draws it.

    >>> color_at([[0.0, "#000000"], [0.5, "#808080"], [1.0, "#ffffff"]], 0.25)
    '#404040'
    """
    place = min(max(share, 0.0), 1.0) * (len(scale) - 1)
    low = min(int(place), len(scale) - 2)
    pairs = zip(_channels(str(scale[low][1])), _channels(str(scale[low + 1][1])), strict=True)
    return "#" + "".join(f"{round(one + (place - low) * (other - one)):02x}" for one, other in pairs)


def luminance(colour: str) -> float:
    """Relative luminance, 0 to 1, WCAG 2.

    >>> luminance("#ffffff"), luminance("#000000")
    (1.0, 0.0)
    """
    shares = (channel / 255 for channel in _channels(colour))
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better on a colour; at least 4.5 : 1, as inkOn of colours.js.

    >>> ink_on("#f9faf9"), ink_on("#3e5a95")
    ('#000000', '#ffffff')
    """
    return "#000000" if luminance(colour) > 0.179 else "#ffffff"


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))


def _scale(colours: tuple[str, ...]) -> Scale:
    return [[index / (len(colours) - 1), colour] for index, colour in enumerate(colours)]
