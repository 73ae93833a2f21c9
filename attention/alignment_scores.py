"""How well does a cross head align? Its links against those that people drew between a text and its translation.

A head's links: for each target word the source word that it looks at most, special tokens left out. Two figures
(Och and Ney, 2003, "A Systematic Comparison of Various Statistical Alignment Models", doi:10.1162/089120103321337421):

- found: the share of linked target words whose link is among the sure or possible ones;
- alignment error rate: 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), where A are the head's links, S the sure ones and P the
  sure and possible ones. 0 is perfect. A link of a target word that people left without any is always wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attention.annotations import Span, membership
from attention.cross_attention import CrossRowConvention, diagonal, output_tokens
from attention.mask import FloatArray
from attention.record import Unavailable
from attention.trace import Trace
from i18n import gettext_lazy

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Pairs = frozenset[tuple[int, int]]  # (source word, target word)
NOWHERE = -1


@dataclass(frozen=True)
class HandAligned:
    """A sentence and its translation with links drawn by hand; words are (start, stop) in characters."""

    source: str
    target: str
    source_words: tuple[Span, ...]
    target_words: tuple[Span, ...]
    sure: Pairs
    possible: Pairs = frozenset()  # beside the sure ones
    line: int = 1  # where it stands in its file, from 1

    def __post_init__(self) -> None:
        """Raise ValueError for links to words that are not there, or none that is sure or possible."""
        if not self.sure | self.possible:
            raise ValueError(gettext_lazy("A pair of sentences without links tells nothing."))
        for source, target in self.sure | self.possible:
            if not (0 <= source < len(self.source_words) and 0 <= target < len(self.target_words)):
                raise ValueError(
                    gettext_lazy(
                        "The link {source}-{target} came; there are source words 0 to {last_source} and "
                        "target words 0 to {last_target}.",
                        source=source,
                        target=target,
                        last_source=len(self.source_words) - 1,
                        last_target=len(self.target_words) - 1,
                    )
                )


def strongest_sources(trace: Trace, pair: HandAligned) -> Places:
    """Which source word each head links each target word to, (reading, layer, head, target word).

    Readings are those of ReadAt, in their order. NOWHERE for a word that the model did not read, or that gives nothing
    to any source word. Raises Unavailable for a trace without cross-attention.
    """
    if trace.target is None:
        raise Unavailable(
            gettext_lazy("{name} writes no translation, so nothing can be aligned.", name=trace.model.name)
        )
    rows = {CrossRowConvention.WRITING: output_tokens(trace.target), CrossRowConvention.OWN: trace.target}
    looking = np.stack([membership(rows[read_at], pair.target_words) for read_at in CrossRowConvention]).astype(
        np.float32
    )
    looking = looking / np.maximum(looking.sum(axis=2, keepdims=True), np.float32(1))
    looked_at = membership(trace.source, pair.source_words).astype(np.float32).T
    heads = [
        [_argmax_sources(looking @ (record.weights(head) @ looked_at)) for head in range(record.heads)]
        for record in trace.records("cross")
    ]
    return np.moveaxis(np.array(heads, dtype=np.intp), 2, 0)


def _argmax_sources(weights: FloatArray) -> Places:
    """(reading, target word, source word) -> (reading, target word)."""
    best: Places = np.where(weights.max(axis=2) > 0, weights.argmax(axis=2), NOWHERE)
    return best


@dataclass(frozen=True, eq=False)
class AlignmentCounts:
    """What links make of hand-drawn ones; arrays of any shape, all alike. They add up over sentences."""

    words: Numbers  # target words that people linked
    found: Numbers  # of these, those linked to a word that people allow
    links: Numbers  # |A|
    sure: Numbers  # |S|
    in_sure: Numbers  # |A ∩ S|
    in_allowed: Numbers  # |A ∩ P|

    def __add__(self, other: AlignmentCounts) -> AlignmentCounts:
        return AlignmentCounts(
            self.words + other.words,
            self.found + other.found,
            self.links + other.links,
            self.sure + other.sure,
            self.in_sure + other.in_sure,
            self.in_allowed + other.in_allowed,
        )

    @property
    def share(self) -> Numbers:
        """Share of linked target words that were found, 0 to 1; 0 where there are none."""
        share: Numbers = self.found / np.maximum(self.words, 1)
        return share

    @property
    def error(self) -> Numbers:
        """Alignment error rate, 0 to 1; 1 where there are no links at all."""
        rate: Numbers = 1 - (self.in_sure + self.in_allowed) / np.maximum(self.links + self.sure, 1)
        return rate


def count(pair: HandAligned, links: Places) -> AlignmentCounts:
    """What links, (..., target word) -> source word or NOWHERE, make of the hand-drawn ones, (...).

    >>> pair = HandAligned("a b", "x y", ((0, 1), (2, 3)), ((0, 1), (2, 3)), frozenset({(0, 1)}), frozenset({(1, 0)}))
    >>> counts = count(pair, np.array([[1, 0], [0, 0], [1, NOWHERE]]))  # the second has one right, the third one link
    >>> counts.share.tolist(), counts.error.round(3).tolist()
    ([1.0, 0.5, 0.5], [0.0, 0.333, 0.5])
    """
    sure, allowed = _table(pair, pair.sure), _table(pair, pair.sure | pair.possible)
    linked = links != NOWHERE
    targets = np.arange(links.shape[-1])
    in_sure, in_allowed = (table[links, targets] & linked for table in (sure, allowed))
    return AlignmentCounts(
        words=np.full(links.shape[:-1], allowed.any(axis=0).sum(), dtype=np.float64),
        found=in_allowed.sum(axis=-1).astype(np.float64),
        links=linked.sum(axis=-1).astype(np.float64),
        sure=np.full(links.shape[:-1], sure.sum(), dtype=np.float64),
        in_sure=in_sure.sum(axis=-1).astype(np.float64),
        in_allowed=in_allowed.sum(axis=-1).astype(np.float64),
    )


def _table(pair: HandAligned, links: Pairs) -> npt.NDArray[np.bool_]:
    """Links as (source word, target word)."""
    table = np.zeros((len(pair.source_words), len(pair.target_words)), dtype=np.bool_)
    for source, target in links:
        table[source, target] = True
    return table


def by_diagonal(pair: HandAligned) -> AlignmentCounts:
    """What linking each target word to the source word at the same relative place would find, ()."""
    return count(pair, np.array(diagonal(len(pair.target_words), len(pair.source_words)), dtype=np.intp))


def by_chance(pair: HandAligned) -> AlignmentCounts:
    """What linking each target word to any source word at random finds on average, ()."""
    sources, targets = len(pair.source_words), len(pair.target_words)
    every = count(pair, np.repeat(np.arange(sources, dtype=np.intp)[:, None], targets, axis=1))
    return AlignmentCounts(*(np.asarray(value.mean()) for value in vars(every).values()))


def total(counts: Sequence[AlignmentCounts]) -> AlignmentCounts:
    """All of them together; raises IndexError for none."""
    return sum(counts[1:], counts[0])
