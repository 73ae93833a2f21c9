"""Scores of all heads of a model on an annotated corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from i18n import _
from inference import UserError
from probing.corpus import AnnotatedCorpus
from probing.results import RelationRow, correct_together, held_out_best, of_relation
from probing.score import HitCounts, ScoringRun, ScoringState
from ui.input.controls import bound_widget
from ui.pages.measure.options import MeasureOptions
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.progress import finished_state, may_begin, run_scoring
from ui.state.view_state import ViewState


@dataclass(frozen=True)
class CorpusScores:
    """Scores of a model's heads on a corpus, as far as scoring has run.

    ``chooser`` is the tally on which heads are chosen, if it is separate; ``random`` is that of untrained weights.
    """

    corpus: AnnotatedCorpus
    state: ScoringState
    chooser: HitCounts | None
    random: HitCounts | None

    def best_rows(self, relations: Sequence[str]) -> dict[str, RelationRow]:
        """Return the best head of each relation, chosen on held-out data, with p-values corrected together."""
        found = [held_out_best(self.state.tally, self.corpus, relation, self.chooser) for relation in relations]
        return {row.relation: row for row in correct_together([row for row in found if row is not None])}

    def heads(self, relation: str) -> list[RelationRow]:
        """Return the rows of all heads on all sentences, with p-values corrected together."""
        return of_relation(self.state.tally, self.corpus, relation, self.chooser)

    def untrained_rows(self, relation: str) -> list[RelationRow]:
        """Return the rows of all heads with untrained weights, or none if they have no counts of the relation."""
        known = self.random is not None and self.random.counts_of(relation) is not None
        return of_relation(self.random, self.corpus, relation) if self.random is not None and known else []

    def chance(self, relation: str) -> RelationRow | None:
        """Return the best head with untrained weights, chosen on one half of the data and scored on the other.

        Return None without untrained weights or enough links.
        """
        return None if self.random is None else held_out_best(self.random, self.corpus, relation)

    def name(self, row: RelationRow) -> str:
        """Return the name of a head, such as "3-7"."""
        return f"{row.layer}-{row.head}"


def load_scores(
    choice: ViewState, options: MeasureOptions, corpus: AnnotatedCorpus, split: AnnotatedCorpus | None
) -> CorpusScores | None:
    """Score the corpus until the reader stops; return None if there are no scores."""
    bound_widget(MeasureOptions, "control", st.checkbox)
    total = len(corpus.items) + (len(split.items) if split else 0)
    plan = ScoringRun(corpus, choice.model, choice.revision or None)
    if not may_begin(plan.key, total, _("Score {texts:,} texts", texts=total)):
        return None
    try:
        chooser = None
        if split is not None:
            choosing = replace(plan, corpus=split)
            chooser = run_scoring(choosing, _("Choosing heads"))
            if not finished_state(choosing):
                return None  # stopped before all heads were scored for the choice
        state = run_scoring(plan, _("Scoring every head"))
        random = None
        if options.control and finished_state(plan):
            random = run_scoring(replace(plan, control=True), _("Scoring random weights")).tally
    except UserError as refusal:
        offer_or_show(refusal, choice)
        return None
    if not state.tally.counts:
        if state.done:
            show_notice(_("The model could read none of these texts. {why}", why=state.reason))
        return None
    return CorpusScores(corpus, state, None if chooser is None else chooser.tally, random)
