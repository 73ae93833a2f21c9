"""Links as figures: a row for every relation and head, and the head that was chosen on one part for another part."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache

import numpy as np

from attention.spreadsheet import safe_cell
from probing import baselines
from probing.corpus import Corpus
from probing.intervals import wilson
from probing.paired import LEVEL, Numbers, by_sentence, holm, sign_flips, verdict
from probing.tally import Counts, Tally

Place = tuple[int, int, int]  # direction, layer, head


@dataclass(frozen=True)
class Row:
    """How often one head finds one relation, in the direction it finds it best. Layers and heads count from 0."""

    relation: str
    layer: int
    head: int
    direction: str
    accuracy: float  # percent
    n: int  # links
    baseline: float  # percent that the best rule without a model finds
    baseline_name: str
    low: float  # percent, ends of the 95 % interval of the accuracy, as if links were independent
    high: float
    p_more: float  # of the paired test that it finds more than the rule, corrected for all that is tested with it
    p_less: float

    @property
    def more(self) -> bool:
        """Whether it finds more than the rule, and luck is an unlikely reason."""
        return self.p_more <= LEVEL

    @property
    def verdict(self) -> str:
        """Beside the rule: "more", "less", or "not clearly more"."""
        return verdict(self.p_more, self.p_less)


@dataclass(frozen=True, eq=False)
class Doubts:
    """How likely luck alone makes so much more, or less, than the rule finds; each (direction, layer, head)."""

    more: Numbers
    less: Numbers

    def corrected(self) -> Doubts:
        """For all directions and heads at once."""
        return Doubts(holm(self.more), holm(self.less))


def rows(tally: Tally, corpus: Corpus, chooser: Tally | None = None) -> list[Row]:
    """A row for every relation and head. Directions and the rule's distance are chosen on ``chooser`` where given.

    The test is corrected for all heads and both directions of a relation, so that the better one may be shown.
    """
    return [row for relation in tally.relations() for row in of_relation(tally, corpus, relation, chooser)]


def of_relation(tally: Tally, corpus: Corpus, relation: str, chooser: Tally | None = None) -> list[Row]:
    """The rows of one relation that occurs in ``tally``."""
    counts = tally.of(relation)
    assert counts is not None
    basis = (chooser.of(relation) if chooser else None) or counts
    doubts = _doubts(counts, basis, corpus).corrected()
    best = basis.found[: len(corpus.directions)].argmax(axis=0)  # (layer, head)
    places = [(int(best[layer, head]), layer, head) for layer, head in np.ndindex(*best.shape)]
    return [row(counts, basis, corpus, relation, place, doubts) for place in places]


def chosen(tally: Tally, corpus: Corpus, relation: str, chooser: Tally | None = None) -> Row | None:
    """The best head of one part of the data, as it does on another part, its test not corrected: see ``together``.

    Chosen on ``chooser`` and reported on the whole of ``tally``; without it, chosen on one half and reported on the
    other. None where the relation does not occur in both: the best of many heads on the very links it was chosen on
    would always look skilled.
    """
    basis = chooser.of(relation) if chooser else tally.of(relation, 0)
    counts = tally.of(relation) if chooser else tally.of(relation, 1)
    if basis is None or counts is None:
        return None
    scores = basis.found[: len(corpus.directions)]
    direction, layer, head = (int(at) for at in np.unravel_index(scores.argmax(), scores.shape))
    return row(counts, basis, corpus, relation, (direction, layer, head), _doubts(counts, basis, corpus))


def together(found: Sequence[Row]) -> list[Row]:
    """Rows of single tests that are looked at together, corrected for all of them."""
    more, less = (holm(np.array(p, np.float64)) for p in ([r.p_more for r in found], [r.p_less for r in found]))
    return [replace(r, p_more=float(m), p_less=float(s)) for r, m, s in zip(found, more, less, strict=True)]


def row(  # noqa: PLR0913  (what a row is made of)
    counts: Counts, basis: Counts, corpus: Corpus, relation: str, place: Place, doubts: Doubts
) -> Row:
    """One head's row; ``basis`` is what the rule's distance is chosen on."""
    direction, layer, head = place
    cue = rule(basis, corpus)
    hits = int(counts.found[place])
    low, high = wilson(hits, counts.n)
    return Row(
        relation=relation,
        layer=layer,
        head=head,
        direction=corpus.directions[direction],
        accuracy=100 * hits / counts.n,
        n=counts.n,
        baseline=100 * counts.cues[cue] / counts.n,
        baseline_name=baselines.name(cue, candidates(corpus)),
        low=low,
        high=high,
        p_more=float(doubts.more[place]),
        p_less=float(doubts.less[place]),
    )


def rule(basis: Counts, corpus: Corpus) -> int:
    """What the rule without a model bets on, chosen on ``basis``."""
    return baselines.best(basis.cues, candidates(corpus))


def candidates(corpus: Corpus) -> bool:
    """Whether given candidates compete, and not all words."""
    return corpus.format != "conllu"


def _doubts(counts: Counts, basis: Counts, corpus: Corpus) -> Doubts:
    return doubts(counts, rule(basis, corpus), len(corpus.directions))


@lru_cache(maxsize=256)
def doubts(counts: Counts, cue: int, directions: int) -> Doubts:
    """Every head against the rule that bets on ``cue``, on the same links, sentence by sentence; not corrected."""
    by_rule = counts.needed == cue
    hits = counts.hits[:, :directions]
    differences = hits.reshape(counts.n, -1).astype(np.int64) - by_rule[:, None]
    sums = by_sentence(differences, counts.sentences)
    more, less = (sign_flips(sign * sums).reshape(hits.shape[1:]) for sign in (1, -1))
    return Doubts(more, less)


def accuracies(counts: Counts, directions: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Percent that each head finds, (direction, layer, head)."""
    return 100 * counts.found[:directions] / counts.n


def to_json(found: Sequence[Row]) -> str:
    """Rows as a JSON list, one to a line."""
    lines = ",\n".join(json.dumps(asdict(entry)) for entry in found)
    return f"[\n{lines}\n]\n"


def to_csv(found: Sequence[Row]) -> str:
    """Rows as CSV with a header."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    for entry in found:
        cells = asdict(entry).items()
        writer.writerow({name: safe_cell(cell) if isinstance(cell, str) else cell for name, cell in cells})
    return stream.getvalue()
