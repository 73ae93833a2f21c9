"""Figures of evaluation: confusion matrices, calibration, baselines and ablation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from attention.mask import FloatArray
from i18n import _, translate
from viz.figures.theme import (
    ABOVE,
    BAR,
    LEGENDS,
    Theme,
    add_cell_text,
    add_color_note,
    color_bar,
    empty,
    escape_label,
    sequential_scale,
    truncate,
)

SQUARE, CELL = 8, 34  # labels up to which cells are squares, and the side of a square in pixels
# Labels up to which columns have names (beyond, rows and columns have numbers), and the height of a row in pixels.
NAMED, CONFUSION_ROW = 17, 22
LOW = 17  # the height of a row in pixels if there are more than NAMED labels
LONGEST = 18  # characters of a label before it is shortened
CONFUSION_ABOVE = 64  # pixels for the title and the note on rows, columns and colours


def confusion(  # noqa: PLR0913  (keyword options of a figure)
    counts: npt.NDArray[np.int64],
    labels: Sequence[str],
    theme: Theme,
    title: str,
    unit: str,
    *,
    rest: bool = False,
    chosen: tuple[int | None, int | None] = (None, None),
) -> go.Figure:
    """Draw a confusion matrix (true, predicted); the colour of a cell is its share of the row.

    ``counts`` are numbers of texts or words, according to ``unit``; a cell of 0 has neither colour nor number.
    ``labels`` are text, not markup. If ``rest`` is set, the last label sums several labels, and its cells cannot be
    picked. ``chosen`` (true, predicted) is framed; if either is None, the whole row or column is framed.

    A click picks a cell as in ``alignment_map``; ``viz.figures.vectors.picked_pair`` reads it.

    >>> from viz.figures.theme import LIGHT
    >>> figure = confusion(np.array([[3, 1], [0, 4]]), ["a", "<b>"], LIGHT, "t", "texts")
    >>> figure.data[0].z.tolist(), figure.layout.yaxis.ticktext
    ([[0.75, 0.25], [nan, 1.0]], ('\\u2068a\\u2069', '\\u2068&lt;b&gt;\\u2069'))
    """
    size = len(labels)
    some = counts.sum(axis=1, keepdims=True)
    figure = empty(theme, title, "", "")
    shares = np.where(counts, counts / np.maximum(some, 1), np.nan)
    figure.add_heatmap(
        z=shares,
        colorscale=sequential_scale(theme),
        zmin=0.0,
        zmax=1.0,
        colorbar={**color_bar(), "y": 0, "yref": "container", "yanchor": "bottom", "tickformat": ".0%"},
        hoverinfo="skip",
        hoverongaps=False,
        meta={  # columns of the table
            "count": counts.tolist(),
            "share of true label": np.where(some, counts / np.maximum(some, 1), np.nan).tolist(),
        },
        xgap=1,
        ygap=1,
    )
    if size <= NAMED:
        texts = [[_format_count(count) for count in row] for row in counts.tolist()]
        add_cell_text(figure, texts, shares, sequential_scale(theme), theme)
    _add_points(figure, theme, counts, labels, unit, rest)
    _frame(figure, theme, size, chosen)
    above = CONFUSION_ABOVE + _label_axes(figure, labels)
    axes = {"x": _("Predicted label"), "y": _("True label")}
    cell = CELL if size <= SQUARE else CONFUSION_ROW if size <= NAMED else LOW
    figure.update_layout(
        height=above + BAR + cell * size,
        margin={"t": above, "b": BAR},
        title={"y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 12}},
        showlegend=False,
        hovermode="closest",
        meta={axis: (title, [*map(escape_label, labels)]) for axis, title in axes.items()},
    )
    add_color_note(figure, theme, _("Rows: true; columns: predicted; colour: share of the row"))
    return figure


def _add_points(  # noqa: PLR0913
    figure: go.Figure, theme: Theme, counts: npt.NDArray[np.int64], labels: Sequence[str], unit: str, rest: bool
) -> None:
    """Add an invisible point on each non-zero cell, since plotly reports clicks on points only."""
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
                    "{true}, predicted as {said}: {count:,} of {all:,} {unit}",
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
    for colour, width in (
        (ground, 7),
        (theme.accent, 3),
    ):  # a border in the ground's colour, since cells may be as orange as the frame
        figure.add_shape(type="rect", **box, line={"color": colour, "width": width})


def _label_axes(figure: go.Figure, labels: Sequence[str]) -> int:
    """Label the rows, and the columns if there are few; return the pixels that the column labels need."""
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
    """Return a label, isolated from the direction of the text around it.

    A label longer than ``longest`` keeps its beginning and its end, since many labels begin alike.
    """
    half = longest // 2
    short = label if len(label) <= longest else f"{label[: half - 1]}…{label[-half:]}"
    return f"\u2068{escape_label(short)}\u2069"


def _format_count(count: int) -> str:
    """Return a count in at most four characters; "" for 0.

    >>> [_format_count(count) for count in (0, 42, 1234, 14222, 3000000)]
    ['', '42', '1.2k', '14k', '3.0M']
    """
    for size, name in ((10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.{1 if count < 10 * size else 0}f}{name}"
    return str(count or "")


CALIBRATION_ROW = 34  # height of a row in pixels
FEW = 10  # answers below which a bar is pale, since so few give no reliable share


@dataclass(frozen=True)
class Bin:
    """A bar of a calibration diagram: the answers in a range of confidence, and their accuracy.

    ``start`` and ``end`` limit the range. The accuracy has a 95 % interval.
    """

    start: float
    end: float
    answers: int
    sure: float  # mean confidence
    right: float
    low: float
    high: float


def calibration(bins: Sequence[Bin], theme: Theme, title: str) -> go.Figure:
    """Draw a calibration diagram: for each range of confidence, a bar as long as the accuracy.

    The most confident answers are on top. A mark shows the mean confidence; if the model is well calibrated, bar and
    mark end at the same place.

    >>> from viz.figures.theme import LIGHT
    >>> calibration([Bin(0.9, 1, 1200, 0.97, 0.95, 0.9, 0.98)], LIGHT, "t").layout.yaxis.ticktext
    ('0.9 to 1 · 1,200',)
    """
    rows = list(range(len(bins)))
    ordered = sorted(bins, key=lambda one: -one.start)
    figure = empty(theme, title, _("accuracy"), "")
    add_color_note(figure, theme, _("Names: confidence · answers"))
    figure.add_bar(
        name=_("accuracy, 95% interval"),
        orientation="h",
        x=[one.right for one in ordered],
        y=rows,
        marker={"color": theme.heads, "opacity": [0.35 if one.answers < FEW else 1.0 for one in ordered]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [one.high - one.right for one in ordered],
            "arrayminus": [one.right - one.low for one in ordered],
            "color": theme.line,
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[[one.low, one.high, one.answers] for one in ordered],
        hovertemplate=_(
            "accuracy: %{x:.3f} (%{customdata[0]:.3f} to %{customdata[1]:.3f}) of %{customdata[2]:,}<extra></extra>"
        ),
    )
    figure.add_scatter(
        name=_("mean confidence"),
        x=[one.sure for one in ordered],
        y=rows,
        mode="markers",
        marker={
            "symbol": "line-ns-open",
            "size": 24,
            "line": {"width": 4, "color": theme.accent},
            "color": theme.accent,
        },
        hovertemplate=_("confidence: %{x:.3f}<extra></extra>"),
        cliponaxis=False,
    )
    figure.update_yaxes(
        tickvals=rows,
        ticktext=[
            _("{start:g} to {end:g} · {answers:,}", start=one.start, end=one.end, answers=one.answers)
            for one in ordered
        ],
        range=[len(rows) - 0.4, -0.6],
        rangemode="normal",
        fixedrange=True,
        showgrid=False,
    )
    figure.update_xaxes(range=[0, 1.02], fixedrange=True)
    return figure.update_layout(
        height=150 + CALIBRATION_ROW * len(rows),
        margin={"t": ABOVE + 10, "b": LEGENDS},
        bargap=0.35,
        showlegend=True,
        hovermode="closest",
    )


RELATION_SCORES_ROW = 26  # height of a row in pixels


@dataclass(frozen=True)
class RelationScore:
    """The scores of a relation on its ``n`` links, in percent: the accuracy of a head, and the baselines.

    ``low`` and ``high`` are the ends of the accuracy's interval. ``baseline`` is the accuracy of the rule named
    ``rule``, and ``random`` that of the best head of random weights, None if it is unknown.
    """

    relation: str
    n: int
    head: str
    accuracy: float
    low: float
    high: float
    baseline: float
    rule: str
    random: float | None
    chance: float | None = None  # percent that random guessing between the candidates finds
    p: float | None = None  # two-sided, of the head against the rule


def relation_scores(scores: Sequence[RelationScore], theme: Theme, title: str, selected: str = "") -> go.Figure:
    """Draw a row for each relation: a dot for the head's accuracy, and a bar for the baseline rule.

    The first relation is on top. The dot has its interval, and a ring marks the best head of random weights, if it is
    known. A dotted line marks the chance level, if it is known and equal for all relations. Relations and heads are
    text, not markup. The dot of ``selected`` has the accent colour and an entry in the legend.
    """
    figure = empty(theme, title, _("% found"), "")
    rows = list(range(len(scores)))
    known = [at for at in rows if scores[at].random is not None]
    figure.add_scatter(
        name=_("random weights, best head"),
        x=[scores[at].random for at in known],
        y=known,
        mode="markers",
        marker={"symbol": "circle-open", "size": 9, "color": theme.heads, "line": {"width": 1.5}},
        hovertemplate=_("random weights: %{x:.1f}%<extra></extra>"),
    )
    figure.add_scatter(
        name=_("rule without a model"),
        x=[score.baseline for score in scores],
        y=rows,
        customdata=[escape_label(score.rule) for score in scores],
        mode="markers",
        marker={"symbol": "line-ns", "size": 15, "color": theme.line, "line": {"width": 2.5, "color": theme.line}},
        hovertemplate="%{customdata}: %{x:.1f}%<extra></extra>",
    )
    figure.add_scatter(
        name=_("best head, 95% interval"),
        x=[score.accuracy for score in scores],
        y=rows,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [score.high - score.accuracy for score in scores],
            "arrayminus": [score.accuracy - score.low for score in scores],
            "color": theme.heads,
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[[escape_label(score.head), score.low, score.high, score.n] for score in scores],
        meta={  # columns of the table
            "head": [score.head for score in scores],
            "n": [score.n for score in scores],
            "p (Holm)": [score.p for score in scores],
        },
        mode="markers",
        marker={"size": 10, "color": theme.heads},
        hovertemplate=_(
            "head %{customdata[0]}: %{x:.1f}% (%{customdata[1]:.1f} to %{customdata[2]:.1f}) of "
            "%{customdata[3]} links<extra></extra>"
        ),
    )
    for row, score in enumerate(scores):
        if score.relation == selected:
            figure.add_scatter(
                name=_("selected relation"),
                x=[score.accuracy],
                y=[row],
                mode="markers",
                marker={"size": 12, "color": theme.accent},  # covers the dot of the head
                hoverinfo="skip",
            )
    if has_chance_line(scores):
        chance = scores[0].chance
        figure.add_scatter(
            name=_("chance, {chance:.0f}%", chance=chance),
            x=[chance, chance],
            y=[-0.6, len(rows) - 0.4],
            mode="lines",
            hoverinfo="skip",
            line={"dash": "dot", "width": 1.5, "color": theme.line},
        )
    relations = [translate(score.relation) for score in scores]
    names = [
        f"{escape_label(truncate(name))} · {escape_label(score.head)}"
        for name, score in zip(relations, scores, strict=True)
    ]
    figure.update_layout(meta={"y": (_("Relation"), [escape_label(name) for name in relations])})
    figure.update_yaxes(
        tickvals=rows,
        ticktext=names,
        range=[len(rows) - 0.4, -0.6],
        rangemode="normal",
        fixedrange=True,
    )
    figure.update_xaxes(range=[-2, 103], tickvals=list(range(0, 101, 20)), fixedrange=True)
    # Plotly drops the margins of labels and legend if fewer than 64 pixels remain for the axes.
    figure.update_layout(height=210 + RELATION_SCORES_ROW * len(scores), margin={"b": LEGENDS})
    return figure


def has_chance_line(scores: Sequence[RelationScore]) -> bool:
    """Return True if all relations have the same known chance level, which is then drawn as a line."""
    chances = {score.chance for score in scores}
    return len(chances) == 1 and None not in chances


def random_sets(changes: FloatArray, chosen: float, theme: Theme, unit: str) -> go.Figure:
    """Draw a histogram of the changes by other edit sets, and the change by the chosen edit set as a line.

    ``changes`` is (set,), in ``unit`` like ``chosen``.
    """
    figure = empty(theme, _("Compared with other edits"), unit, _("Other edits"))
    figure.add_histogram(
        name=_("Other edits"),
        x=changes,
        nbinsx=30,
        marker={"color": theme.heads},
        hovertemplate=_("%{x}: %{y} sets<extra></extra>"),
    )
    line = {"color": theme.accent, "width": 3}
    figure.add_vline(x=chosen, line=line, showlegend=True, name=_("the chosen edits"))
    figure.update_layout(height=320, margin={"b": LEGENDS}, bargap=0.05)
    return figure


def removal_curve(  # noqa: PLR0913
    values: FloatArray, names: Sequence[str], random: FloatArray, theme: Theme, title: str, unit: str
) -> go.Figure:
    """Draw a curve of the values of a number, (step,), while heads are ablated one after another.

    ``values`` begins with the value before any ablation. ``names`` (step - 1,) are the heads that are ablated.
    ``random`` (order, step) has the values for heads in random orders: their mean is a line, their range a band.
    """
    figure = empty(theme, title, _("Ablated heads"), unit)
    if random.size:
        steps = np.arange(random.shape[1])
        low, high = random.min(axis=0), random.max(axis=0)
        figure.add_scatter(
            name=_("random orders, range of {orders}", orders=len(random)),
            x=[*steps, *steps[::-1]],
            y=[*high, *low[::-1]],
            fill="toself",
            mode="none",
            fillcolor=_make_pale(theme.heads),
            hoverinfo="skip",
        )
        figure.add_scatter(
            name=_("random orders, mean"),
            x=steps,
            y=random.mean(axis=0),
            mode="lines",
            line={"color": theme.heads, "width": 2, "dash": "dash"},
            hovertemplate=_("%{x} random heads ablated: %{y:.3f} on average<extra></extra>"),
        )
    figure.add_scatter(
        name=_("greedy order"),
        x=np.arange(len(values)),
        y=values,
        customdata=[_("Nothing"), *(escape_label(name) for name in names)],
        mode="lines+markers",
        line={"color": theme.accent, "width": 2},
        marker={"size": 5},
        hovertemplate=_("%{x} ablated, last %{customdata}: %{y:.3f}<extra></extra>"),
    )
    figure.update_yaxes(rangemode="normal")
    figure.update_layout(height=420, margin={"b": LEGENDS})
    return figure


def _make_pale(colour: str) -> str:
    """Return a hexadecimal colour as CSS with an opacity of 0.18."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"
