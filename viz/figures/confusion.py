"""What was taken for what: true labels downwards, those that were said to the right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from i18n import _, translate
from viz.figures.labels import escape_label
from viz.figures.palette import sequential_scale
from viz.figures.theme import BAR, Theme, add_color_note, color_bar, empty

SQUARE, CELL = 8, 34  # labels up to which cells are squares, and pixels of one
NAMED, ROW = 17, 22  # labels up to which columns have names, and pixels of a row; more are numbered as the rows are
LOW = 17  # pixels of one of many rows
LONGEST = 18  # characters of a name
ABOVE = 64  # pixels for the title, and for what rows, columns and colours are


def confusion(  # noqa: PLR0913  (what a figure may be told, by name)
    counts: npt.NDArray[np.int64],
    labels: Sequence[str],
    theme: Theme,
    title: str,
    unit: str,
    *,
    rest: bool = False,
    chosen: tuple[int | None, int | None] = (None, None),
) -> go.Figure:
    """A cell for each pair of a true label and one that was said, (true, said), coloured by its share of the true one.

    ``counts`` are of texts or words, as ``unit`` says; what is 0 has neither colour nor number. ``labels`` are text,
    not markup; with ``rest`` the last one stands for several, and none of its cells can be picked. ``chosen`` (true,
    said) is framed, a whole row or column where the other is None.

    A click picks a cell as it does in ``alignment_map``, by ``picked`` of that module.

    >>> from viz.figures.theme import LIGHT
    >>> figure = confusion(np.array([[3, 1], [0, 4]]), ["a", "<b>"], LIGHT, "t", "texts")
    >>> figure.data[0].z.tolist(), figure.layout.yaxis.ticktext
    ([[0.75, 0.25], [nan, 1.0]], ('\\u2068a\\u2069', '\\u2068&lt;b&gt;\\u2069'))
    """
    size = len(labels)
    some = counts.sum(axis=1, keepdims=True)
    figure = empty(theme, title, "", "")
    figure.add_heatmap(
        z=np.where(counts, counts / np.maximum(some, 1), np.nan),
        text=[[_format_count(count) for count in row] for row in counts.tolist()],
        texttemplate="%{text}" if size <= NAMED else "",
        colorscale=sequential_scale(theme),
        zmin=0.0,
        zmax=1.0,
        colorbar={**color_bar(), "y": 0, "yref": "container", "yanchor": "bottom", "tickformat": ".0%"},
        hoverinfo="skip",
        hoverongaps=False,
        xgap=1,
        ygap=1,
    )
    _add_points(figure, theme, counts, labels, unit, rest)
    _frame(figure, theme, size, chosen)
    above = ABOVE + _label_axes(figure, labels)
    cell = CELL if size <= SQUARE else ROW if size <= NAMED else LOW
    figure.update_layout(
        height=above + BAR + cell * size,
        margin={"t": above, "b": BAR},
        title={"y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 12}},
        showlegend=False,
        hovermode="closest",
    )
    add_color_note(figure, theme, _("Rows: true; columns: said; colour: share of the row"))
    return figure


def _add_points(  # noqa: PLR0913
    figure: go.Figure, theme: Theme, counts: npt.NDArray[np.int64], labels: Sequence[str], unit: str, rest: bool
) -> None:
    """An unseen point on every cell that counts something: plotly reports clicks on points only."""
    names, of = [_name(label, 60) for label in labels], counts.sum(axis=1)
    cells = np.argwhere(counts).tolist()
    last = len(labels) - 1 if rest else len(labels)
    unseen = {"marker": {"opacity": 0}}
    for some, picks in (([cell for cell in cells if (max(cell) < last) == pick], pick) for pick in (True, False)):
        figure.add_scatter(
            x=[said for _, said in some],
            y=[true for true, _ in some],
            customdata=some if picks else None,
            text=[
                _(
                    "{true}, said to be {said}: {count:,} of {all:,} {unit}",
                    true=names[true],
                    said=names[said],
                    count=counts[true, said],
                    all=of[true],
                    unit=translate(unit),
                )
                for true, said in some
            ],
            mode="markers",
            marker={"opacity": 0, "size": 18, "color": theme.heads},
            selected=unseen,
            unselected=unseen,
            hovertemplate="%{text}<extra></extra>",
        )


def _frame(figure: go.Figure, theme: Theme, size: int, chosen: tuple[int | None, int | None]) -> None:
    if chosen == (None, None):
        return
    (top, bottom), (left, right) = ((0, size - 1) if at is None else (at, at) for at in chosen)
    box = {"x0": left - 0.5, "x1": right + 0.5, "y0": top - 0.5, "y1": bottom + 0.5}
    ground = sequential_scale(theme)[0][1]
    for colour, width in ((ground, 7), (theme.accent, 3)):  # the ground around it: cells may be as orange
        figure.add_shape(type="rect", **box, line={"color": colour, "width": width})


def _label_axes(figure: go.Figure, labels: Sequence[str]) -> int:
    """Names the rows, and the columns where there are few; gives the pixels that the columns' names take."""
    size = len(labels)
    short = [_name(label, LONGEST) for label in labels]
    axis = {"showgrid": False, "fixedrange": True, "rangemode": "normal", "ticks": ""}
    if size <= NAMED:
        figure.update_xaxes(tickvals=list(range(size)), ticktext=short, tickangle=-60)
    else:
        short = [f"{name}  {at}" for at, name in enumerate(short)]
        figure.update_xaxes(tickformat="d")
    if size <= SQUARE:
        figure.update_xaxes(constrain="domain", constraintoward="left")
        figure.update_yaxes(constrain="domain", constraintoward="top", scaleanchor="x")
    figure.update_xaxes(**axis, side="top", range=[-0.5, size - 0.5])
    figure.update_yaxes(**axis, tickvals=list(range(size)), ticktext=short, range=[size - 0.5, -0.5])
    return max(42, 7 * min(LONGEST, max(map(len, labels), default=0))) if size <= NAMED else 14


def _name(label: str, longest: int) -> str:
    """A label that does not turn the text around it; of a long one both ends, since many begin alike."""
    half = longest // 2
    short = label if len(label) <= longest else f"{label[: half - 1]}…{label[-half:]}"
    return f"\u2068{escape_label(short)}\u2069"


def _format_count(count: int) -> str:
    """A count in four signs at most; nothing for 0.

    >>> [_format_count(count) for count in (0, 42, 1234, 14222, 3000000)]
    ['', '42', '1.2k', '14k', '3.0M']
    """
    for size, name in ((10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.{1 if count < 10 * size else 0}f}{name}"
    return str(count or "")
