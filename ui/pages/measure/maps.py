"""Every head's score for one relation: maps, the table of heads, and the files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import streamlit as st

from probing.corpus import Corpus
from probing.rows import Row, accuracies, rows, to_csv, to_json
from probing.tally import Counts
from ui.input.head_picking import keep_head, many_do
from ui.input.picking import control
from ui.pages.measure.measured import Measured
from ui.pages.measure.options import Measure
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.show.provenance import provenance
from ui.show.saving import save
from viz.figures.head_map import head_map
from viz.figures.head_marks import mark_heads

MAP, RANDOM_MAP = "measure_map", "measure_random_map"


def maps(found: Measured, options: Measure, relation: str, looked_at: tuple[int, int]) -> None:
    """Every head's score for one relation, and random weights' on the same scale; one head is framed."""
    counts = found.state.tally.of(relation)
    assert counts is not None
    ways = {"best": "Each head's better direction", "out": found.corpus.directions[0]}
    if len(found.corpus.directions) > 1:
        ways["in"] = found.corpus.directions[1]
    way = way_of(options, found.corpus)
    control(Measure, "way", st.segmented_control, "Direction", list(ways), format_func=ways.get, shown=way,
            required=True, help="Whether a head may find a link by looking from one end or from the other")  # fmt: skip
    shown = _shown(counts, found.corpus, way)
    mine, untrained = found.heads(relation), found.untrained(relation)
    above = [(row.layer, row.head) for row in mine if row.more]
    limit = float(shown.max()) or 1.0
    common: dict[str, Any] = {"base": found.base, "limit": limit}
    figure = head_map(
        shown,
        theme(),
        "How often each head finds it",
        f"% of {counts.n:,} links",
        selected=looked_at,
        **common,
    )
    mark_heads(figure, above, "circle-open", theme(), found.base)
    say(among(mine, untrained), role="status")
    left, right = st.columns(2)
    draw_chart(figure, MAP, place=left, on_click=keep_head)
    random = None if found.random is None else found.random.of(relation)
    if random is not None:
        figure = head_map(_shown(random, found.corpus, way), theme(), "The same with random weights",
                          f"% of {random.n:,} links", **common)  # fmt: skip
        draw_chart(figure, RANDOM_MAP, place=right)
    st.caption(
        "Each cell is one head, on all of the sentences, those on which heads are chosen included. Frame: the head"
        " whose sentences are below. Ring: the head finds more than the rule without a model, by a paired test on the"
        " same links, sentence by sentence, corrected for all heads and both directions by Holm's method: in at most 5"
        " of 100 such maps is even one ring luck. Both maps share a scale. A click selects the head on all pages, and"
        " opens its sentences."
    )


def way_of(options: Measure, corpus: Corpus) -> str:
    """The direction that is shown: the reader's, where these sentences have it."""
    return options.way if options.way == "out" or (options.way == "in" and len(corpus.directions) > 1) else "best"


def _shown(counts: Counts, corpus: Corpus, way: str) -> np.ndarray:
    percent = accuracies(counts, len(corpus.directions))
    shown: np.ndarray = percent.max(axis=0) if way == "best" else percent[0 if way == "out" else 1]
    return shown


def among(mine: list[Row], untrained: list[Row]) -> str:
    """How many heads find more than the rule, beside how many do so untrained."""
    mean = sum(row.accuracy for row in mine) / len(mine)
    best = max(mine, key=lambda row: row.accuracy)
    more, at_random = (sum(row.more for row in found) for found in (mine, untrained))
    beside = f"; with random weights, {many_do(at_random, len(untrained), 'does', 'do', 'so')}" if untrained else ""
    return (
        f"{best.relation}, all {best.n:,} links: {many_do(more, len(mine), 'finds', 'find', 'more')} than the rule's"
        f" {best.baseline:.1f} % (paired test by sentence, corrected for all heads by Holm's method){beside}. The mean"
        f" over heads is {mean:.1f} %, the largest {best.accuracy:.1f} %."
    )


def files(found: Measured, relation: str) -> None:
    """Every head's figures: this relation's as a table, all of them as files."""
    everything = rows(found.state.tally, found.corpus, found.chooser)
    mine = sorted((row for row in everything if row.relation == relation), key=lambda row: -row.accuracy)
    with st.expander("Every head"):
        st.dataframe(
            {
                "layer": [row.layer + found.base for row in mine],
                "head": [row.head + found.base for row in mine],
                "direction": [row.direction for row in mine],
                "% found": [round(row.accuracy, 2) for row in mine],
                "low": [round(row.low, 2) for row in mine],
                "high": [round(row.high, 2) for row in mine],
                "rule finds": [round(row.baseline, 2) for row in mine],
                "than the rule": [row.verdict for row in mine],
                "p of “more”": [float(f"{row.p_more:.3g}") for row in mine],
            },
            hide_index=True,
            key="measure_heads_table",
        )
        left, right = st.columns(2)
        about = "Every relation and head, all digits, counted from 0"
        save("Save as CSV", to_csv(everything), "headlight-scores.csv", about, place=left, of_model=True)
        kind = "application/json"
        scores = {**provenance(texts=False), "scores": json.loads(to_json(everything))}
        save("Save as JSON", json.dumps(scores, indent=1), "headlight-scores.json", about, kind=kind, place=right)


def left_out(found: Measured) -> None:
    """What of the data did not count."""
    state, corpus = found.state, found.corpus
    if corpus.left_out:
        say(f"{corpus.left_out:,} rows ask nothing and were left out.", role="status")
    if state.skipped:
        say(f"{state.skipped:,} texts could not be read by the model. {state.reason}", role="status")
    if state.tally.unread:
        say(f"{state.tally.unread:,} links in texts or words that were not read count nowhere.", role="status")
