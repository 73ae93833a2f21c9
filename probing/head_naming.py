"""Which relation a head is named after: chosen on one half of the sentences, told as it does on the other.

The best of many relations on the very sentences that it was chosen on would always look like a skill.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from probing import baselines
from probing.corpus import ALL, UNCOUNTED, AnnotatedCorpus
from probing.hit_counts import HitCounts
from probing.relation_rows import Place, RelationRow, candidates, correct_together, p_values, row, rule

FEWEST = 20  # links of a relation, both halves together
Head = tuple[int, int]  # layer, head


def name_heads(scored: Sequence[tuple[HitCounts, AnnotatedCorpus]]) -> dict[Head, RelationRow]:
    """For each head that beats a rule on one half, the relation it does so most clearly in, as told by the other half.

    The tests of the other half are corrected for all these heads, so ``RelationRow.more`` says which names may be
    believed. Several sets of sentences may stand side by side, as long as their heads are the same model's.
    """
    best: dict[Head, tuple[float, float, RelationRow]] = {}
    for tally, corpus in scored:
        for relation in tally.relations():
            for place, (doubt, margin, told) in _heads_above_rule(tally, corpus, relation).items():
                mine = (doubt, -margin)
                if place not in best or mine < best[place][:2]:
                    best[place] = (*mine, told)
    heads = sorted(best)
    return dict(zip(heads, correct_together([best[head][2] for head in heads]), strict=True))


def _heads_above_rule(
    tally: HitCounts, corpus: AnnotatedCorpus, relation: str
) -> dict[Head, tuple[float, float, RelationRow]]:
    """Return the heads that find more than the rule on half 0: p, by how many links, and their row on half 1."""
    first, second = tally.counts_of(relation, 0), tally.counts_of(relation, 1)
    if first is None or second is None or first.n + second.n < FEWEST or relation in (ALL, *UNCOUNTED):
        return {}
    best = rule(first, corpus, first)
    choosing, telling = p_values(first, best, corpus), p_values(second, rule(first, corpus, second), corpus)
    margins = first.hits_by_head[: len(corpus.directions)] - baselines.count_found(first.cues, best, candidates(corpus))
    found = {}
    for layer, head in np.ndindex(*margins.shape[1:]):
        direction = int(np.where(margins > 0, choosing, 2)[:, layer, head].argmin())
        place: Place = (direction, layer, head)
        if margins[place] > 0:
            told = row(second, first, corpus, relation, place, telling)
            found[layer, head] = (float(choosing[place]), float(margins[place]), told)
    return found
