"""Colour palettes for Python code, read from shared/colours.js, which defines them for scripts."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt

from viz.components.script import HERE

Colors = npt.NDArray[np.uint8]


@cache
def read_colors(name: str) -> tuple[str, ...]:
    """Return the colours of the constant ``name`` in colours.js, in order.

    If the constant has a list for each theme, return the light theme's colours and then the dark theme's.
    """
    source = (HERE / "shared" / "colours.js").read_text(encoding="utf-8")
    (statement,) = re.findall(rf"export const {name} = (.*?);\n", source, re.DOTALL)
    return tuple(re.findall(r'"(#[0-9A-Fa-f]{6})"', statement))


@cache
def sequential_ramp() -> Colors:
    """Return the 256 RGB colours of the light theme's sequential scale, shape (256, 3), from least to most.

    They equal those of `between` in colours.js.

    >>> sequential_ramp()[0].tolist(), sequential_ramp()[255].tolist()
    ([249, 250, 249], [22, 11, 21])
    """
    return _interpolate(read_colors("ANCHORS"))


@cache
def diverging_ramp() -> Colors:
    """Return the 256 RGB colours of the light theme's diverging scale, (256, 3), from negative to positive.

    They equal those of `divergingRamp` in colours.js.

    >>> diverging_ramp()[0].tolist(), diverging_ramp()[128].tolist(), diverging_ramp()[255].tolist()
    ([0, 57, 103], [248, 247, 247], [88, 42, 0])
    """
    below, above = read_colors("DIVERGING")[:5], read_colors("DIVERGING")[5:10]
    return _interpolate((*below[:0:-1], *above))


def _interpolate(colours: tuple[str, ...]) -> Colors:
    anchors = np.array([[int(one[at : at + 2], 16) for at in (1, 3, 5)] for one in colours])
    places = np.linspace(0, len(anchors) - 1, 256)
    channels = [np.interp(places, np.arange(len(anchors)), anchors[:, channel]) for channel in range(3)]
    table: Colors = np.rint(np.stack(channels, axis=1)).astype(np.uint8)
    return table
