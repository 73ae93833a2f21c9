"""Which relation each head finds, from the annotated sentences that come with the app."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inference import Refusal
from probing.naming import Head, named
from probing.ready_sets import READY, ready
from probing.rows import Row
from probing.score import Run
from probing.tally import Tally
from ui.run.refusals import say
from ui.run.scoring import scored
from ui.state.choice import Choice


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
        say(f"What the heads find in annotated sentences is not known. {refusal.message}", role="status")
        return Relations()
    told, untrained = (named([(tallies[name], ready(name)) for name in READY]) for tallies in found.values())
    return Relations(told, untrained, found[False])


def _tallies(choice: Choice, control: bool) -> dict[str, Tally]:
    doing = "Scoring random weights, in batches" if control else "Scoring every head, in batches"
    runs = {name: Run(ready(name), choice.model, choice.revision or None, control) for name in READY}
    return {name: scored(run, doing).tally for name, run in runs.items()}


def summary(relations: Relations, heads: int, base: int) -> str:
    """How many heads may be named after a relation, beside how many luck and structure alone would name."""
    clear = sorted((row for row in relations.told.values() if row.more), key=lambda row: row.p_more)
    names = "; ".join(
        f"{row.layer + base}-{row.head + base} {row.relation}, {row.accuracy:.0f} % against {row.baseline:.0f} %"
        for row in clear
    )
    also = sum(row.more for row in relations.untrained.values())
    return (
        f"On one half of 100 annotated sentences, {len(relations.told)} of {heads} heads find some relation more often"
        f" than a rule without a model. On the other half, this many of them are still clearly above it: {len(clear)}"
        f"{f' ({names})' if names else ''}. With random weights it is {len(relations.untrained)}, then {also}."
    )
