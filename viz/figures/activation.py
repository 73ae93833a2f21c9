"""A model's own activation function beside the ReLU of the original Transformer."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _
from viz.figures.labels import escape_label
from viz.figures.theme import Theme, empty


def activation(inputs: FloatArray, outputs: FloatArray, name: str, theme: Theme) -> go.Figure:
    """What the function makes of each number, (point,): the model's as a line, ReLU as dots on a line of their own."""
    figure = empty(theme, _("Which function stands between the two matrices?"), _("What goes in"), _("What comes out"))
    if name != "ReLU":
        figure.add_scatter(
            name=_("ReLU (arXiv:1706.03762)"),
            x=inputs,
            y=np.maximum(inputs, 0),
            mode="lines",
            line={"color": theme.accent, "width": 2, "dash": "dot"},
            hovertemplate="%{x:.2f} → %{y:.3f}",
        )
    figure.add_scatter(
        name=escape_label(_("this model: {name}", name=name) if name else _("this model")),
        x=inputs,
        y=outputs,
        mode="lines",
        line={"color": theme.heads, "width": 3},
        hovertemplate="%{x:.2f} → %{y:.3f}",
    )
    return figure.update_layout(height=320).update_yaxes(rangemode="normal")
