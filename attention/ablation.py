"""What removing something changes: the watched answer as one number, random sets to compare with, heads that move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from attention.edits import Edit, MaskKey, ZeroValue
from attention.mask import FloatArray
from attention.trace import Trace

EditSet = tuple[Edit, ...]


def similarity(vectors: FloatArray) -> FloatArray:
    """Cosine of each vector (set, channel) with the first one, (set,): 1 is the same direction.

    >>> similarity(np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])).tolist()
    [1.0, 1.0, 0.0]
    """
    sizes = np.linalg.norm(vectors, axis=1)
    cosines: FloatArray = vectors @ vectors[0] / (sizes * sizes[0])
    return cosines


def log_odds(logs: FloatArray) -> FloatArray:
    """How much likelier the first of two answers is, in nats, from log-probabilities (set, 2): 0 is even.

    >>> log_odds(np.log(np.array([[0.5, 0.25]]))).round(3).tolist()
    [0.693]
    """
    odds: FloatArray = logs[:, 0] - logs[:, 1]
    return odds


def random_sets(
    chosen: EditSet, places: Sequence[tuple[int, int]], tokens: Sequence[int], many: int, seed: int = 0
) -> tuple[EditSet, ...]:
    """Up to ``many`` other sets like the chosen one, each different, the same for the same seed.

    In each, heads (layer, head) change places among all ``places``, and hidden words among ``tokens``; a look that is
    cut stays between its two words. Fewer come back where there are no more.

    >>> from attention.edits import Ablate
    >>> random_sets((Ablate(0, 1),), [(0, 0), (0, 1), (1, 0)], [], 9) in (
    ...     ((Ablate(0, 0),), (Ablate(1, 0),)), ((Ablate(1, 0),), (Ablate(0, 0),)))
    True
    """
    generator = np.random.default_rng(seed)
    seen: dict[frozenset[Edit], EditSet] = {frozenset(chosen): chosen}
    for _ in range(20 * many):
        if len(seen) > many:
            break
        heads = dict(zip(places, (places[at] for at in generator.permutation(len(places))), strict=True))
        words = dict(zip(tokens, (tokens[at] for at in generator.permutation(len(tokens))), strict=True))
        moved = tuple(sorted(_remap_edits(chosen, heads, words), key=repr))
        seen.setdefault(frozenset(moved), moved)
    return tuple(seen.values())[1:]


def _remap_edits(
    chosen: EditSet, heads: dict[tuple[int, int], tuple[int, int]], words: dict[int, int]
) -> Iterator[Edit]:
    for edit in chosen:
        if isinstance(edit, MaskKey | ZeroValue):
            yield replace(edit, key=words.get(edit.key, edit.key))
        else:
            layer, head = heads[edit.layer, edit.head]
            yield replace(edit, layer=layer, head=head)


def heads_moved(before: Trace, after: Trace) -> FloatArray:
    """How much of each head's attention goes elsewhere, (layer, head): 0 none of it, 1 all of it.

    The mean over queries of the total variation distance between a row of one trace and that of the other.
    """
    found = [
        [0.5 * np.abs(one.weights(head) - other.weights(head)).sum(axis=1).mean() for head in range(one.heads)]
        for one, other in zip(before.records(), after.records(), strict=True)
    ]
    return np.array(found, dtype=np.float32)
