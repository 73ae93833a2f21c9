"""How alike vectors are, each with each, as a map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label, truncate
from viz.figures.palette import diverging_scale, sides
from viz.figures.theme import ABOVE, BAR, Theme, add_color_note, color_bar, empty

MOST = 100  # rows and columns that are drawn
TICKS = 34  # labels on an axis; beyond, every second, third … is written
NUMBERS = 24  # rows up to which each cell holds its number, where there is room


def cosine_map(
    likeness: FloatArray, names: Sequence[str], theme: Theme, title: str, *, marked: int | None = None
) -> go.Figure:
    """Cosines from -1 (blue) over 0 to 1 (orange), (row, column), of at most MOST vectors, the first on top.

    ``names`` are text, not markup; ``marked`` is outlined as a row.
    """
    count = len(names)
    labels = [escape_label(truncate(name)) for name in names]
    step = max(1, -(-count // TICKS))
    figure = empty(theme, title, "", "")
    figure.add_heatmap(
        z=np.round(likeness.astype(np.float64), 4),
        colorscale=diverging_scale(theme),
        zmin=-1,
        zmax=1,
        customdata=[[[row, column] for column in labels] for row in labels],
        hovertemplate=_("%{customdata[0]} and %{customdata[1]}: %{z:.2f}<extra></extra>"),
        texttemplate="%{z:.2f}" if count <= NUMBERS else None,
        colorbar=color_bar(),
        xgap=1 if count <= TICKS else 0,
        ygap=1 if count <= TICKS else 0,
    )
    below, above = sides(theme)
    add_color_note(figure, theme, _("cosine; {above}: alike, {below}: opposite", above=above, below=below))
    ticks = {"tickvals": list(range(0, count, step)), "ticktext": labels[::step], "showgrid": False, "fixedrange": True}
    figure.update_xaxes(**ticks, tickangle=-60, range=[-0.5, count - 0.5])
    figure.update_yaxes(**ticks, range=[count - 0.5, -0.5], rangemode="normal")
    if marked is not None and marked < count:
        line = {"color": theme.accent, "width": 2}
        figure.add_shape(type="rect", x0=-0.5, x1=count - 0.5, y0=marked - 0.5, y1=marked + 0.5, line=line)
    figure.update_layout(height=min(760, 230 + 25 * count), margin={"t": ABOVE + BAR})
    return figure
