"""Which relation each head finds, from the annotated sentences that come with the app."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inference import Refusal
from probing.naming import Head, named
from probing.ready_sets import READY, ready
from probing.rows import Row
from probing.score import Run
from probing.tally import Tally
from ui.run.refusals import say
from ui.run.scoring import scored
from ui.show.lists import semicolons, together
from ui.state.choice import Choice
from wording import _


@dataclass(frozen=True)
class Relations:
    """What each head is named after, told on sentences that it was not chosen on; the same of random weights."""

    told: Mapping[Head, Row] = field(default_factory=dict)
    untrained: Mapping[Head, Row] = field(default_factory=dict)
    tallies: Mapping[str, Tally] = field(default_factory=dict)  # by set of sentences

    def name(self, layer: int, head: int) -> str:
        """The relation that a head is known to find; "" for none."""
        row = self.told.get((layer, head))
        return row.relation if row is not None and row.more else ""


def head_relations(choice: Choice) -> Relations:
    """Every head scored on the sentences of the app, with its own weights and with random ones."""
    try:
        found = {control: _tallies(choice, control) for control in (False, True)}
    except Refusal as refusal:
        say(
            _("What the heads find in annotated sentences is not known. {why}", why=refusal.message),
            role="status",
        )
        return Relations()
    told, untrained = (named([(tallies[name], ready(name)) for name in READY]) for tallies in found.values())
    return Relations(told, untrained, found[False])


def _tallies(choice: Choice, control: bool) -> dict[str, Tally]:
    doing = _("Scoring random weights, in batches") if control else _("Scoring every head, in batches")
    runs = {name: Run(ready(name), choice.model, choice.revision or None, control) for name in READY}
    return {name: scored(run, doing).tally for name, run in runs.items()}


def summary(relations: Relations, heads: int, base: int) -> str:
    """How many heads are named after a relation, with how many of random weights, which have learned nothing."""
    clear = sorted((row for row in relations.told.values() if row.more), key=lambda row: row.p)
    names = [
        _(
            "{head} {relation}, {found:.0f} % against {rule:.0f} %",
            head=f"{row.layer + base}-{row.head + base}",
            relation=row.relation,
            found=row.accuracy,
            rule=row.baseline,
        )
        for row in clear
    ]
    values: dict[str, Any] = {
        "clear": len(clear),
        "heads": heads,
        "names": semicolons(names) if names else "",
        "tests": len(relations.told),
        "untrained": sum(row.more for row in relations.untrained.values()),
    }
    found = (
        _("{clear} of {heads} heads find a relation significantly more often than a rule without a model: {names}.",
          **values)
        if names
        else _("No head of {heads} finds a relation significantly more often than a rule without a model.", **values)
    )  # fmt: skip
    how = _(
        "Each head's relation was chosen on one half of 100 annotated sentences and tested on the other half"
        " (two-sided, corrected for {tests} heads). With random weights: {untrained}.",
        **values,
    )
    return together(found, how)
