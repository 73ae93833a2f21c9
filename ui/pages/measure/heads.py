"""The best head of each relation, as a figure and as a table."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy, translate
from probing.results import RelationRow, candidates
from ui.input.controls import bound_widget, control_row
from ui.pages.measure.corpus_scores import CorpusScores
from ui.pages.measure.options import MeasureOptions
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.scored_links import describe_relation
from ui.show.tables import draw_table, model_provenance
from ui.show.text import join_sentences
from ui.state.params import set_params
from viz.figures.evaluation import RelationScore, relation_scores

TABLE = "measure_table"
VERDICTS: dict[str, str] = {  # values of ``probing.results.RelationRow.verdict``
    "more": gettext_lazy("more"),
    "less": gettext_lazy("less"),
    "not clearly more": gettext_lazy("not clearly more"),
}
THAN: dict[str, str] = {
    "more": gettext_lazy(
        "That is more than the baseline “{rule}” with {found:.1f} % of the same links ({test}: p {p})."
    ),
    "less": gettext_lazy(
        "That is less than the baseline “{rule}” with {found:.1f} % of the same links ({test}: p {p})."
    ),
    "not clearly more": gettext_lazy(
        "The difference from the baseline “{rule}” with {found:.1f} % is not significant ({test}: p {p})."
    ),
}
DOT = gettext_lazy("Dot: share of links that the best head finds, with 95 % interval.")
CHOSEN_ELSEWHERE = gettext_lazy("Heads are chosen on other sentences than they are scored on.")
CHOSEN_HERE = gettext_lazy("Heads are chosen on every second sentence and scored on the rest.")
MARKS = gettext_lazy(
    "Bar: best rule without a model. Ring: best head with random weights, chosen in the same way. Test: "
    "two-sided, paired by sentence, Holm-corrected for all relations shown."
)
CANDIDATES = gettext_lazy(
    "Rule for two candidates: nearest, first or subject, the best on the selection sentences, never below "
    "chance. Dotted: chance."
)
MOST_LINES = 24  # relations in the figure; the table has all


def relations(found: CorpusScores, options: MeasureOptions) -> dict[str, RelationRow]:
    """Return the best heads of the relations with enough links, the selected relation included."""
    shown = [
        relation
        for relation, row in found.best_rows(found.state.tally.relations()).items()
        if row.n >= options.least or relation == options.relation
    ]
    return found.best_rows(shown)  # correct p-values only for the relations that are shown


def overview(found: CorpusScores, options: MeasureOptions) -> RelationRow | None:
    """Draw the figure and the table of all relations.

    Return the best head of the selected relation, or None if no relation has enough links.
    """
    row = control_row("measure")
    bound_widget(MeasureOptions, "least", row.number_input, min_value=1, max_value=100_000, step=5, width=290)
    best = relations(found, options)
    names = list(best)
    if not names:
        show_notice(_("No relation has that many links in both halves. Lower the minimum or add sentences."))
        return None
    relation = options.relation if options.relation in names else names[0]
    bound_widget(
        MeasureOptions, "relation", row.selectbox, options=names, shown=relation, format_func=describe_relation
    )
    show_notice(summary(found, best[relation], len(best)), role="status")
    scores = [_score(found, row) for row in best.values()]
    drawn = scores[:MOST_LINES]
    if relation not in {score.relation for score in drawn}:
        drawn.append(scores[names.index(relation)])
    figure = relation_scores(drawn, theme(), _("Best head of each relation"), selected=relation)
    draw_chart(figure, "measure_scores", about=model_provenance)
    notes = [DOT, CHOSEN_ELSEWHERE if found.chooser else CHOSEN_HERE, MARKS]
    if candidates(found.corpus):
        notes.append(CANDIDATES)
    st.caption(join_sentences(*map(translate, notes)))
    _table(list(best.values()), scores)
    return best[relation]


def summary(found: CorpusScores, row: RelationRow, tests: int) -> str:
    """Describe the best head of a relation, compared with the rule, with guessing and with random weights."""
    chance = found.chance(row.relation)
    said = [
        _(
            "{relation}: head {head} finds {found:.1f} % ({low:.1f} to {high:.1f}) of {links:,} held-out links, "
            "from {direction}.",
            relation=row.relation,
            head=found.name(row),
            found=row.accuracy,
            low=row.low,
            high=row.high,
            links=row.n,
            direction=row.direction,
        )
    ]
    test = (
        _("two-sided paired test by sentence, Holm-corrected for {tests} relations", tests=tests)
        if tests > 1
        else _("two-sided paired test by sentence")
    )
    said.append(_(THAN[row.verdict], rule=row.baseline_name, found=row.baseline, test=test, p=p_value(row.p)))
    if row.chance is not None:
        said.append(_("Chance is {chance:.0f} %.", chance=row.chance))
    if chance is not None:
        said.append(_("The best head with random weights finds {found:.1f} %.", found=chance.accuracy))
    return join_sentences(*said)


def p_value(chance: float) -> str:
    """Format a p-value for a sentence.

    >>> p_value(0.0312), p_value(1e-9), p_value(1.0)
    ('= 0.031', '< 0.001', '= 1')
    """
    return "< 0.001" if chance < 0.001 else f"= {chance:.2g}"


def _score(found: CorpusScores, row: RelationRow) -> RelationScore:
    chance = found.chance(row.relation)
    random = None if chance is None else chance.accuracy
    head = found.name(row)
    return RelationScore(
        row.relation,
        row.n,
        head,
        row.accuracy,
        row.low,
        row.high,
        row.baseline,
        translate(row.baseline_name),
        random,
        row.chance,
    )


def _table(best: list[RelationRow], scores: list[RelationScore]) -> None:
    """Draw the table of all relations; a click selects a relation."""
    draw_table(
        {
            _("relation"): [score.relation for score in scores],
            _("links"): [score.n for score in scores],
            _("head"): [score.head for score in scores],
            _("direction"): [translate(row.direction) for row in best],
            _("% found"): [round(score.accuracy, 2) for score in scores],
            _("low"): [round(score.low, 2) for score in scores],
            _("high"): [round(score.high, 2) for score in scores],
            _("rule finds"): [round(score.baseline, 2) for score in scores],
            _("rule"): [score.rule for score in scores],
            _("than the rule"): [translate(VERDICTS[row.verdict]) for row in best],
            _("p, two-sided"): [float(f"{row.p:.3g}") for row in best],
            _("random weights"): [None if score.random is None else round(score.random, 2) for score in scores],
        },
        key=TABLE,
        on_select=lambda: _on_pick([score.relation for score in scores]),
        selection_mode="single-row",
    )
    st.caption(
        _("Percent of links found with 95 % interval (Wilson). Click the left edge of a row to see its relation below.")
    )


def _on_pick(names: list[str]) -> None:
    lines = st.session_state[TABLE]["selection"]["rows"]
    if lines and lines[0] < len(names):
        set_params(MeasureOptions, relation=names[lines[0]])
