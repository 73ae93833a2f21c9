"""Which head finds which relation, and how well: the figure and the table of all relations."""

from __future__ import annotations

import streamlit as st

from ui.input.picking import control
from ui.pages.measure.measured import Measured
from ui.pages.measure.options import Measure
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.show.relation_names import in_words
from ui.state.options import choose_own
from viz.figures.relation_scores import Score, relation_scores

TABLE = "measure_table"
MOST_LINES = 24  # relations in the figure; all are in the tables
LEAST = "Relations with fewer links in the part that is reported are left out: their figures say little."
SHOWN = "What the sentences and the maps speak of. A click on a line of the table picks it too."


def relations(found: Measured, options: Measure) -> list[str]:
    """Relations with enough links to be shown, the reader's among them."""
    tally = found.state.tally
    kept = []
    for relation in tally.relations():
        row = found.chosen(relation)
        if row is not None and (row.n >= options.least or relation == options.relation):
            kept.append(relation)
    return kept


def overview(found: Measured, options: Measure) -> str | None:
    """The figure of all relations and their table; the relation that is looked at. None where none has enough links."""
    left, right = st.columns([1, 4])
    control(Measure, "least", left.number_input, "Fewest links", min_value=1, max_value=100_000, step=5, help=LEAST)
    names = relations(found, options)
    if not names:
        say("No relation has so many links in both parts of the data. Ask for fewer, or bring more sentences.")
        return None
    relation = options.relation if options.relation in names else names[0]
    control(Measure, "relation", right.selectbox, "Relation", names, shown=relation, format_func=in_words, help=SHOWN)
    say(summary(found, relation), role="status")
    scores = [_score(found, name) for name in names]
    drawn = scores[:MOST_LINES]
    if relation not in {score.relation for score in drawn}:
        drawn.append(scores[names.index(relation)])
    figure = relation_scores(drawn, theme(), "The best head of each relation", selected=relation)
    draw_chart(figure, "measure_scores")
    where = "other sentences" if found.chooser else "every other sentence"
    st.caption(
        "Dot: how often the head named at the left finds the relation, with its 95 % interval. It was chosen on"
        f" {where} and is reported on the rest, because the best of many heads always looks good on what it was"
        " chosen on. Bar: the best rule that looks at no model. Ring: the best head of the same architecture with"
        " random weights, chosen and reported in the same way."
    )
    _table(found, scores)
    return relation


def summary(found: Measured, relation: str) -> str:
    """What the numbers say of one relation."""
    row = found.chosen(relation)
    assert row is not None
    chance = found.chance(relation)
    beside = "" if chance is None else f"; the best head with random weights {chance.accuracy:.1f} %"
    verdict = "more" if row.low > row.baseline else "less" if row.high < row.baseline else "not clearly more"
    return (
        f"{relation}: head {found.name(row)} finds {row.accuracy:.1f} % ({row.low:.1f} to {row.high:.1f}) of {row.n:,}"
        f" links that it was not chosen on, from {row.direction}. That is {verdict} than the rule"
        f" “{row.baseline_name}”, which finds {row.baseline:.1f} %{beside}."
    )


def _score(found: Measured, relation: str) -> Score:
    row, chance = found.chosen(relation), found.chance(relation)
    assert row is not None
    random = None if chance is None else chance.accuracy
    head = found.name(row)
    return Score(relation, row.n, head, row.accuracy, row.low, row.high, row.baseline, row.baseline_name, random)


def _table(found: Measured, scores: list[Score]) -> None:
    """All relations with their figures; a click on a line picks the relation."""
    directions = {row.relation: row.direction for s in scores if (row := found.chosen(s.relation)) is not None}
    st.dataframe(
        {
            "relation": [score.relation for score in scores],
            "links": [score.n for score in scores],
            "head": [score.head for score in scores],
            "direction": [directions[score.relation] for score in scores],
            "% found": [round(score.accuracy, 2) for score in scores],
            "low": [round(score.low, 2) for score in scores],
            "high": [round(score.high, 2) for score in scores],
            "rule finds": [round(score.baseline, 2) for score in scores],
            "rule": [score.rule for score in scores],
            "random weights": [None if score.random is None else round(score.random, 2) for score in scores],
        },
        hide_index=True,
        key=TABLE,
        on_select=lambda: _pick([score.relation for score in scores]),
        selection_mode="single-row",
    )
    st.caption(
        "Percent of links found, ends of the 95 % interval (Wilson), and what the two comparisons find. Click a line's"
        " left edge to see that relation below."
    )


def _pick(names: list[str]) -> None:
    lines = st.session_state[TABLE]["selection"]["rows"]
    if lines and lines[0] < len(names):
        choose_own(Measure, relation=names[lines[0]])
