"""Relations that the heads find in the annotated sentences of the app."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from i18n import _
from inference import UserError
from probing.formats import READY, load_ready_set
from probing.pronoun_heads import PRONOUNS, best_pronoun_head
from probing.results import Head, RelationRow, name_heads
from probing.score import HitCounts, ScoringRun
from ui.run.notices import show_notice
from ui.run.progress import run_scoring
from ui.show.pronoun_head import describe_pronoun_head
from ui.show.text import format_semicolon_list, join_sentences
from ui.state.view_state import ViewState


@dataclass(frozen=True)
class Relations:
    """Best relation of each head, tested on held-out sentences, for trained and random weights."""

    row_of_head: Mapping[Head, RelationRow] = field(default_factory=dict)
    untrained: Mapping[Head, RelationRow] = field(default_factory=dict)
    tallies: Mapping[str, HitCounts] = field(default_factory=dict)  # Counts by the name of the sentence set.

    def name(self, layer: int, head: int) -> str:
        """Return the relation that the head finds significantly more often than a rule; "" if none."""
        row = self.row_of_head.get((layer, head))
        return row.relation if row is not None and row.more else ""


def head_relations(choice: ViewState) -> Relations:
    """Score every head on the annotated sentences, with the model's weights and with random weights.

    Show a notice and return empty results if the backend refuses.
    """
    try:
        found = {control: _tallies(choice, control) for control in (False, True)}
    except UserError as refusal:
        show_notice(
            _("Relations are not available. {why}", why=refusal.message),
            role="status",
        )
        return Relations()
    told, untrained = (
        name_heads([(tallies[name], load_ready_set(name)) for name in READY]) for tallies in found.values()
    )
    return Relations(told, untrained, found[False])


def _tallies(choice: ViewState, control: bool) -> dict[str, HitCounts]:
    doing = _("Scoring random weights") if control else _("Scoring every head")
    runs = {name: ScoringRun(load_ready_set(name), choice.model, choice.revision or None, control) for name in READY}
    return {name: run_scoring(run, doing).tally for name, run in runs.items()}


def summary(relations: Relations, heads: int) -> str:
    """Return sentences on the number of heads with a significant relation, and on random weights."""
    clear = sorted((row for row in relations.row_of_head.values() if row.more), key=lambda row: row.p)
    names = [
        _(
            "{head} {relation}, {found:.0f} % against {rule:.0f} %",
            head=f"{row.layer}-{row.head}",
            relation=row.relation,
            found=row.accuracy,
            rule=row.baseline,
        )
        for row in clear
    ]
    values: dict[str, Any] = {
        "clear": len(clear),
        "heads": heads,
        "names": format_semicolon_list(names) if names else "",
        "tests": len(relations.row_of_head),
        "untrained": sum(row.more for row in relations.untrained.values()),
    }
    found = (
        _("{clear} of {heads} heads find a relation significantly more often than the baseline: {names}.",
          **values)
        if names
        else _("None of {heads} heads finds a relation significantly more often than the baseline.", **values)
    )  # fmt: skip
    how = _(
        "Relations are chosen on one half of 100 sentences and tested on the other (two-sided, corrected for "
        "{tests} heads). With random weights: {untrained}.",
        **values,
    )
    return join_sentences(found, how, _pronoun_head(relations))


def _pronoun_head(relations: Relations) -> str:
    """Return a sentence on the best head for pronouns, chosen and scored as on Scores; "" without sentences."""
    tally = relations.tallies.get(PRONOUNS)
    found = None if tally is None else best_pronoun_head(tally)
    return "" if found is None else describe_pronoun_head(found)
