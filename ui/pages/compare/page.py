"""The view Compare: two texts, two models, or a text before and after an ablation, as figures."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.comparison import AlignedViews, changes, same_heads
from attention.mask import FloatArray
from attention.spreadsheet import file_stem
from attention.trace import Trace
from attention.view import DisplayToken, View
from i18n import _, gettext_lazy, translate
from inference import UserError
from ui.input.composing import compose
from ui.input.controls import control_row, keep_head
from ui.input.view_options import pick_part
from ui.pages.compare.comparison import Comparison, compare
from ui.pages.compare.options import CompareOptions, pick_difference, pick_source, settle_difference
from ui.pages.compare.pair_set import draw_set
from ui.pages.compare.result import (
    caption_fields,
    comparison_provenance,
    describe_comparison,
    divergence_provenance,
    heads_csv,
    links_csv,
    page_html,
)
from ui.pages.compare.sides import Sides, aligned_code, sides_of, view_arguments
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.traces import read_trace
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.sections import reading_help
from ui.show.tables import download_button
from ui.show.text import join_sentences
from ui.state.params import get_params
from ui.state.selection import resolve_view
from ui.state.session import get_view_state, set_view_state
from ui.state.view_state import ViewState
from viz.components.matrices.matrices import picked_cell as picked_cell
from viz.components.token_strip.token_strip import TokenChip, mount, picked_chip
from viz.figures.head_maps import head_map
from viz.figures.theme import sides as color_names
from viz.figures.token_bars import two_readings
from viz.matrix_specs.heads import side_by_side
from viz.paper.notebook import Computation

FIRST, SECOND, GRID, ROW, MAPS = "compare_first", "compare_second", "compare_grid", "compare_row", "compare_maps"
MOST_WORDS = 24  # words of a row that are drawn
MOST_SHOWN = 48  # rows and columns of a map that are drawn
ROWS = """\
rows = [views.row(side, *heads[side], queries[side]) for side in (0, 1)]
weights = [[np.nan if run is None else row[slice(*run)].sum() for row, run in zip(rows, runs)] for runs in words]
first, second = np.transpose(weights)
lines = [(*pair, np.nan) for pair in weights if np.isfinite(pair).all()]
numbers = [*np.ravel(lines), *first[np.isfinite(first)], *second[np.isfinite(second)]]"""  # code of a notebook
ALONE = gettext_lazy("only here")


def draw_token_strips(found: Comparison) -> None:
    """Draw both texts shaded by the attention of the word in focus; a click moves the focus."""
    sides, rows = found.sides, found.rows()
    names = sides.names()
    mount(_chips(found, 0, rows[0]), FIRST, title=_heading(names[0]), on_pick=lambda: _on_word_click(found, 0, FIRST))
    mount(_chips(found, 1, rows[1]), SECOND, title=_heading(names[1]), on_pick=lambda: _on_word_click(found, 1, SECOND))
    st.caption(_("Shading: attention of the framed word. Click a word to frame it."))


def _heading(name: str) -> str:
    return name[0].upper() + name[1:]


def _chips(found: Comparison, side: int, row: FloatArray) -> list[TokenChip]:
    beside = found.sides.beside
    view = (beside.left, beside.right)[side]
    itself = view.queries == view.keys
    tokens = view.trace.token_rows(view.part)[0]
    held = {cell: pair for pair, runs in enumerate(beside.queries.pairs) for cell in range(*runs[side])}
    target = None if found.column is None else beside.keys.pairs[found.column][side]
    chips = []
    for at, cell in enumerate(view.queries):
        pair = held.get(at)
        chosen = at == found.focus if side == 0 and found.row is None else pair is not None and pair == found.row
        aimed = itself and target is not None and target[0] <= at < target[1]
        weight = float(row[at]) if itself and np.isfinite(row[at]) else None
        chips.append(
            TokenChip(
                cell.text,
                shade=weight,
                mark="chosen" if chosen else "target" if aimed else "",
                glued=not view.words and tokens.goes_on(cell.pieces[0]),
                special=cell.special,
                title="" if weight is None else f"{weight:.4f}",
                label=_label(found, side, cell, pair),
            )
        )
    return chips


def _label(found: Comparison, side: int, cell: DisplayToken, pair: int | None) -> str:
    """Return the label below a chip: that the word is unmatched, or its differing counterpart, else ""."""
    if pair is None:
        return translate(ALONE)
    if found.sides.two_models:
        return ""
    beside = found.sides.beside
    run = beside.queries.pairs[pair][1 - side]
    other = "".join(one.text for one in (beside.right, beside.left)[side].queries[slice(*run)])
    return "" if other.casefold() == cell.text.casefold() or run[1] - run[0] > 3 else f"↔ {other}"


def _on_word_click(found: Comparison, side: int, key: str) -> None:
    """Put the clicked word in focus, by its tokens in the first reading (a callback)."""
    cell, beside = picked_chip(key), found.sides.beside
    if cell is None:
        return
    if side:
        pair = beside.queries.pair_of(1, cell)
        if pair is None:
            return
        cell = beside.queries.pairs[pair][0][0]
    if cell < len(beside.left.queries):
        set_view_state(focus=beside.left.queries[cell].pieces[0], layer=found.head[0], head=found.head[1])


def figures(found: Comparison) -> None:
    """Draw the change of each head, both texts, and the row of the word in focus."""
    left, right = st.columns(2)
    colours, bits = theme(), found.changes.bits
    figure = head_map(bits, colours, _("Change of each head"), _("divergence (bits)"), selected=found.head)
    note = _(
        "Mean Jensen–Shannon divergence of each head's aligned rows, scaled to the compared words: 0 equal, "
        "1 no overlap."
    )
    if found.sides.options.differs == "text":
        note = join_sentences(note, _("In layer 0, heads change only through changed words and positions."))
    about = partial(divergence_provenance, found)
    draw_chart(figure, GRID, place=left, on_click=keep_head, about=about, computation=_changes(found.sides), test=note)
    left.caption(note)
    with left:
        draw_token_strips(found)
    lines = row_of(found)
    words = [line.text for line in lines]
    values = np.array([line.weights for line in lines], np.float32).reshape(-1, 2)
    place = next((at for at, line in enumerate(lines) if line.is_target), None)
    focus = found.sides.beside.left.queries[found.focus].text
    names = found.sides.names()
    figure = two_readings(
        words,
        values[:, 0],
        values[:, 1],
        names,
        colours,
        _("Attention from “{word}” in head {head}", word=focus, head=_head(found)),
        marked=place,
    )
    about = partial(comparison_provenance, found)
    draw_chart(figure, ROW, place=right, about=about, computation=_row_computation(found, lines))
    right.caption(
        _(
            "The largest weights, {n} of {all}. Line: the difference; single mark: a word that only one run has.",
            n=len(words),
            all=_word_count(found),
        )
    )


def _changes(sides: Sides) -> Computation | None:
    """Return the computation of the change of each head; None if heads are paired or a reading has no request."""
    code = "numbers = changes(views, same_heads(views.left, views.right)).bits"
    return None if sides.best else _views_computation(sides, code, changes=changes, same_heads=same_heads)


def _views_computation(sides: Sides, code: str, **names: Any) -> Computation | None:
    """Return notebook code that runs ``code`` on ``views``, the aligned views of both readings.

    ``names`` are the other names that the code uses. Return None if a reading has no request.
    """
    if sides.requests is None:
        return None
    views = f"views = {aligned_code('readings', sides.options.shared)}"
    return Computation(
        views, readings=sides.requests, look=view_arguments(sides.look), AlignedViews=AlignedViews, View=View
    ).then(code, **names)


def _row_computation(found: Comparison, shown: Sequence[WordWeights]) -> Computation | None:
    """Return the computation of ``two_readings``: the connecting lines, then the marks of either reading.

    Return None if a reading has no request, or if the word in focus has no counterpart.
    """
    if found.row is None:
        return None
    queries = found.sides.beside.queries.pairs[found.row]
    return _views_computation(
        found.sides, ROWS, heads=(found.head, found.partner), queries=queries, words=[line.runs for line in shown]
    )


def _head(found: Comparison) -> str:
    """Return the name of the chosen head, and that of its counterpart if they differ."""
    head = found.name(found.head)
    return head if found.partner == found.head else f"{head} / {found.name(found.partner)}"


def _word_count(found: Comparison) -> int:
    sides = found.sides
    return len(sides.beside.keys.pairs) + sum(map(len, sides.unmatched_keys))


@dataclass(frozen=True)
class WordWeights:
    """A word with its attention from the word in focus, and its keys (start, stop), in both readings.

    The weight is NaN, and the keys are None, in a reading without the word.
    """

    order: tuple[int, int]  # sorts the words by the first text, then by the second
    text: str
    weights: tuple[float, float]
    runs: tuple[tuple[int, int] | None, tuple[int, int] | None]
    is_target: bool


def row_of(found: Comparison) -> list[WordWeights]:
    """Return the attention of the word in focus to the MOST_WORDS words with the largest weights.

    Words are in the order of the first text. A word that only the second text has precedes the next common word.
    """
    sides, (first, second) = found.sides, found.rows()
    beside, none = sides.beside, float("nan")
    lines = []
    for pair, (one, other) in enumerate(beside.keys.pairs):
        weights = float(first[slice(*one)].sum()), float(second[slice(*other)].sum())
        target = pair == found.column
        lines.append(WordWeights((one[0], len(second)), sides.label(pair, key=True), weights, (one, other), target))
    starts = [other[0] for _one, other in beside.keys.pairs]
    for cell in sides.unmatched_keys[0]:
        text, weight, run = beside.left.keys[cell].text, float(first[cell]), (cell, cell + 1)
        lines.append(WordWeights((cell, len(second)), text, (weight, none), (run, None), cell == found.target))
    for cell in sides.unmatched_keys[1]:
        following = bisect_right(starts, cell)
        before = beside.keys.pairs[following][0][0] if following < len(starts) else len(first)
        text, weight, run = beside.right.keys[cell].text, float(second[cell]), (cell, cell + 1)
        lines.append(WordWeights((before, cell), text, (none, weight), (None, run), False))
    shown = sorted(lines, key=lambda line: -np.nanmax([*line.weights, 0]))[:MOST_WORDS]
    return sorted(shown, key=lambda line: (line.order, line.text))


def window(length: int, around: int | None) -> range:
    """Return a range of at most MOST_SHOWN indices below ``length``, centred on ``around`` if possible.

    >>> window(10, 3), window(100, 90), window(100, None)
    (range(0, 10), range(52, 100), range(0, 48))
    """
    start = min(max(0, (around or 0) - MOST_SHOWN // 2), max(0, length - MOST_SHOWN))
    return range(start, min(length, start + MOST_SHOWN))


def maps(found: Comparison, sentences: Sequence[str]) -> None:
    """Draw the head's maps in both readings on a common scale, their difference, and the downloads.

    A click puts a pair of words in focus.
    """
    sides, beside = found.sides, found.sides.beside
    rows = window(len(beside.queries.pairs), found.row)
    columns = window(len(beside.keys.pairs), found.column)
    places = np.array(rows, np.intp)
    one, other = (
        beside.maps(side, *head, places)[0][:, columns.start : columns.stop]
        for side, head in enumerate((found.head, found.partner))
    )
    marked = tuple(None if at is None or at not in shown else at - shown.start
                   for at, shown in ((found.row, rows), (found.column, columns)))  # fmt: skip
    names = sides.names()
    sheets = side_by_side(
        one,
        other,
        [sides.label(row, key=False) for row in rows],
        [sides.label(column, key=True) for column in columns],
        (names[0], names[1]),
        (marked[0], marked[1]),
        color_names(theme()),
    )
    shown = f"[:, {columns.start}:{columns.stop}]"
    code = f"numbers = views.maps(0, *{found.head}, np.arange({rows.start}, {rows.stop}))[0]{shown}"
    draw_matrices(sheets, MAPS, on_pick=lambda: _pair(found, rows, columns), numbers=False, about=caption_fields(found),
                  computation=_views_computation(sides, code))  # fmt: skip
    if len(rows) < len(beside.queries.pairs) or len(columns) < len(beside.keys.pairs):
        show_notice(
            _(
                "The maps show {rows} × {columns} of {all_rows:,} × {all_columns:,} words, around the selection.",
                rows=len(rows),
                columns=len(columns),
                all_rows=len(beside.queries.pairs),
                all_columns=len(beside.keys.pairs),
            ),
            role="status",
        )
    place = st.container(horizontal=True)
    download_button(_("Save these maps"), links_csv(found, rows, columns, one, other), "headlight-side-by-side.csv",
         _("All digits"), place=place,
         provenance=comparison_provenance(found))  # fmt: skip
    download_button(_("Save all heads"), heads_csv(found), "headlight-side-by-side-heads.csv",
         _("All digits"), place=place,
         provenance=divergence_provenance(found))  # fmt: skip
    stem = file_stem("headlight-side-by-side", comparison_provenance(found))
    download_button(_("Save as HTML"), page_html(found, sentences, sheets), f"{stem}.html",
         _("Sentences, maps and numbers in one file"),
         kind="text/html", place=place)  # fmt: skip


def _pair(found: Comparison, rows: range, columns: range) -> None:
    place, beside = picked_cell(MAPS), found.sides.beside
    if place is None or place[1] >= len(rows) or place[2] >= len(columns):
        return
    query = beside.queries.pairs[rows[place[1]]][0][0]
    key = beside.keys.pairs[columns[place[2]]][0][0]
    set_view_state(
        focus=beside.left.queries[query].pieces[0],
        to=beside.left.keys[key].pieces[0],
        layer=found.head[0],
        head=found.head[1],
    )


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A head with equal weights in both texts does not distinguish them.\n"
                "- Rows are compared by Jensen–Shannon divergence "
                "([doi:10.1109/18.61115](https://doi.org/10.1109/18.61115)). Any edit changes some heads: compare with "
                "controls."
            )
        )


def draw_pair(choice: ViewState, options: CompareOptions) -> None:
    """Draw the text box and the widget for the difference, then both readings."""
    # The second text of a pair is part of both runs, so only a link to a pair offers it.
    compose(choice, kind_of(choice), pairs=bool(choice.pair))
    settled = settle_difference(choice, options)
    with control_row("compare"):
        pick_source()
        pick_difference(settled.differs)
    trace = read_trace(choice)
    if trace is not None:
        draw(choice, trace, settled)


def draw(choice: ViewState, trace: Trace, options: CompareOptions) -> None:
    """Draw the widgets for the second reading, then sentences and figures that compare it with the first."""
    look, notes = resolve_view(choice, trace)
    for note in notes:
        show_notice(note, role="status")
    pick_part(trace, look)
    sides = sides_of(choice, trace, look, options)
    if sides is None:
        return
    try:
        found = compare(choice, sides)
    except UserError as refusal:
        show_error(refusal)
        return
    if found is None:
        return
    sentences = describe_comparison(found)
    for sentence in sentences:
        show_notice(sentence, role="status")
    figures(found)
    maps(found, sentences)


def draw_view() -> None:
    """Draw the view Compare in the page."""
    chosen, options_now = get_view_state(), get_params(CompareOptions)
    if options_now.show == "set" and not chosen.opened:
        pick_source()
        draw_set(chosen, options_now)
    else:
        draw_pair(chosen, options_now)
    how_to_read()
