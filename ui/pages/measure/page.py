"""The view Scores: every head scored on sentences with annotated relations, and the sources of a head's scores."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from i18n import _, translate
from inference import UserError
from probing.formats import READY, load_ready_set
from probing.score_sources import DirectionReport, MeanTerm, SourceReport, SourceRun, report
from ui.input.model_chip import draw_model_chip
from ui.pages.measure.corpus import CorpusScores, MeasureOptions, load_scores, pick_data
from ui.pages.measure.heads import (
    best_of_all_links,
    direction_of,
    draw_examples,
    files,
    left_out,
    maps,
    overview,
    selected_head,
)
from ui.run.notices import show_error, show_notice
from ui.run.progress import map_questions
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.scored_links import corpus_provenance
from ui.show.sections import draw_reading_help, open_section
from ui.show.tables import csv_table, download_table, draw_table
from ui.show.text import join_sentences, p_value
from ui.show.why_head import FIRST_TOKENS
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.figures.theme import sentence_case
from viz.figures.token_bars import source_terms
from viz.paper.notebook import Computation

KEY, REPORT = "measure_sources", "measure_sources_report"
SHOWN = 8  # sources in each figure, the largest first


def draw_sources(
    found: CorpusScores, options: MeasureOptions, relation: str, head: tuple[int, int], choice: ViewState
) -> None:
    """Draw the sources of a head's scores on a relation, if the panel is open; otherwise compute nothing."""
    section = open_section(_("Why this head?"), KEY)
    if section is None:
        return
    direction = direction_of(found, options, relation, head)
    run = SourceRun(found.corpus, relation, *head, choice.model, choice.revision or None, direction)
    with section:
        try:
            known = _load_report(run)
        except UserError as refusal:
            show_error(refusal)
            return
        if known is not None:
            _draw(run, known, options)


def _load_report(run: SourceRun) -> SourceReport | None:
    """Return the report of a run, kept for the next draw; None if the reader stopped the computation."""
    questions = run.questions()
    mark = (questions[0].key, len(questions), run.direction)
    kept: tuple[object, SourceReport] | None = st.session_state.get(REPORT)
    if kept is not None and kept[0] == mark:
        return kept[1]
    answers = map_questions(questions, _("Decomposing the score"), lambda question: get_backend().inspect(question))
    if len(answers) < len(questions):
        return None
    with st.spinner(_("Decomposing the score"), show_time=True):
        found = report(run, questions, answers)
    st.session_state[REPORT] = (mark, found)
    return found


def _draw(run: SourceRun, found: SourceReport, options: MeasureOptions) -> None:
    result = join_sentences(*summary(run, found))
    show_notice(result, role="status")
    about = {
        **corpus_provenance(run.corpus),
        "layer": run.layer,
        "head": run.head,
        "relation": run.relation,
        "direction": translate(run.corpus.directions[run.direction or 0]),
    }
    note = join_sentences(
        _(
            "Bars: mean centred terms, 95% bootstrap intervals over sentences. Directions are "
            "selected on half of the sentences, tested on the rest; p is Holm-corrected."
        ),
        translate(FIRST_TOKENS),
    )
    sides = zip(st.columns(2), (found.query, found.key), ("query", "key"), strict=True)
    for place, terms, side in sides:
        shown = terms[:SHOWN]
        title = sentence_case(_("query side") if side == "query" else _("key side"))
        figure = source_terms(
            {term.source: [term.mean] for term in shown},
            [f"{run.layer}-{run.head}"],
            theme(),
            title,
            intervals=[(term.low, term.high) for term in shown],
        )
        draw_chart(
            figure,
            f"measure_sources_{side}",
            place=place,
            about=lambda: about,
            computation=_terms(run, options, side),
            test=join_sentences(result, note),
        )
    if found.directions is not None:
        _direction_table(found.directions)
    st.caption(note)
    rows = [("query", *_cells(term)) for term in found.query] + [("key", *_cells(term)) for term in found.key]
    download_table(
        csv_table(["side", "source", "mean", "low", "high"], rows), "headlight-sources.csv", provenance=about
    )


def _terms(run: SourceRun, options: MeasureOptions, side: str) -> Computation | None:
    """Return the computation of the mean terms of a side, "query" or "key"; None for a file of the reader."""
    if options.data not in READY:
        return None
    code = (
        "corpus = load_ready_set(data)\n"
        "run = SourceRun(corpus, relation, layer, head, model, revision=revision, direction=direction)\n"
        "questions = run.questions()\n"
        "found = report(run, questions, [backend.inspect(question) for question in questions])\n"
        f"numbers = [term.mean for term in found.{side}[:{SHOWN}]]"
    )
    return Computation(code, data=options.data, relation=run.relation, layer=run.layer, head=run.head, model=run.model,
                       revision=run.revision, direction=run.direction, load_ready_set=load_ready_set,
                       SourceRun=SourceRun, report=report)  # fmt: skip


def _cells(term: MeanTerm) -> tuple[str, float, float, float]:
    return term.source, term.mean, term.low, term.high


def summary(run: SourceRun, found: SourceReport) -> Sequence[str]:
    """Describe a head's mean score for the labelled word, and its first contrastive direction.

    Along this direction, queries match their labelled keys better than other keys (attention/contrastive.py). It is
    compared with directions from shuffled labels, the whole score, a rule and chance.
    """
    said = [
        _(
            "{relation}, head {head}: the labelled word scores {mean:+.2f} ({low:.2f} to {high:.2f}) against the mean, "
            "in {links:,} links of {sentences:,} sentences.",
            relation=found.relation,
            head=f"{run.layer}-{run.head}",
            mean=found.excess.mean,
            low=found.excess.low,
            high=found.excess.high,
            links=found.links,
            sentences=found.sentences,
        )
    ]
    if found.directions is None:
        return [*said, _("Too few links for contrastive directions.")]
    first, low, high = found.directions.scores[0], *_ends(found.directions)
    return [
        *said,
        _(
            "The first contrastive direction finds {found:.1f}% of {links:,} held-out links; directions "
            "from shuffled labels find {low:.1f} to {high:.1f}% (p {p}).",
            found=first.found,
            links=found.directions.links,
            low=low,
            high=high,
            p=p_value(first.p_shuffled),
        ),
        _(
            "The whole score finds {head:.1f}%, the rule “{rule}” {found:.1f}%, and a random choice {chance:.1f}%.",
            head=found.directions.head,
            rule=translate(found.directions.rule_name),
            found=found.directions.rule,
            chance=found.directions.chance,
        ),
    ]


def _ends(found: DirectionReport) -> tuple[float, float]:
    low, _median, high = found.scores[0].shuffled
    return low, high


def _direction_table(found: DirectionReport) -> None:
    draw_table(
        {
            _("Directions"): [score.directions for score in found.scores],
            _("% found"): [round(score.found, 1) for score in found.scores],
            _("Low"): [round(score.low, 1) for score in found.scores],
            _("High"): [round(score.high, 1) for score in found.scores],
            _("Shuffled labels"): ["{:.0f}–{:.0f}%".format(*score.shuffled[::2]) for score in found.scores],
            _("p, shuffled"): [float(f"{score.p_shuffled:.2g}") for score in found.scores],
            _("p, rule"): [float(f"{score.p_rule:.2g}") for score in found.scores],
        },
        key="measure_directions",
    )


def how_to_read() -> None:
    """Draw the help text."""
    draw_reading_help(
        _(
            "- A head's answer is the candidate that gets most of the word's attention; from the other end, the one "
            "that gives it most ([arXiv:1906.04341](https://arxiv.org/abs/1906.04341)). If the data names none, all "
            "other words are candidates, with the sum of their tokens.\n"
            "- Baseline: the best rule, such as “the word before”. “More”: p ≤ 0.05 in a two-sided "
            "test, paired by sentence group ([arXiv:cs/0008005](https://arxiv.org/abs/cs/0008005)), "
            "[Holm-corrected](https://doi.org/10.2307/4615733)."
        )
    )


def draw_view() -> None:
    """Draw the view Scores in the page."""
    chosen, options = get_view_state(), get_params(MeasureOptions)
    draw_model_chip(chosen)
    data = pick_data(options)
    if data is not None:
        found = load_scores(chosen, options, *data)
        if found is not None:
            left_out(found)
            best = overview(found, options) or best_of_all_links(found)
            head = selected_head(found, best, chosen)
            maps(found, options, best.relation, head)
            draw_examples(found, options, best.relation, head, chosen)
            draw_sources(found, options, best.relation, head, chosen)
            files(found, options, best.relation)
    how_to_read()
