"""Is what changed also what is used? A dot a head: how far its maps have come, and what removing it does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _, translate
from viz.figures.theme import LEGEND, Theme, empty


def change_and_effect(  # noqa: PLR0913  (what a figure may be told, by name)
    changed: FloatArray,
    effect: FloatArray,
    theme: Theme,
    title: str,
    unit: str,
    *,
    beyond: Sequence[tuple[int, int]] = (),
    selected: tuple[int, int] | None = None,
    base: int = 0,
) -> go.Figure:
    """``changed`` in bits and ``effect`` in ``unit``, (layer, head) both; NaN where nothing is known.

    Heads ``beyond`` what chance changes are filled, the others open; a click picks a head as on a map of heads.
    """
    figure = empty(theme, title, _("changed: divergence (bits)"), _("used: {unit}", unit=translate(unit)))
    far = set(beyond)
    places = [at for at in np.ndindex(changed.shape) if np.isfinite(changed[at]) and np.isfinite(effect[at])]
    groups = (
        (
            _("changed within chance"),
            "circle-open",
            theme.heads,
            8,
            [at for at in places if at not in {*far, selected}],
        ),
        (_("changed beyond chance"), "circle", theme.heads, 8, [at for at in places if at in far and at != selected]),
        (_("the chosen head"), "diamond", theme.accent, 13, [at for at in places if at == selected]),
    )
    for name, symbol, colour, size, some in groups:
        if some:
            figure.add_scatter(
                name=name,
                x=[float(changed[at]) for at in some],
                y=[float(effect[at]) for at in some],
                customdata=[[*at, at[0] + base, at[1] + base] for at in some],
                mode="markers",
                marker={"color": colour, "symbol": symbol, "size": size, "line": {"width": 1.5}},
                hovertemplate=_(
                    "layer %{customdata[2]} · head %{customdata[3]}: %{x:.3f} bits, %{y:.3f}<extra></extra>"
                ),
            )
    figure.update_xaxes(rangemode="tozero")
    return figure.update_layout(height=420, margin={"b": LEGEND + 24}, hovermode="closest")
