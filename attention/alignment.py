"""Word alignment from cross-attention: its matrix, its links, and their score against links by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from attention.annotations import Span, membership
from attention.mask import FloatArray
from attention.record import Unavailable
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import DisplayToken, View
from i18n import gettext_lazy

END = "⟨end⟩"  # what the last step writes: the token that ends the translation


class CrossRowConvention(StrEnum):
    """At which step of the decoder a target token's row is taken."""

    WRITING = "writing"  # the step that writes the token
    OWN = "own"  # the step that reads it


@dataclass(frozen=True, eq=False)
class Alignment:
    """One cross head's attention, labelled by what each step writes or reads.

    ``weights`` is (target, source) float32; rows sum to one where no special token is hidden.
    """

    weights: FloatArray
    target: tuple[DisplayToken, ...]
    source: tuple[DisplayToken, ...]
    read_at: CrossRowConvention

    def strongest(self, row: int) -> int | None:
        """The source word that a target word looks at most, special tokens left out; None where it looks at none."""
        words = [at for at, cell in enumerate(self.source) if not cell.special]
        best = max(words, key=lambda at: float(self.weights[row, at]), default=None)
        return None if best is None or self.weights[row, best] <= 0 else best


def alignment(  # noqa: PLR0913  # each is another side of the comparison
    trace: Trace,
    layer: int,
    head: int,
    by_words: bool,
    read_at: CrossRowConvention = CrossRowConvention.WRITING,
    special: bool = True,
) -> Alignment:
    """What one cross head of a translation's trace looks at for each target token or word.

    By words, attention *to* a word is the sum over its pieces and attention *from* it the mean over the steps that
    write them (arXiv:1906.04341). Special tokens are rows and columns of their own, since heads that have nothing to
    say often look at the source's end; with ``special`` off they are left out, and the weights stay as they are, so
    that a row sums to what was given to words. Raises Unavailable for a trace without cross-attention.
    """
    looked = View(read(trace, read_at), "cross", words=by_words, special=special)
    return Alignment(looked.weights(layer, head), looked.queries, looked.keys, read_at)


def read(trace: Trace, read_at: CrossRowConvention) -> Trace:
    """The same trace with its cross-attention's rows named by what each step writes, or as it is: by what it reads.

    Only the part "cross" of the first may be looked at: the decoder's own tokens stand one place off there.
    """
    if trace.target is None or "cross" not in trace.parts:
        raise Unavailable(
            gettext_lazy(
                "{name} has no cross-attention, so nothing to align. Pick a model that translates.",
                name=trace.model.name,
            )
        )
    return replace(trace, target=output_tokens(trace.target)) if read_at is CrossRowConvention.WRITING else trace


def output_tokens(row: TokenRow) -> TokenRow:
    """What the steps write that read these tokens: each the next one, the last one the end.

    >>> row = TokenRow(("<s>", "Bon", "jour"), (0, 7, 8), (None, 0, 0), (0,) * 3, (None, (0, 3), (3, 7)))
    >>> output_tokens(row).pieces, output_tokens(row).spans
    (('Bon', 'jour', '⟨end⟩'), ((0, 3), (3, 7), None))
    """
    return TokenRow(
        pieces=(*row.pieces[1:], END),
        ids=(*row.ids[1:], -1),  # which token ends a text, a trace does not say
        words=(*row.words[1:], None),
        segments=(*row.segments[1:], 0),
        spans=(*row.spans[1:], None),
        unknown=(*row.unknown[1:], ""),
    )


def diagonal(target: int, source: int) -> list[int]:
    """The source word at the same relative place for each target word: a guess that looks at no model.

    >>> diagonal(3, 6), diagonal(4, 2)
    ([1, 3, 5], [0, 0, 1, 1])
    """
    places = np.floor((np.arange(target) + 0.5) * source / max(1, target))
    return [int(place) for place in places]


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


def source_coverage(weights: FloatArray) -> FloatArray:
    """How much each source token gets from the step that gives it most, mean over source tokens: (..., step, source)
    to (...), 0 to 1.

    1 where every source token has a step that looks at nothing else. 1/n where all n get alike, and where one gets all:
    a head must both be peaked and leave no word out to come high.

    >>> one_by_one, one_takes_all = np.eye(2), np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> source_coverage(np.stack([one_by_one, one_takes_all, np.full((2, 2), 0.5)])).tolist()
    [1.0, 0.5, 0.5]
    """
    largest: FloatArray = weights.max(axis=-2).mean(axis=-1)
    return largest


def covering_heads(trace: Trace) -> FloatArray:
    """That number for every cross head, (layer, head) float32: special tokens of the source left out, and the step
    after the last written token too.

    Raises attention.record.Unavailable for a trace without cross-attention. A translation without a token, and a
    source of special tokens only, give 0 everywhere.
    """
    records = trace.records("cross")
    keys = np.flatnonzero(~np.array(trace.source.special))
    steps = max(0, records[0].queries - 1)
    if not steps or not len(keys):
        return np.zeros((len(records), records[0].heads), np.float32)
    rows = slice(0, steps)
    found = [
        [source_coverage(record.weights(head, rows)[:, keys]) for head in range(record.heads)] for record in records
    ]
    return np.array(found, dtype=np.float32)
