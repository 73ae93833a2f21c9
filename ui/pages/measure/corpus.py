"""Options of the view Scores, the annotated sentences, and the scores of all heads on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from i18n import _, gettext_lazy
from inference import EMBEDDED, UserError
from probing import formats
from probing.corpus import AnnotatedCorpus
from probing.formats import READY, load_ready_set
from probing.results import (
    RelationRow,
    can_be_significant,
    correct_together,
    count_groups,
    held_out_best,
    held_out_parts,
    of_relation,
)
from probing.score import HitCounts, ScoringRun, ScoringState
from ui.input.controls import bound_widget
from ui.input.text_files import TABLES, pick_encoding
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.progress import finished_state, may_begin, run_scoring
from ui.show.scored_links import PaginationOptions
from ui.state.params import get_params, set_params
from ui.state.view_state import ViewState
from viz.options import option

BRINGS: dict[str, str] = {
    "grammar": gettext_lazy("Grammar"),
    "pronouns": gettext_lazy("Pronouns"),
    "file": gettext_lazy("Your own"),
}


@dataclass(frozen=True)
class MeasureOptions(PaginationOptions):
    """Options of the page Measure, besides the shared view state."""

    data: str = option(
        "grammar",
        label=gettext_lazy("Annotated sentences"),
        help=gettext_lazy("Dependency relations, or pronouns and antecedents."),
        choices=BRINGS,
    )
    # Format of the reader's file.
    format: str = option(
        "conllu",
        label=gettext_lazy("File format"),
        choices=formats.NAMES,
    )
    # "" is the first relation of the table.
    relation: str = option(
        "",
        label=gettext_lazy("Relation"),
    )
    # Direction that the map shows.
    way: str = option(
        "best",
        label=gettext_lazy("Direction"),
        help=gettext_lazy("The end of a link from which a head attends."),
        choices=("best", "out", "in"),
    )
    # Fewest links of a relation that is shown.
    least: int = option(
        10,
        label=gettext_lazy("Minimum links"),
        help=gettext_lazy("Hides relations with fewer held-out links."),
    )
    # Also score random weights.
    control: bool = option(
        True,
        label=gettext_lazy("Random weights"),
        help=gettext_lazy("Also scores the untrained architecture; doubles the time."),
    )


FILE, SPLIT, PARSED = "measure_file", "measure_split", "measure_parsed"
SUFFIXES = {
    "conllu": ["conllu", "conll", "txt"],
    "gap": ["tsv", "txt"],
    "csv": TABLES,
}
ABOUT = {
    "grammar": gettext_lazy("60 short sentences with dependencies (Universal Dependencies)."),
    "pronouns": gettext_lazy("40 sentences with a pronoun, its antecedent and another candidate."),
}
WANTED = {
    "conllu": gettext_lazy("CoNLL-U, such as a treebank from universaldependencies.org."),
    "gap": gettext_lazy("GAP's columns: Text, Pronoun, Pronoun-offset, A, A-offset, A-coref, B, B-offset, B-coref."),
    "csv": gettext_lazy(
        "CSV, TSV, JSON Lines or Parquet: text, source, target, distractor. Write the#2 for the second “the”."
    ),
}


def pick_data(options: MeasureOptions) -> tuple[AnnotatedCorpus, AnnotatedCorpus | None] | None:
    """Draw the widgets for the sentences; return the corpus to score, and a separate corpus for choosing heads.

    The separate corpus is None if heads are chosen on one half of the corpus and scored on the other. Return None if no
    sentences are chosen yet.
    """
    left, right = st.columns([3, 2])
    bound_widget(MeasureOptions, "data", left.segmented_control, required=True)
    if options.data in READY:
        show_notice(ABOUT[options.data], role="status")
        return load_ready_set(options.data), None
    suffixes = sorted({suffix for some in SUFFIXES.values() for suffix in some})
    uploaded = left.file_uploader(
        _("Annotated file"),
        suffixes,
        key=FILE,
        on_change=_fit_format,
        max_upload_size=50,
        help=_("The file stays on this machine"),
    )
    bound_widget(MeasureOptions, "format", right.selectbox)
    if uploaded is None:
        show_notice(WANTED[options.format], role="status")
        return None
    split = right.file_uploader(
        _("Selection file"),
        suffixes,
        key=SPLIT,
        max_upload_size=50,
        help=_("Sentences for choosing heads; by default half of the file."),
    )
    try:
        with left:
            found = _parse_once(uploaded, options.format, f"{FILE}_encoding")
        with right:
            chooser = None if split is None else _parse_once(split, options.format, f"{SPLIT}_encoding")
    except UserError as refusal:
        show_notice(refusal.message)
        return None
    if chooser is not None and chooser.digest == found.digest:
        show_notice(_("Both files share sentences, which inflates scores. Use different ones."))
        return None
    return found, chooser


def _fit_format() -> None:
    """Select the first format of files with the uploaded file's suffix, unless the selected format has it."""
    uploaded, options = st.session_state[FILE], get_params(MeasureOptions)
    suffix = "" if uploaded is None else uploaded.name.rpartition(".")[2].casefold()
    fitting = [name for name, some in SUFFIXES.items() if suffix in some]
    if fitting and options.format not in fitting:
        set_params(MeasureOptions, format=fitting[0])


def _parse_once(file: Any, format: str, key: str) -> AnnotatedCorpus:
    """Return the corpus in a file, parsed once, since the page runs again at every click."""
    encoding = "" if format == "conllu" else pick_encoding(key, file.file_id, file.name, file.getvalue)
    kept: dict[tuple[str, str, str], AnnotatedCorpus] = st.session_state.setdefault(PARSED, {})
    asked = file.file_id, format, encoding
    if asked not in kept:
        while len(kept) >= 2:  # room for the corpus and the corpus for choosing heads
            kept.pop(next(iter(kept)))
        with st.spinner(_("Reading the file")):
            kept[asked] = formats.parse(file.getvalue(), format, encoding)
    return kept[asked]


@dataclass(frozen=True)
class CorpusScores:
    """Scores of a model's heads on a corpus, complete or as far as computed.

    A score is the share of annotated links that a head finds. ``chooser`` has the counts of a separate corpus on which
    heads are chosen, if there is such a corpus. ``random`` has the counts for a model with random weights.
    """

    corpus: AnnotatedCorpus
    state: ScoringState
    chooser: HitCounts | None
    random: HitCounts | None
    model: str = EMBEDDED
    revision: str | None = None
    split: AnnotatedCorpus | None = None  # the separate corpus on which heads are chosen

    def best_rows(self, relations: Sequence[str]) -> dict[str, RelationRow]:
        """Return the best head of each relation by the relation's name, scored on held-out data.

        Relations with too few links are left out. The p-values are corrected for the number of relations.
        """
        found = [held_out_best(self.state.tally, self.corpus, relation, self.chooser) for relation in relations]
        return {row.relation: row for row in correct_together([row for row in found if row is not None])}

    def can_be_significant(self, relation: str, tests: int, *, held_out: bool) -> bool:
        """Return False if no corrected p-value of ``tests`` tests on a relation can be significant.

        The tests are on the links that do not choose heads if ``held_out`` is True, otherwise on all links.
        """
        if held_out:
            basis, counts = held_out_parts(self.state.tally, relation, self.chooser)
        else:
            counts = self.state.tally.counts_of(relation)
            basis = self.chooser.counts_of(relation) if self.chooser else counts
        return counts is None or can_be_significant(counts, basis or counts, self.corpus, tests)

    def held_out_groups(self, relation: str) -> int:
        """Return the number of groups of dependent sentences on which the best head of a relation is scored."""
        counts = held_out_parts(self.state.tally, relation, self.chooser)[1]
        return 0 if counts is None else count_groups(self.corpus, counts.sentences)

    def heads(self, relation: str, direction: int | None = None) -> list[RelationRow]:
        """Return the scores of all heads for a relation on all sentences; p-values are corrected for all heads.

        ``direction`` is an index of the corpus's directions; if it is None, each head has its better direction.
        """
        return of_relation(self.state.tally, self.corpus, relation, self.chooser, direction)

    def untrained_rows(self, relation: str, direction: int | None = None) -> list[RelationRow]:
        """Return the scores of all heads for a relation with random weights; [] if they were not computed."""
        if self.random is None or self.random.counts_of(relation) is None:
            return []
        return of_relation(self.random, self.corpus, relation, direction=direction)

    def chance(self, relation: str) -> RelationRow | None:
        """Return the best head of a model with random weights, as a measure of chance.

        The head is chosen on one half of the data and scored on the other. Return None without random weights or enough
        links.
        """
        return None if self.random is None else held_out_best(self.random, self.corpus, relation)

    def name(self, row: RelationRow) -> str:
        """Return the label of a head, such as "3-7"."""
        return f"{row.layer}-{row.head}"


def load_scores(
    choice: ViewState, options: MeasureOptions, corpus: AnnotatedCorpus, split: AnnotatedCorpus | None
) -> CorpusScores | None:
    """Score all heads on the corpus until the reader stops; return None if there are no scores.

    If ``split`` is given, it is the separate corpus on which the best heads are chosen.
    """
    bound_widget(MeasureOptions, "control", st.checkbox)
    total = len(corpus.items) + (len(split.items) if split else 0)
    plan = ScoringRun(corpus, choice.model, choice.revision or None)
    if not may_begin(plan.key, total, _("Score {texts:,} texts", texts=total)):
        return None
    try:
        chooser = None
        if split is not None:
            choosing = replace(plan, corpus=split)
            chooser = run_scoring(choosing, _("Scoring every head"))
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
            show_notice(_("The model cannot read {texts:,} texts. {why}", texts=state.skipped, why=state.reason))
        return None
    chosen = None if chooser is None else chooser.tally
    return CorpusScores(corpus, state, chosen, random, plan.model, plan.revision, split)
