"""Links as figures: a row for every relation and head, and the head that was chosen on one part for another part."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache

import numpy as np

from attention.mask import BoolArray
from attention.spreadsheet import safe_cell
from probing import baselines
from probing.corpus import AnnotatedCorpus
from probing.hit_counts import HitCounts, RelationCounts
from probing.intervals import wilson
from probing.paired_test import LEVEL, Numbers, by_sentence, holm, sign_flip_test, verdict

Place = tuple[int, int, int]  # direction, layer, head


@dataclass(frozen=True)
class RelationRow:
    """How often one head finds one relation, in the direction it finds it best. Layers and heads count from 0."""

    relation: str
    layer: int
    head: int
    direction: str
    accuracy: float  # percent
    n: int  # links
    baseline: float  # percent that the best rule without a model finds; among candidates never below chance
    baseline_name: str
    chance: float | None  # percent that a guess between two candidates finds; None if every word competes
    low: float  # percent, ends of the 95 % interval of the accuracy, as if links were independent
    high: float
    p: float  # two-sided, of the paired test against the rule, corrected for all that is tested with it

    @property
    def more(self) -> bool:
        """Whether it finds significantly more than the rule."""
        return self.p <= LEVEL and self.accuracy > self.baseline

    @property
    def verdict(self) -> str:
        """Beside the rule: "more", "less", or "not clearly more"."""
        return verdict(self.p, self.accuracy - self.baseline)


def rows(tally: HitCounts, corpus: AnnotatedCorpus, chooser: HitCounts | None = None) -> list[RelationRow]:
    """A row for every relation and head. Directions and the rule are chosen on ``chooser`` where given.

    The test is corrected for all heads and both directions of a relation, so that the better one may be shown.
    """
    return [row for relation in tally.relations() for row in of_relation(tally, corpus, relation, chooser)]


def of_relation(
    tally: HitCounts, corpus: AnnotatedCorpus, relation: str, chooser: HitCounts | None = None
) -> list[RelationRow]:
    """The rows of one relation that occurs in ``tally``."""
    counts = tally.counts_of(relation)
    assert counts is not None
    basis = (chooser.counts_of(relation) if chooser else None) or counts
    doubts = holm(_rule_p_values(counts, basis, corpus))
    best = basis.hits_by_head[: len(corpus.directions)].argmax(axis=0)  # (layer, head)
    places = [(int(best[layer, head]), layer, head) for layer, head in np.ndindex(*best.shape)]
    return [row(counts, basis, corpus, relation, place, doubts) for place in places]


def held_out_best(
    tally: HitCounts, corpus: AnnotatedCorpus, relation: str, chooser: HitCounts | None = None
) -> RelationRow | None:
    """The best head of one part of the data, as it does on another part, its test not corrected: see
    ``correct_together``.

    Chosen on ``chooser`` and reported on the whole of ``tally``; without it, chosen on one half and reported on the
    other. None where the relation does not occur in both: the best of many heads on the very links it was chosen on
    would always look skilled.
    """
    basis = chooser.counts_of(relation) if chooser else tally.counts_of(relation, 0)
    counts = tally.counts_of(relation) if chooser else tally.counts_of(relation, 1)
    if basis is None or counts is None:
        return None
    scores = basis.hits_by_head[: len(corpus.directions)]
    direction, layer, head = (int(at) for at in np.unravel_index(scores.argmax(), scores.shape))
    return row(counts, basis, corpus, relation, (direction, layer, head), _rule_p_values(counts, basis, corpus))


def correct_together(found: Sequence[RelationRow]) -> list[RelationRow]:
    """Rows of single tests that are looked at together, corrected for all of them."""
    corrected = holm(np.array([row.p for row in found], np.float64))
    return [replace(row, p=float(p)) for row, p in zip(found, corrected, strict=True)]


def row(  # noqa: PLR0913  (what a row is made of)
    counts: RelationCounts, basis: RelationCounts, corpus: AnnotatedCorpus, relation: str, place: Place, doubts: Numbers
) -> RelationRow:
    """Return one head's row; the rule is chosen on ``basis``, and ``p_values`` are p, (direction, layer, head)."""
    direction, layer, head = place
    bar, given = rule(basis, corpus, counts), candidates(corpus)
    hits = int(counts.hits_by_head[place])
    low, high = wilson(hits, counts.n)
    return RelationRow(
        relation=relation,
        layer=layer,
        head=head,
        direction=corpus.directions[direction],
        accuracy=100 * hits / counts.n,
        n=counts.n,
        baseline=100 * baselines.count_found(counts.cues, bar, given) / counts.n,
        baseline_name=baselines.name(bar, given),
        chance=100 * baselines.CHANCE if given else None,
        low=low,
        high=high,
        p=float(doubts[place]),
    )


def rule(basis: RelationCounts, corpus: AnnotatedCorpus, reported: RelationCounts) -> int:
    """Return the rule without a model that a head must beat on ``reported``, chosen on ``basis``."""
    return baselines.best(basis.cues, reported.cues, candidates(corpus))


def by_rule(counts: RelationCounts, rule: int, corpus: AnnotatedCorpus) -> BoolArray:
    """Return whether a rule finds each link, (link,); a guess finds none for certain."""
    return counts.needed & rule > 0 if candidates(corpus) else counts.needed == rule


def candidates(corpus: AnnotatedCorpus) -> bool:
    """Whether given candidates compete, and not all words."""
    return corpus.format != "conllu"


def _rule_p_values(counts: RelationCounts, basis: RelationCounts, corpus: AnnotatedCorpus) -> Numbers:
    return p_values(counts, rule(basis, corpus, counts), corpus)


@lru_cache(maxsize=256)
def p_values(counts: RelationCounts, rule: int, corpus: AnnotatedCorpus) -> Numbers:
    """Return the two-sided p of every (direction, layer, head) against a rule, on the same links; not corrected.

    The test is by sentence. Beside a guess between two, a hit is half a link more and a miss half a link less.
    """
    hits = counts.hits[:, : len(corpus.directions)]
    flat = hits.reshape(counts.n, -1).astype(np.int8)
    guessed = candidates(corpus) and rule == baselines.GUESS
    differences = 2 * flat - 1 if guessed else flat - by_rule(counts, rule, corpus)[:, None]
    return sign_flip_test(by_sentence(differences, counts.sentences)).reshape(hits.shape[1:])


def accuracies(counts: RelationCounts, directions: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Percent that each head finds, (direction, layer, head)."""
    return 100 * counts.hits_by_head[:directions] / counts.n


def to_json(found: Sequence[RelationRow]) -> str:
    """Rows as a JSON list, one to a line."""
    lines = ",\n".join(json.dumps(asdict(entry)) for entry in found)
    return f"[\n{lines}\n]\n"


def to_csv(found: Sequence[RelationRow]) -> str:
    """Rows as CSV with a header."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [field.name for field in fields(RelationRow)], lineterminator="\n")
    writer.writeheader()
    for entry in found:
        cells = asdict(entry).items()
        writer.writerow({name: safe_cell(cell) if isinstance(cell, str) else cell for name, cell in cells})
    return stream.getvalue()
