"""Scores of all heads for a relation: maps, the table of heads, the sentences of a head, and downloads."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import streamlit as st

from i18n import _, ngettext, translate
from probing.corpus import AnnotatedCorpus
from probing.results import RelationRow, accuracies, rows, rule, to_csv, to_json
from probing.score import RelationCounts
from ui.input.controls import bound_widget, keep_head
from ui.pages.measure.corpus_scores import CorpusScores
from ui.pages.measure.heads import VERDICTS
from ui.pages.measure.options import MeasureOptions
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.scored_links import TITLE, LinkScore, scored_links
from ui.show.tables import download_button, draw_table, model_provenance
from ui.show.text import join_sentences
from ui.state.view_state import ViewState
from viz.figures.head_maps import head_map, mark_heads

MAP, RANDOM_MAP = "measure_map", "measure_random_map"


def maps(found: CorpusScores, options: MeasureOptions, relation: str, looked_at: tuple[int, int]) -> None:
    """Draw the scores of all heads for a relation, and those of random weights on the same scale.

    The head ``looked_at`` is framed.
    """
    counts = found.state.tally.counts_of(relation)
    assert counts is not None
    ways = {"best": _("Better direction"), "out": found.corpus.directions[0]}
    if len(found.corpus.directions) > 1:
        ways["in"] = found.corpus.directions[1]
    way = way_of(options, found.corpus)
    bound_widget(
        MeasureOptions, "way", st.segmented_control, options=list(ways), format_func=ways.get, shown=way, required=True
    )
    shown = _shown_percent(counts, found.corpus, way)
    mine, untrained = found.heads(relation), found.untrained_rows(relation)
    above = [(row.layer, row.head) for row in mine if row.more]
    limit = float(shown.max()) or 1.0
    common: dict[str, Any] = {"limit": limit}
    figure = head_map(
        shown,
        theme(),
        _("Share of links found by each head"),
        _("% of {links:,} links", links=counts.n),
        selected=looked_at,
        **common,
    )
    mark_heads(figure, above, "circle-open", theme())
    show_notice(describe_counts(mine, untrained), role="status")
    left, right = st.columns(2)
    draw_chart(figure, MAP, place=left, on_click=keep_head, about=model_provenance)
    random = None if found.random is None else found.random.counts_of(relation)
    if random is not None:
        figure = head_map(_shown_percent(random, found.corpus, way), theme(), _("With random weights"),
                          _("% of {links:,} links", links=random.n), **common)  # fmt: skip
        draw_chart(figure, RANDOM_MAP, place=right, about=model_provenance)
    st.caption(
        _(
            "Each cell is a head, scored on all sentences. Ring: significantly more than the baseline "
            "(two-sided, paired by sentence, Holm-corrected for all heads and directions, 5 %). Click a head to "
            "see its sentences."
        )
    )


def way_of(options: MeasureOptions, corpus: AnnotatedCorpus) -> str:
    """Return the shown direction: the reader's if the corpus has it, else "best"."""
    return options.way if options.way == "out" or (options.way == "in" and len(corpus.directions) > 1) else "best"


def _shown_percent(counts: RelationCounts, corpus: AnnotatedCorpus, way: str) -> np.ndarray:
    percent = accuracies(counts, len(corpus.directions))
    shown: np.ndarray = percent.max(axis=0) if way == "best" else percent[0 if way == "out" else 1]
    return shown


def describe_counts(mine: list[RelationRow], untrained: list[RelationRow]) -> str:
    """Describe how many heads exceed the rule, compared with untrained weights."""
    mean = sum(row.accuracy for row in mine) / len(mine)
    best = max(mine, key=lambda row: row.accuracy)
    more, at_random = (sum(row.more for row in found) for found in (mine, untrained))
    found = ngettext(
        "{relation}, all {links:,} links: {many} of {size} heads significantly exceeds the baseline's {rule:.1f} %",
        "{relation}, all {links:,} links: {many} of {size} heads significantly exceed the baseline's {rule:.1f} %",
        more,
        relation=best.relation,
        links=best.n,
        many=more,
        size=len(mine),
        rule=best.baseline,
    )
    whole = (
        ngettext(
            "{found}; with random weights, {many} of {size} heads does so.",
            "{found}; with random weights, {many} of {size} heads do so.",
            at_random,
            found=found,
            many=at_random,
            size=len(untrained),
        )
        if untrained
        else _("{found}.", found=found)
    )
    mean_and_most = _(
        "The mean over heads is {mean:.1f} %, the largest {largest:.1f} %.", mean=mean, largest=best.accuracy
    )
    return join_sentences(whole, mean_and_most)


def files(found: CorpusScores, relation: str) -> None:
    """Draw the table of the relation's heads, and the downloads of all relations."""
    everything = rows(found.state.tally, found.corpus, found.chooser)
    mine = sorted((row for row in everything if row.relation == relation), key=lambda row: -row.accuracy)
    with st.expander(_("Every head")):
        draw_table(
            {
                _("layer"): [row.layer for row in mine],
                _("head"): [row.head for row in mine],
                _("direction"): [translate(row.direction) for row in mine],
                _("% found"): [round(row.accuracy, 2) for row in mine],
                _("low"): [round(row.low, 2) for row in mine],
                _("high"): [round(row.high, 2) for row in mine],
                _("rule finds"): [round(row.baseline, 2) for row in mine],
                _("than the rule"): [translate(VERDICTS[row.verdict]) for row in mine],
                _("p, two-sided"): [float(f"{row.p:.3g}") for row in mine],
            },
            key="measure_heads_table",
        )
        left, right = st.columns(2)
        about = _("Every relation and head")
        download_button(
            _("Save as CSV"),
            to_csv(everything),
            "headlight-scores.csv",
            about,
            place=left,
            provenance=model_provenance(),
        )
        kind = "application/json"
        scores = {**model_provenance(), "scores": json.loads(to_json(everything))}
        download_button(
            _("Save as JSON"), json.dumps(scores, indent=1), "headlight-scores.json", about, kind=kind, place=right
        )


def left_out(found: CorpusScores) -> None:
    """Show notices about rows, texts and links that were not counted."""
    state, corpus = found.state, found.corpus
    if corpus.left_out:
        show_notice(_("{rows:,} rows contain no question and were skipped.", rows=corpus.left_out), role="status")
    if state.skipped:
        show_notice(
            _("The model cannot read {texts:,} texts. {why}", texts=state.skipped, why=state.reason),
            role="status",
        )
    if state.tally.unread:
        show_notice(
            _("{links:,} links of unread texts or words are not counted.", links=state.tally.unread),
            role="status",
        )


def selected_head(found: CorpusScores, best: RelationRow, choice: ViewState) -> tuple[int, int]:
    """Return the selected (layer, head) if the scores contain it, else the best head."""
    counts = found.state.tally.counts_of(best.relation)
    assert counts is not None
    _, layers, heads = counts.shape
    if choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads:
        return choice.layer, choice.head
    return best.layer, best.head


def direction_of(found: CorpusScores, options: MeasureOptions, relation: str, head: tuple[int, int]) -> int:
    """Return the shown direction of a head, 0 or 1; the better of both if the map shows the better."""
    way = way_of(options, found.corpus)
    if way != "best":
        return 0 if way == "out" else 1
    return int(_basis(found, relation).hits_by_head[: len(found.corpus.directions), *head].argmax())


def _basis(found: CorpusScores, relation: str) -> RelationCounts:
    """Return the counts on which directions and rules are chosen."""
    counts = (found.chooser.counts_of(relation) if found.chooser else None) or found.state.tally.counts_of(relation)
    assert counts is not None
    return counts


def draw_examples(
    found: CorpusScores, options: MeasureOptions, relation: str, head: tuple[int, int], choice: ViewState
) -> None:
    """Draw the links that a head was scored on, in the direction that the map shows."""
    counts = found.state.tally.counts_of(relation)
    assert counts is not None
    st.subheader(translate(TITLE))
    place = (direction_of(found, options, relation, head), *head)
    bar = rule(_basis(found, relation), found.corpus, counts)
    scored_links(LinkScore(found.corpus, counts, relation, place, bar), MeasureOptions, options, choice)
