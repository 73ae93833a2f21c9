"""The numbers of a Plotly figure as a tidy table."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from viz.figures.theme import Figure
from viz.static.shapes import printable_text

Trace = dict[str, Any]


def plain_text(markup: str) -> str:
    """Return the text of a label without Plotly's markup.

    >>> plain_text("<b>q</b><br>&lt;s&gt;")
    'q <s>'
    """
    return printable_text(html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"<br ?/?>", "\n", markup))))


def chart_table(figure: Figure) -> dict[str, list[Any]]:
    """Return the numbers of a Plotly figure as columns of equal lengths, a row for each mark or cell.

    The columns are

    - ``series``, the name of the trace;
    - ``x`` and ``y``, and ``z`` for the value of a cell, renamed to the title of their axis or colour scale, if any;
    - ``minus`` and ``plus``, the lengths of error bars;
    - ``text``, and the columns of a trace's ``meta``; those of a map have the shape of its cells and replace ``z``;
    - a column of Booleans for each kind of mark on the cells of a map, named by its meaning (the ``meta`` of its
      trace), such as "above baseline".

    On an axis of categories the names replace the positions. Other axes with labels get a further column of labels. The
    layout's ``meta`` may give an axis, or the colours, another name and other labels. Empty columns are left out.
    """
    layout = figure.layout.to_plotly_json()
    rows: list[dict[str, Any]] = []
    title = plain_text(figure.layout.title.text or "")
    given = [{**trace.to_plotly_json(), "type": trace.type} for trace in figure.data]
    marks = _marks(given)
    for own in (own for own in given if not (marks and _is_mark(own))):
        if own.get("opacity") != 0 and own.get("marker", {}).get("opacity") != 0 and not _connects(own):
            series = plain_text(own.get("name") or "") or title
            found = _cells(own, marks) if own["type"] == "heatmap" else _points(own)
            rows += [{"series": series, **row} for row in found]
    for name in ("x", "y"):
        rows = _with_labels(rows, name, layout)
    order = dict.fromkeys(("series", "x", "x_label", "y", "y_label", "z", "minus", "plus", "text"))
    order |= dict.fromkeys(name for row in rows for name in row)
    names = _column_names(layout, list(order))
    return {
        names[name]: [row.get(name) for row in rows] for name in order if any(row.get(name) is not None for row in rows)
    }


def _with_labels(rows: list[dict[str, Any]], name: str, layout: dict[str, Any]) -> list[dict[str, Any]]:
    """Add the labels of the axis ``name`` to the rows; replace the positions if each whole position has a label.

    Marks between the positions then belong to a reference line, which needs a single row.
    """
    given = layout.get(f"{name}axis", {})
    _title, labels = (layout.get("meta") or {}).get(name, ("", given.get("ticktext") or ()))
    positions = range(len(labels)) if given.get("tickvals") is None else given["tickvals"]
    names = dict(zip(positions, (plain_text(str(text)) for text in labels), strict=False))
    labelled = [{**row, f"{name}_label": names.get(row.get(name))} for row in rows]
    places = [row[name] for row in rows if isinstance(row.get(name), int | float) and float(row[name]).is_integer()]
    if not names or not places or any(place not in names for place in places):
        return labelled
    kept: list[dict[str, Any]] = []
    for row in labelled:
        row[name] = row.pop(f"{name}_label")
        if row[name] is not None or row not in kept:
            kept.append(row)
    return kept


def _column_names(layout: dict[str, Any], columns: list[str]) -> dict[str, str]:
    """Return the name of each column: the title of its axis, or of the colours, if no other column has that name."""
    subtitle = (layout.get("title", {}).get("subtitle") or {}).get("text")
    titles = {name: (layout.get(f"{name}axis", {}).get("title") or {}).get("text") for name in ("x", "y")}
    first = (subtitle or "").split(";")[0]
    titles["z"] = "" if ":" in first else first  # a colon explains colours
    titles |= {name: title for name, (title, _labels) in (layout.get("meta") or {}).items()}
    names = {name: name for name in columns}
    for name, title in titles.items():
        said = plain_text(title or "").strip()
        if said and said not in names.values():
            names |= {name: said, f"{name}_label": f"{said}, label"}
    return names


def axis_names(figure: Figure) -> list[str]:
    """Return the names of a figure's axes and of its colours, as far as it names them."""
    names = _column_names(figure.layout.to_plotly_json(), ["x", "y", "z"])
    return [name for column, name in names.items() if name != column and not column.endswith("_label")]


def figure_numbers(figure: Figure) -> npt.NDArray[np.float64]:
    """Return the main numbers of a figure, in drawing order, one-dimensional.

    They are the values of the first map. Without a map they are the lengths of all bars, and without bars the values of
    the first histogram. In all other figures they are the places of all marks: the heights, or the third axis in three
    dimensions. If rows have names, the places are the horizontal positions.
    """
    marks = "y" if figure.layout.yaxis.ticktext is None else "x"
    for kind, names in (("heatmap", "z"), ("bar", "xy"), ("histogram", "x"), ("scatter", marks), ("scatter3d", "z")):
        found = [trace.to_plotly_json() for trace in figure.data if trace.type == kind]
        if found:
            values = [one["x" if names == "xy" and one.get("orientation") == "h" else names[-1]] for one in found]
            shown = values[:1] if kind in ("heatmap", "histogram") else values
            return np.concatenate([np.asarray(value, np.float64).ravel() for value in shown])
    return np.zeros(0)


def _is_mark(trace: Trace) -> bool:
    """Return True if a trace only marks or labels the cells of a map: it has neither a name nor a hover text."""
    unnamed = not trace.get("name") and trace.get("hoverinfo") == "skip"
    return trace["type"] == "scatter" and trace.get("mode") in ("markers", "text") and unnamed


def _marks(traces: Sequence[Trace]) -> dict[str, dict[Any, Any]]:
    """Return the marked cells of a map by the mark's meaning: (x, y) to True, or to the text that is written on it.

    The result is empty if no trace is a map.
    """
    found: dict[str, dict[Any, Any]] = {}
    if any(trace["type"] == "heatmap" for trace in traces):
        for trace in filter(_is_mark, traces):
            texts = [plain_text(str(text)) or None for text in trace.get("text", ())]
            name = "text" if texts else trace.get("meta") or "marked"
            places = zip(trace["x"], trace["y"], strict=True)
            found.setdefault(name, {}).update(zip(places, texts or repeat(True, len(trace["x"])), strict=True))
    return found


def _cells(trace: Trace, marks: Mapping[str, Mapping[Any, Any]]) -> list[dict[str, Any]]:
    """Return a row for each cell of a map, with its marks."""
    values = np.asarray(trace["z"], np.float64)
    across, down = (
        list(range(count)) if trace.get(name) is None else list(trace[name])
        for name, count in zip(("x", "y"), values.shape[::-1], strict=True)
    )
    columns = {name: np.asarray(cells) for name, cells in (trace.get("meta") or {"z": values}).items()}
    rows = [
        {"x": across[column], "y": down[row], **{name: cells[row, column].item() for name, cells in columns.items()}}
        for row, column in np.ndindex(values.shape)
    ]
    for row in rows:
        place = row["x"], row["y"]
        row |= {name: marked.get(place, None if name == "text" else False) for name, marked in marks.items()}
    return rows


def _connects(trace: Trace) -> bool:
    """Return True if a trace only connects pairs of marks of other traces: unnamed lines with gaps."""
    across = numbers(trace["x"]) if trace.get("mode") == "lines" and trace.get("hoverinfo") == "skip" else np.zeros(0)
    return not trace.get("name") and bool(np.isnan(across[2::3]).all()) and across.size > 0


def _points(trace: Trace) -> list[dict[str, Any]]:
    """Return a row for each mark of a trace."""
    found = {name: list(trace[name]) for name in ("x", "y", "z") if trace.get(name) is not None}
    error = trace.get("error_x") or trace.get("error_y")
    if error:
        found["minus"], found["plus"] = (span.tolist() for span in spans(error))
    if is_list(trace.get("text")) and not trace.get("meta"):
        found["text"] = [plain_text(str(text)) for text in trace["text"]]
    found |= trace.get("meta") or {}
    return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=False)]


def numbers(values: Any) -> npt.NDArray[np.float64]:
    """Return values as float64; None becomes NaN."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


def spans(error: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    """Return the lengths of the error bars below and above each mark, shape (2, mark)."""
    above = numbers(error["array"])
    below = error.get("arrayminus")
    lengths: npt.NDArray[np.float64] = np.abs(np.array([above if below is None else numbers(below), above]))
    return lengths


def is_list(value: Any) -> bool:
    """Return True for a list or array, which has a value for each mark, and False for a single value for all marks."""
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def repeat(value: Any, count: int) -> list[Any]:
    """Return a list with a value for each of ``count`` marks; a single value or a short list is repeated."""
    if not is_list(value):
        return [value] * count
    return [value[at % len(value)] for at in range(count)] if len(value) else [None] * count


def first_of(value: Any) -> Any:
    """Return a single value, or the first of a list; None for an empty list."""
    return (value[0] if len(value) else None) if is_list(value) else value
