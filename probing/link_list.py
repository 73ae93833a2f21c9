"""From a score to its links: which of them one head finds, in the file's order."""

from __future__ import annotations

from dataclasses import dataclass

from attention.annotations import AnnotatedText, Link
from probing.corpus import AnnotatedCorpus
from probing.hit_counts import HALVES, RelationCounts
from probing.relation_rows import Place, by_rule


@dataclass(frozen=True)
class ListedLink:
    """One link of one sentence, and whether a head finds it; the rule's answer beside it."""

    item: AnnotatedText
    link: Link
    half: int  # of the file's sentences: the best head is chosen on half 0 and told on half 1
    hit: bool
    by_rule: bool


def list_links(counts: RelationCounts, corpus: AnnotatedCorpus, place: Place, rule: int) -> list[ListedLink]:
    """Return every link that was counted, with the answer of one head and of a rule (probing/baselines.py)."""
    hits, right = counts.hits[:, *place].tolist(), by_rule(counts, rule, corpus).tolist()
    found = sorted(zip(counts.places.tolist(), hits, right, strict=True))
    return [
        ListedLink(corpus.items[item], corpus.items[item].links[at], item % HALVES, hit, right)
        for (item, at), hit, right in found
    ]
