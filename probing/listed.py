"""From a score to its links: which of them one head finds, in the file's order."""

from __future__ import annotations

from dataclasses import dataclass

from attention.links import Item, Link
from probing.corpus import Corpus
from probing.rows import Place
from probing.tally import HALVES, Counts


@dataclass(frozen=True)
class Listed:
    """One link of one sentence, and whether a head finds it; the rule's answer beside it."""

    item: Item
    link: Link
    half: int  # of the file's sentences: the best head is chosen on half 0 and told on half 1
    hit: bool
    by_rule: bool


def listed(counts: Counts, corpus: Corpus, place: Place, cue: int) -> list[Listed]:
    """Every link that was counted, as one head answered it; ``cue`` is what the rule bets on."""
    hits, by_rule = counts.hits[:, *place].tolist(), (counts.needed == cue).tolist()
    found = sorted(zip(counts.places.tolist(), hits, by_rule, strict=True))
    return [
        Listed(corpus.items[item], corpus.items[item].links[at], item % HALVES, hit, right)
        for (item, at), hit, right in found
    ]
