"""What is known of one corpus on one model: scored as far as the reader lets it go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from inference import Refusal
from probing.corpus import Corpus
from probing.rows import Row, chosen, of_relation, together
from probing.score import Run, State
from probing.tally import Tally
from ui.input.picking import control
from ui.pages.measure.options import Measure
from ui.run.downloading import offer_or_show
from ui.run.refusals import say
from ui.run.scoring import begun, known, scored
from ui.state.choice import Choice
from wording import _, sentence, told

CONTROL = sentence("Also scores the same architecture with weights that were never trained. Takes as long again.")


@dataclass(frozen=True)
class Measured:
    """What is known of one corpus on one model."""

    corpus: Corpus
    state: State
    chooser: Tally | None
    random: Tally | None
    base: int

    def best(self, relations: Sequence[str]) -> dict[str, Row]:
        """The best head of each relation, chosen on one part and reported on the other; tested together."""
        found = [chosen(self.state.tally, self.corpus, relation, self.chooser) for relation in relations]
        return {row.relation: row for row in together([row for row in found if row is not None])}

    def heads(self, relation: str) -> list[Row]:
        """Every head on all of the sentences, tested together."""
        return of_relation(self.state.tally, self.corpus, relation, self.chooser)

    def untrained(self, relation: str) -> list[Row]:
        """The same of random weights; none where they were not asked for or have read no such link."""
        known = self.random is not None and self.random.of(relation) is not None
        return of_relation(self.random, self.corpus, relation) if self.random is not None and known else []

    def chance(self, relation: str) -> Row | None:
        """The same among random weights, chosen and reported in the same way."""
        return None if self.random is None else chosen(self.random, self.corpus, relation)

    def name(self, row: Row) -> str:
        """A head as the reader counts."""
        return f"{row.layer + self.base}-{row.head + self.base}"


def measure(choice: Choice, options: Measure, corpus: Corpus, split: Corpus | None) -> Measured | None:
    """Score, as far as the reader lets it go; None while nothing is known."""
    control(Measure, "control", st.checkbox, _("Random weights beside it"), help=told(CONTROL))
    total = len(corpus.items) + (len(split.items) if split else 0)
    plan = Run(corpus, choice.model, choice.revision or None)
    if not begun(plan.key, total, _("Score {texts:,} texts", texts=total)):
        return None
    try:
        chooser = None
        if split is not None:
            choosing = replace(plan, corpus=split)
            chooser = scored(choosing, _("Choosing heads, in batches"))
            if not known(choosing):
                return None  # stopped before any head could be chosen
        state = scored(plan, _("Scoring every head, in batches"))
        random = None
        if options.control and known(plan):
            random = scored(replace(plan, control=True), _("Scoring random weights, in batches")).tally
    except Refusal as refusal:
        offer_or_show(refusal, choice)
        return None
    if not state.tally.counts:
        if state.done:
            say(_("The model could read none of these texts. {why}", why=state.reason))
        return None
    return Measured(corpus, state, None if chooser is None else chooser.tally, random, choice.count)
