"""The two palettes of the components as plotly's colour scales, read from the one place where they are written."""

from __future__ import annotations

import re
from functools import cache

from viz.components.script import HERE
from viz.figures.theme import DARK, Theme

Scale = list[list[float | str]]


@cache
def _written(name: str) -> tuple[str, ...]:
    """The list of colours that colours.js calls ``name``, in its order; both themes' where there are two."""
    source = (HERE / "shared" / "colours.js").read_text(encoding="utf-8")
    (statement,) = re.findall(rf"export const {name} = (.*?);\n", source, re.DOTALL)
    return tuple(re.findall(r'"(#[0-9A-Fa-f]{6})"', statement))


def sequential(theme: Theme) -> Scale:
    """From least to most; on a dark page least is dark.

    >>> from viz.figures.theme import LIGHT
    >>> sequential(LIGHT)[0], sequential(DARK)[-1]
    ([0.0, '#f9faf9'], [1.0, '#f9faf9'])
    """
    colours = _written("ANCHORS")
    return _scale(colours[::-1] if theme == DARK else colours)


def diverging(theme: Theme) -> Scale:
    """From most below zero, blue, to most above it, orange; zero is the ground.

    >>> from viz.figures.theme import LIGHT
    >>> diverging(LIGHT)[4]
    [0.5, '#f8f8f8']
    """
    light, dark = _written("DIVERGING")[:10], _written("DIVERGING")[10:]
    below, above = (dark if theme == DARK else light)[:5], (dark if theme == DARK else light)[5:]
    return _scale((*below[:0:-1], *above))


def sides(theme: Theme) -> tuple[str, str]:
    """What a reader calls the two colours of ``diverging``: that of less, and that of more.

    >>> sides(DARK)
    ('blue', 'orange')
    """
    return ("blue", "orange" if theme == DARK else "brown")


def several(theme: Theme) -> tuple[str, ...]:
    """Eight colours for lines beside each other.

    >>> from viz.figures.theme import LIGHT
    >>> len(several(LIGHT)), several(DARK)[0]
    (8, '#56B4E9')
    """
    colours = _written("HEAD_COLOURS")
    return colours[8:] if theme == DARK else colours[:8]


def _scale(colours: tuple[str, ...]) -> Scale:
    return [[index / (len(colours) - 1), colour] for index, colour in enumerate(colours)]
