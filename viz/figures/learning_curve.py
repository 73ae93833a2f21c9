"""One number as a training goes on: how well the dev rows are told, or the loss."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from i18n import _
from viz.figures.labels import escape_label
from viz.figures.theme import LEGEND, LEGENDS, Theme, empty


def learning_curve(  # noqa: PLR0913  (what a figure may be told, by name)
    points: Sequence[tuple[int, float]],
    theme: Theme,
    title: str,
    unit: str,
    *,
    last: int | None = None,
    baseline: float | None = None,
    collapsed: Sequence[tuple[int, str]] = (),
    ceiling: float | None = None,
) -> go.Figure:
    """``points`` are (step, number). ``last`` is the step that the training ends with, as far as it is known.

    ``baseline`` is a dashed line; ``collapsed`` are crosses, (step, the one label that was said of everything there,
    for the second time running); ``ceiling`` is where the axis ends, which otherwise the largest number says.

    >>> from viz.figures.theme import LIGHT
    >>> figure = learning_curve([(0, 0.2), (13, 0.7)], LIGHT, "Dev rows", "accuracy", last=133, baseline=0.9)
    >>> figure.data[0].y, figure.layout.xaxis.range
    ((0.2, 0.7), (0, 133))
    """
    figure = empty(theme, title, _("Step"), unit)
    steps, numbers = [step for step, _ in points], [number for _, number in points]
    figure.add_scatter(
        name=escape_label(unit),
        x=steps,
        y=numbers,
        mode="lines+markers",
        cliponaxis=False,
        line={"color": theme.accent, "width": 2},
        marker={"size": 5},
        hovertemplate=_("step %{x}: %{y:.3f}<extra></extra>"),
        showlegend=False,
    )
    if collapsed:
        at = dict(points)
        figure.add_scatter(
            name=_("one label for everything, twice running"),
            x=[step for step, _ in collapsed],
            y=[at.get(step, 0.0) for step, _ in collapsed],
            customdata=[escape_label(label) for _, label in collapsed],
            mode="markers",
            marker={"symbol": "x", "size": 11, "color": theme.line},
            hovertemplate=_("step %{x}: everything is called %{customdata}<extra></extra>"),
        )
    if baseline is not None:
        line = {"dash": "dash", "color": theme.heads, "width": 2}
        figure.add_hline(
            y=baseline,
            line=line,
            showlegend=True,
            name=_("counting words (TF-IDF, logistic regression): {baseline:.3f}", baseline=baseline),
        )
    if ceiling is not None:
        figure.update_yaxes(range=[0, 1.02 * ceiling])
    if last:
        figure.update_xaxes(range=[0, last])
    return figure.update_layout(height=340, margin={"b": LEGENDS if collapsed else LEGEND})
