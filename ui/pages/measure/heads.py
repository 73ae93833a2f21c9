"""Scores of the heads for each relation: figures, maps, tables, sentences and downloads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.head_names import head_label
from attention.spreadsheet import file_stem
from i18n import _, gettext_lazy, translate
from probing.corpus import AnnotatedCorpus
from probing.formats import READY, load_ready_set
from probing.results import (
    RelationRow,
    accuracies,
    candidates,
    count_groups,
    held_out_best,
    rows,
    rule,
    to_csv,
    to_json,
)
from probing.score import RelationCounts, ScoringRun, score
from probing.statistics import LEAST_P
from ui.input.controls import bound_widget, control_row, keep_head
from ui.pages.measure.corpus import CorpusScores, MeasureOptions
from ui.run.notices import show_notice
from ui.run.progress import finished_state
from ui.show.chart import draw_chart, theme
from ui.show.scored_links import (
    TITLE,
    LinkScore,
    corpus_provenance,
    describe_relation,
    scored_links,
)
from ui.show.sections import open_section
from ui.show.tables import download_button, draw_table
from ui.show.text import VERDICTS, format_comma_list, join_sentences, p_value
from ui.state.params import set_params
from ui.state.view_state import ViewState
from viz.figures.evaluation import RelationScore, has_chance_line, relation_scores
from viz.figures.head_maps import head_map, mark_heads
from viz.paper.notebook import Computation

TABLE = "measure_table"
CHOSEN = gettext_lazy("Heads (also with random weights) and rules are chosen and scored on different sentences.")
CHOSEN_WITH_CANDIDATES = gettext_lazy(
    "Heads (also with random weights) are chosen and scored on different sentences; those with the same candidates "
    "share a half and count together. The rule (nearest, earlier or subject) is the best on all links, never below "
    "chance. Candidates' strongest tokens count."
)
NO_HEADROOM = gettext_lazy("The rule misses too few links for a head to be significantly better.")
MOST_LINES = 24  # relations in the figure; the table has all
MOST_NAMED = 5  # heads that a sentence names


def relations(found: CorpusScores, options: MeasureOptions) -> dict[str, RelationRow]:
    """Return the best head of each relation to draw: frequent relations, and the selected relation.

    A relation is frequent if it has at least ``options.least`` links. The p-values are corrected for these relations
    only.
    """
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
        show_notice(
            _(
                "No relation has that many links in both halves. Lower the minimum, or add sentences with other "
                "candidates."
            )
        )
        return None
    relation = options.relation if options.relation in names else names[0]
    bound_widget(
        MeasureOptions, "relation", row.selectbox, options=names, shown=relation, format_func=describe_relation
    )
    result = summary(found, best[relation], len(best))
    show_notice(result, role="status")
    scores = [_score(found, row) for row in best.values()]
    drawn = scores[:MOST_LINES]
    if relation not in {score.relation for score in drawn}:
        drawn.append(scores[names.index(relation)])
    figure = relation_scores(drawn, theme(), _("Best head of each relation"), selected=relation)
    note = translate(CHOSEN_WITH_CANDIDATES if candidates(found.corpus) else CHOSEN)
    about = partial(_provenance, found, minimum_links=options.least, relations=len(best))
    computation = _best_heads(found, options, drawn, relation)
    draw_chart(figure, "measure_scores", about=about, computation=computation, test=join_sentences(result, note))
    st.caption(note)
    _table(list(best.values()), scores)
    return best[relation]


def summary(found: CorpusScores, row: RelationRow, tests: int) -> str:
    """Describe the accuracy of a relation's best head, of the baseline rule, of chance and random weights.

    ``row`` has the scores of the head, and ``tests`` is the number of relations for which p is corrected.
    """
    chance = found.chance(row.relation)
    said = [
        _(
            "{relation}: head {head} finds {found:.1f}% ({low:.1f} to {high:.1f}) of {links:,} held-out links, "
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
    said.append(
        _(
            "Baseline “{rule}”: {found:.1f}%; difference: p {p} (two-sided, paired, sentence groups: {groups:,}; "
            "Holm-corrected, relations: {tests}).",
            rule=row.baseline_name,
            found=row.baseline,
            p=p_value(row.p),
            groups=found.held_out_groups(row.relation),
            tests=tests,
        )
    )
    if row.chance is not None:
        said.append(_("Chance is {chance:.0f}%.", chance=row.chance))
    if chance is not None:
        said.append(
            _(
                "Best head for {relation} with random weights: {found:.1f}%.",
                relation=row.relation,
                found=chance.accuracy,
            )
        )
    if not found.can_be_significant(row.relation, tests, held_out=True):
        said.append(translate(NO_HEADROOM))
    return join_sentences(*said)


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
        row.p,
    )


def _table(best: list[RelationRow], scores: list[RelationScore]) -> None:
    """Draw the table of all relations; a click selects a relation."""
    draw_table(
        {
            _("Relation"): [translate(score.relation) for score in scores],
            _("Links"): [score.n for score in scores],
            _("Head"): [score.head for score in scores],
            _("Direction"): [translate(row.direction) for row in best],
            _("% found"): [round(score.accuracy, 2) for score in scores],
            _("Low"): [round(score.low, 2) for score in scores],
            _("High"): [round(score.high, 2) for score in scores],
            _("Rule finds"): [round(score.baseline, 2) for score in scores],
            _("Rule"): [score.rule for score in scores],
            _("Than the rule"): [translate(VERDICTS[row.verdict]) for row in best],
            _("p (Holm)"): [float(f"{row.p:.3g}") for row in best],
            _("Random weights"): [None if score.random is None else round(score.random, 2) for score in scores],
        },
        key=TABLE,
        on_select=lambda: _on_pick([score.relation for score in scores]),
        selection_mode="single-row",
    )
    st.caption(_("95% intervals: Wilson. Click a row's left edge to see it."))


def _on_pick(names: list[str]) -> None:
    lines = st.session_state[TABLE]["selection"]["rows"]
    if lines and lines[0] < len(names):
        set_params(MeasureOptions, relation=names[lines[0]])


MAP, RANDOM_MAP = "measure_map", "measure_random_map"


def maps(found: CorpusScores, options: MeasureOptions, relation: str, looked_at: tuple[int, int]) -> None:
    """Draw the scores of all heads for a relation, and the scores of random weights on the same scale.

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
    fixed = DIRECTIONS[way]
    mine, untrained = found.heads(relation, fixed), found.untrained_rows(relation, fixed)
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
    mark_heads(figure, above, "circle-open", theme(), "above baseline")
    result = describe_counts(mine, untrained, ways[way].lower() if len(found.corpus.directions) > 1 else "")
    if not found.can_be_significant(relation, len(mine) * len(found.corpus.directions), held_out=False):
        result = join_sentences(result, translate(NO_HEADROOM))
    show_notice(result, role="status")
    left, right = st.columns(2)
    direction = "the better of both" if way == "best" else translate(ways[way])
    about = partial(_provenance, found, relation=relation, direction=direction, links=counts.n,
                    sentence_groups=count_groups(found.corpus, counts.sentences))  # fmt: skip
    note = _(
        "Ring: more than the baseline (two-sided, paired by sentence group, Holm-corrected for heads and directions, "
        "α = 0.05)."
    )
    computed = partial(_found_links, found, options, relation, way)
    draw_chart(figure, MAP, place=left, on_click=keep_head, about=about,
               computation=computed(random=False), test=join_sentences(result, note))  # fmt: skip
    random = None if found.random is None else found.random.counts_of(relation)
    if random is not None:
        figure = head_map(_shown_percent(random, found.corpus, way), theme(), _("Random weights"),
                          _("% of {links:,} links", links=random.n), **common)  # fmt: skip
        draw_chart(figure, RANDOM_MAP, place=right, about=about, computation=computed(random=True), test=result)
    st.caption(join_sentences(note, _("Click a cell to select its head.")))


def _provenance(found: CorpusScores, **settings: Any) -> dict[str, Any]:
    """Return the provenance of scores: the model, the sentences, and those that choose heads, with ``settings``."""
    split = {} if found.split is None else {"selection_file_sha256": found.split.digest}
    return {**corpus_provenance(found.corpus), **split, "p_floor_uncorrected": 2 * LEAST_P, **settings}


DIRECTIONS = {"best": None, "out": 0, "in": 1}  # index of the direction, None for the better one of each head


def _scores(
    found: CorpusScores, options: MeasureOptions, controls: list[bool], code: str, **names: Any
) -> Computation | None:
    """Return notebook code that runs ``code`` on ``corpus`` and ``tallies``, the counts of the links that heads find.

    ``tallies`` has the counts of a run for each of ``controls``, which are True for random weights. ``names`` are the
    other names that the code uses. Return None for a file of the reader and if one of these runs was stopped.
    """
    runs = [ScoringRun(found.corpus, found.model, found.revision, control) for control in controls]
    if options.data not in READY or not all(map(finished_state, runs)):
        return None
    begun = (
        "corpus = load_ready_set(data)\n"
        f"runs = [ScoringRun(corpus, model, revision, control) for control in {controls}]\n"
        "tallies = [[*score(backend, run)][-1].tally for run in runs]\n"
    )
    return Computation(
        begun + code, data=options.data, model=found.model, revision=found.revision,
        load_ready_set=load_ready_set, ScoringRun=ScoringRun, score=score, **names)  # fmt: skip


def _found_links(
    found: CorpusScores, options: MeasureOptions, relation: str, way: str, *, random: bool
) -> Computation | None:
    """Return the computation of the links that each head finds; ``random`` is True for random weights."""
    fixed = DIRECTIONS[way]
    shown = "percent.max(axis=0)" if fixed is None else f"percent[{fixed}]"
    code = f"percent = accuracies(tallies[0].counts_of(relation), len(corpus.directions))\nnumbers = {shown}"
    return _scores(found, options, [random], code, relation=relation, accuracies=accuracies)


def _best_heads(
    found: CorpusScores, options: MeasureOptions, scores: Sequence[RelationScore], selected: str
) -> Computation | None:
    """Return the computation of the marks of ``relation_scores``, by series.

    The series are random weights, the rule, the heads, the head of the relation ``selected``, and chance.
    """
    code = (
        "best, *random = [[held_out_best(tally, corpus, relation) for relation in relations] for tally in tallies]\n"
        "numbers = [row.accuracy for rows in random for row in rows if row is not None]\n"
        "numbers += [row.baseline for row in best] + [row.accuracy for row in best]\n"
        "numbers += [row.accuracy for row in best if row.relation == selected]"
    )
    if has_chance_line(scores):
        code += "\nnumbers += 2 * [best[0].chance]  # the ends of the dotted line"
    relations = [score.relation for score in scores]
    controls = [False] if found.random is None else [False, True]
    return _scores(found, options, controls, code, relations=relations, selected=selected, held_out_best=held_out_best)


def way_of(options: MeasureOptions, corpus: AnnotatedCorpus) -> str:
    """Return the direction in which links are shown: "out", "in" or "best".

    "best" is the better direction of each head; it replaces "in" if the links of the corpus have only the direction
    "out".
    """
    return options.way if options.way == "out" or (options.way == "in" and len(corpus.directions) > 1) else "best"


def _shown_percent(counts: RelationCounts, corpus: AnnotatedCorpus, way: str) -> np.ndarray:
    percent = accuracies(counts, len(corpus.directions))
    fixed = DIRECTIONS[way]
    shown: np.ndarray = percent.max(axis=0) if fixed is None else percent[fixed]
    return shown


def _name(row: RelationRow, with_direction: bool) -> str:
    """Return the label of a head, followed by the direction of its score if ``with_direction`` is True."""
    label = head_label(row.layer, row.head)
    return f"{label} {translate(row.direction)}" if with_direction else label


def _count_named(rows: Sequence[RelationRow], with_direction: bool) -> str:
    """Return the number of heads, with their labels and scores if they are few."""
    labels = format_comma_list(
        [_("{name}: {text}", name=_name(row, with_direction), text=f"{row.accuracy:.1f}%") for row in rows]
    )
    many = str(len(rows))
    return _("{name} ({detail})", name=many, detail=labels) if 0 < len(rows) <= MOST_NAMED else many


def describe_counts(mine: list[RelationRow], untrained: list[RelationRow], direction: str = "") -> str:
    """Describe how many heads are significantly above the baseline rule, for the model and for random weights.

    ``direction`` names the direction of the rows, which may be each head's better one; "" if there is only one.
    """
    best = max(mine, key=lambda row: row.accuracy)
    mixed = len({row.direction for row in mine}) > 1
    largest = [_name(row, mixed) for row in mine if row.accuracy == best.accuracy]
    said = _(
        "{relation}, all sentences ({links:,} links, none held out): {many} of {size} heads are significantly above "
        "the baseline, {rule:.1f}%; mean {mean:.1f}%, largest {largest:.1f}% ({head}).",
        relation=_("{name} ({detail})", name=best.relation, detail=direction) if direction else best.relation,
        links=best.n,
        many=_count_named([row for row in mine if row.more], mixed),
        head=format_comma_list(largest[:MOST_NAMED]) + (" …" if len(largest) > MOST_NAMED else ""),
        size=len(mine),
        rule=best.baseline,
        mean=sum(row.accuracy for row in mine) / len(mine),
        largest=best.accuracy,
    )
    if not untrained:
        return said
    random = _(
        "With random weights: {many} of {size} heads; mean {mean:.1f}%.",
        many=sum(row.more for row in untrained),
        size=len(untrained),
        mean=sum(row.accuracy for row in untrained) / len(untrained),
    )
    return join_sentences(said, random)


MEANINGS = {  # of the columns of the files
    "sentences": "all, none held out",
    "accuracy, baseline": "percent of links found",
    "chance": "percent of links that a guess between two candidates finds; empty if every word competes",
    "low, high": "95% interval (Wilson), links taken as independent",
    "direction": "the better of both; source to target: of all candidates, the target gets most of the source's "
    "attention; target to source: of all candidates, the target gives the source most attention",
    "p": "two-sided sign-flip test, paired by sentence (those with the same candidates together), Holm-corrected for "
    "heads and directions of a relation",
}


def files(found: CorpusScores, options: MeasureOptions, relation: str) -> None:
    """Draw the table of all heads for a relation, and the downloads of the scores for all relations.

    The table is for the shown direction; the files have the better direction of each head.
    """
    section = open_section(_("Every head"), "measure_heads_open")
    if section is None:
        return
    everything = rows(found.state.tally, found.corpus, found.chooser)
    known = corpus_provenance(found.corpus) | MEANINGS
    way = DIRECTIONS[way_of(options, found.corpus)]
    mine = sorted(found.heads(relation, way), key=lambda row: -row.accuracy)
    with section:
        draw_table(
            {
                _("Layer"): [row.layer for row in mine],
                _("Head"): [row.head for row in mine],
                _("Direction"): [translate(row.direction) for row in mine],
                _("% found"): [round(row.accuracy, 2) for row in mine],
                _("Low"): [round(row.low, 2) for row in mine],
                _("High"): [round(row.high, 2) for row in mine],
                _("Rule finds"): [round(row.baseline, 2) for row in mine],
                _("Than the rule"): [translate(VERDICTS[row.verdict]) for row in mine],
                _("p (Holm)"): [float(f"{row.p:.3g}") for row in mine],
            },
            key="measure_heads_table",
        )
        left, right = st.columns(2)
        about = _("All digits")
        download_button(
            _("Save as CSV"),
            to_csv(everything),
            "headlight-scores.csv",
            about,
            place=left,
            provenance=known,
        )
        scores = {**known, "scores": json.loads(to_json(everything))}
        download_button(
            _("Save as JSON"),
            json.dumps(scores, indent=1),
            f"{file_stem('headlight-scores', known)}.json",
            about,
            kind="application/json",
            place=right,
        )


def left_out(found: CorpusScores) -> None:
    """Show notices about rows, texts and links that are not in the counts."""
    state, corpus = found.state, found.corpus
    if corpus.left_out:
        show_notice(_("{rows:,} rows without a question were skipped.", rows=corpus.left_out), role="status")
    if state.skipped:
        show_notice(
            _("The model cannot read {texts:,} texts. {why}", texts=state.skipped, why=state.reason),
            role="status",
        )
    if state.tally.unread:
        show_notice(
            _("{links:,} links of unread texts are not counted.", links=state.tally.unread),
            role="status",
        )


def best_of_all_links(found: CorpusScores) -> RelationRow:
    """Return the best head of the first relation on all links, for data without enough links in both halves."""
    return max(found.heads(found.state.tally.relations()[0]), key=lambda row: row.accuracy)


def selected_head(found: CorpusScores, best: RelationRow, choice: ViewState) -> tuple[int, int]:
    """Return the selected (layer, head) if the scores contain it, else the best head."""
    counts = found.state.tally.counts_of(best.relation)
    assert counts is not None
    _, layers, heads = counts.shape
    if choice.layer is not None and choice.head is not None and choice.layer < layers and choice.head < heads:
        return choice.layer, choice.head
    return best.layer, best.head


def direction_of(found: CorpusScores, options: MeasureOptions, relation: str, head: tuple[int, int]) -> int:
    """Return the index of the direction in which a head's links are shown: 0 for "out", 1 for "in".

    If the map shows the better direction of each head, it is the direction in which this head finds more links.
    """
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
    """Draw the links on which a head was scored, in the direction that the map shows."""
    counts = found.state.tally.counts_of(relation)
    assert counts is not None
    st.header(translate(TITLE))
    place = (direction_of(found, options, relation, head), *head)
    bar = rule(_basis(found, relation), found.corpus, counts)
    is_all_held_out = found.chooser is not None
    scored_links(
        LinkScore(found.corpus, counts, relation, place, bar, is_all_held_out), MeasureOptions, options, choice
    )
