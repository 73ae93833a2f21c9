"""Gold relations of an atlas: the accuracy of each head on the links of a CoNLL-U file, with baselines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from inference.errors import UserError
from probing import formats
from probing.results import RelationRow, of_relation
from probing.score import HitCounts, ScoringBackend, ScoringRun, ScoringState, score

FIELDS = ("layer", "head", "direction", "accuracy", "low", "high", "baseline", "p", "chosen", "chosen_rule", "n")
FEWEST = 50  # links of a relation that is scored


def score_relations(
    backend: ScoringBackend,
    file: Path,
    model: str,
    revision: str | None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> dict[str, Any]:
    """Return the accuracy of every head on each relation of a CoNLL-U file, as JSON values.

    Accuracy is the percentage of a relation's links that a head finds. Each relation has ``rows`` with the FIELDS of
    all heads, and two baselines. ``rule`` is the name of the best rule without a model. ``random`` is the largest
    accuracy of a head with random weights, over all sentences (None if there is no such model).

    The direction of a link and the rule are chosen on half of the sentences; ``chosen`` and ``chosen_rule`` are the
    accuracies of head and rule there. All other numbers are of the other half. Relations with fewer than FEWEST links
    there are left out. May raise UserError.
    """
    corpus = formats.load(file, "conllu")
    states = []
    for control in (False, True):
        run = ScoringRun(corpus, model, revision, control)
        state = ScoringState(run.key)
        try:
            for _ in score(backend, run, state, workers=2):
                progress(state.items, len(corpus.items))
        except UserError:
            if not control:
                raise
        states.append(state)
    choice, rest = (_half(states[0].tally, half) for half in (0, 1))
    relations: dict[str, Any] = {}
    for relation in rest.relations():
        reported = rest.counts_of(relation)
        if reported is None or reported.n < FEWEST or choice.counts_of(relation) is None:
            continue
        rows, chosen = of_relation(rest, corpus, relation, choice), of_relation(choice, corpus, relation)
        random = states[1].tally.counts_of(relation)
        relations[relation] = {
            "rule": rows[0].baseline_name,
            "random": None if random is None else 100 * float(random.hits_by_head.max()) / random.n,
            "rows": [
                [row.layer, row.head, row.direction, *(round(value, 4) for value in _numbers(row, first)), row.n]
                for row, first in zip(rows, chosen, strict=True)
            ],
        }
    return relations


def _numbers(row: RelationRow, first: RelationRow) -> tuple[float, ...]:
    """Return the numbers of FIELDS from the rows of a head on the rest and on the sentences that choose."""
    return row.accuracy, row.low, row.high, row.baseline, row.p, first.accuracy, first.baseline


def _half(tally: HitCounts, half: int) -> HitCounts:
    """Return the counts of a half of the sentences."""
    return HitCounts({key: value for key, value in tally.counts.items() if key[0] == half})
