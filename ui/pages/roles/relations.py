"""Which relation each head finds, from the annotated sentences that come with the app."""

from __future__ import annotations

from inference import Refusal
from probing.corpus import ALL, UNCOUNTED
from probing.rows import Row, rows
from probing.score import Run
from ui.run.ready_sets import ready
from ui.run.refusals import say
from ui.run.scoring import scored
from ui.state.choice import Choice

FEWEST = 20  # links


def head_relations(choice: Choice, layers: int, heads: int) -> list[list[str]]:
    """By layer and head, the relation that a head finds most clearly above the rule without a model; "" for none."""
    corpus = ready("grammar")
    found = [["" for _ in range(heads)] for _ in range(layers)]
    try:
        state = scored(Run(corpus, choice.model, choice.revision or None), "Scoring every head, in batches")
    except Refusal as refusal:
        say(f"What the heads find in annotated sentences is not known. {refusal.message}", role="status")
        return found
    best: dict[tuple[int, int], Row] = {}
    for row in rows(state.tally, corpus):
        place = (row.layer, row.head)
        clear = row.low > row.baseline and row.n >= FEWEST and row.relation not in (ALL, *UNCOUNTED)
        if clear and (place not in best or row.low - row.baseline > best[place].low - best[place].baseline):
            best[place] = row
    for (layer, head), row in best.items():
        if layer < layers and head < heads:
            found[layer][head] = row.relation
    return found
