"""What all plotly figures share: colours for light and dark pages, the font, margins, the place of legends and bars.

Hues are Okabe and Ito's, told apart by colour-blind readers (https://jfly.uni-koeln.de/color/).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from viz.figures.labels import escape_label

FONT = '"Source Sans", "Source Sans Pro", sans-serif'  # the app's own
ABOVE, BELOW = 48, 8  # pixels: for the title; under a figure without a legend
LEGEND, LEGENDS = 60, 90  # pixels under a figure: for a legend, and for one that a phone breaks into several lines
BAR = 46  # pixels more above a map: for what its colours mean, and their bar

Figure = go.Figure  # what every figure function gives, named for the rooms that do not know plotly


@dataclass(frozen=True)
class Theme:
    """Colours of one page theme, as CSS colours."""

    text: str
    grid: str
    heads: str  # the many
    accent: str  # the selected one
    line: str  # means and references


LIGHT = Theme(text="#31333f", grid="#e6e6ea", heads="#0072b2", accent="#d55e00", line="#31333f")
DARK = Theme(text="#e8e8ec", grid="#33353f", heads="#56b4e9", accent="#e69f00", line="#e8e8ec")


def empty(theme: Theme, title: str, x: str, y: str) -> go.Figure:
    """A figure without data: title, axis names, transparent ground, legend below. ``title`` is text, not markup."""
    axis = {"gridcolor": theme.grid, "zeroline": False, "linecolor": theme.grid, "automargin": True}
    return go.Figure(
        layout={
            "template": None,
            "title": {"text": escape_label(title), "x": 0, "xanchor": "left", "font": {"size": 15}},
            "xaxis": {**axis, "title": {"text": x, "font": {"size": 13}}},
            "yaxis": {**axis, "title": {"text": y, "font": {"size": 13}}, "rangemode": "tozero"},
            "font": {"color": theme.text, "size": 13, "family": FONT},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 8, "r": 8, "t": ABOVE, "b": BELOW},
            # Below everything: above, a narrow page breaks it into lines that cover the title.
            "legend": {"orientation": "h", "x": 0, "xref": "container", "y": 0, "yref": "container"},
            "hoverlabel": {"namelength": -1},
        }
    )


def add_color_note(figure: go.Figure, theme: Theme, meaning: str) -> None:
    """Under the title: what the colours mean, as text, not markup. A bar's own title would push the figure's away."""
    figure.update_layout(title={"subtitle": {"text": escape_label(meaning), "font": {"size": 12, "color": theme.text}}})


def color_bar() -> dict[str, Any]:
    """A map's colours and their numbers, above it and as long on a phone: beside it, it would stand far off on a wide
    page. The map's top margin needs BAR more pixels."""
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
    """A dotted line across at ``value``, named in the legend so that its name covers no data."""
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_hline(y=value, line=line, showlegend=True, name=escape_label(text))
