"""Counts as figures: a row for every relation and head, and the head that was chosen on one part for another part."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from probing import baselines
from probing.corpus import Corpus
from probing.intervals import wilson
from probing.tally import Counts, Tally


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
    low: float  # percent, ends of the 95 % interval of the accuracy
    high: float


def rows(tally: Tally, corpus: Corpus, chooser: Tally | None = None) -> list[Row]:
    """A row for every relation and head. Directions and the rule's distance are chosen on ``chooser`` where given."""
    found = []
    for relation in tally.relations():
        counts = tally.of(relation)
        assert counts is not None
        basis = (chooser.of(relation) if chooser else None) or counts
        best = basis.found[: len(corpus.directions)].argmax(axis=0)  # (layer, head)
        for layer, head in np.ndindex(*best.shape):
            found.append(row(counts, basis, corpus, relation, (int(best[layer, head]), layer, head)))
    return found


def chosen(tally: Tally, corpus: Corpus, relation: str, chooser: Tally | None = None) -> Row | None:
    """The best head of one part of the data, as it does on another part.

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
    return row(counts, basis, corpus, relation, (direction, layer, head))


def row(counts: Counts, basis: Counts, corpus: Corpus, relation: str, place: tuple[int, int, int]) -> Row:
    """One head's row; ``place`` is direction, layer and head, ``basis`` what the rule's distance is chosen on."""
    direction, layer, head = place
    candidates = corpus.format != "conllu"
    cue = baselines.best(basis.cues, candidates)
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
        baseline_name=baselines.name(cue, candidates),
        low=low,
        high=high,
    )


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
    writer.writerows(asdict(entry) for entry in found)
    return stream.getvalue()
