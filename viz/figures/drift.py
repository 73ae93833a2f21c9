"""How far maps have come from what they were: layer by layer beside its twins, and step by step on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label
from viz.figures.theme import LEGENDS, Theme, empty

Numbers = npt.NDArray[np.float64]

APART = 0.1  # layers between two marks of one layer, so that neither covers the other
LOOKS = (("diamond", "solid"), ("circle", "dash"), ("square", "dot"))


@dataclass(frozen=True, eq=False)
class DriftLine:
    """A mean by layer and its interval, (layer,) each; no number (NaN) where nothing is known."""

    name: str
    mean: Numbers
    low: Numbers
    high: Numbers


def by_layer(lines: Sequence[DriftLine], theme: Theme, title: str, base: int = 0) -> go.Figure:
    """Bits by layer of some trainings, with intervals, the first in the accent colour; layers count from ``base``."""
    figure = empty(theme, title, _("Layer"), _("divergence (bits)"))
    layers = np.arange(len(lines[0].mean)) + base
    for at, (line, (symbol, dash)) in enumerate(zip(lines, LOOKS, strict=False)):
        colour = theme.heads if at else theme.accent
        figure.add_scatter(
            name=escape_label(line.name),
            x=layers + APART * (at - (len(lines) - 1) / 2),
            y=line.mean,
            customdata=layers,
            error_y={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(line.high - line.mean),
                "arrayminus": np.nan_to_num(line.mean - line.low),
                "color": colour,
                "thickness": 1.5,
            },
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 1.5},
            marker={"color": colour, "symbol": symbol, "size": 8},
            hovertemplate=_("layer %{customdata}: %{y:.4f} bits"),
        )
    figure.update_xaxes(dtick=max(1, len(layers) // 16))
    return figure.update_layout(height=360, margin={"b": LEGENDS})


def by_step(  # noqa: PLR0913  (what a figure may be told, by name)
    steps: Sequence[int],
    whole: FloatArray,
    head: tuple[str, FloatArray],
    theme: Theme,
    title: str,
    *,
    frame: int,
    kept: int,
) -> go.Figure:
    """Bits by training step, (frame,): the mean over all heads, and one head with its name.

    ``frame`` is the one that is looked at, ``kept`` the step whose weights were kept.
    """
    figure = empty(theme, title, _("Step"), _("divergence (bits)"))
    looks = ((_("all heads, mean"), whole, theme.line, "dash"), (escape_label(head[0]), head[1], theme.heads, "solid"))
    for name, values, colour, dash in looks:
        figure.add_scatter(
            name=name,
            x=list(steps),
            y=values,
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 1.5},
            marker={"size": 6},
            hovertemplate=_("step %{x}: %{y:.4f} bits"),
        )
    figure.add_scatter(
        name=_("the step that is shown"),
        x=[steps[frame], steps[frame]],
        y=[whole[frame], head[1][frame]],
        mode="markers",
        marker={"color": theme.accent, "size": 12, "symbol": "diamond-open", "line": {"width": 2}},
        hoverinfo="skip",
    )
    line = {"dash": "dot", "color": theme.line, "width": 1.5}
    figure.add_vline(x=kept, line=line, showlegend=True, name=_("the weights that were kept"))
    return figure.update_layout(height=300, margin={"b": LEGENDS})
