"""Word alignment from cross-attention: maps, predicted links, and error rates against manual links."""

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

END = "⟨end⟩"  # label of the end-of-sequence token, which the last step generates


class CrossRowConvention(StrEnum):
    """The decoder step whose row of cross-attention is read as the attention of a target token.

    WRITING is the step that generates the token. OWN is the next step, whose input is the token.
    """

    WRITING = "writing"  # the step that generates the token
    OWN = "own"  # the step that reads the token


@dataclass(frozen=True, eq=False)
class Alignment:
    """The attention of target words to source words by a cross-attention head.

    ``weights`` is (target, source) float32; rows sum to one unless special tokens are hidden. ``read_at`` is the
    convention by which a decoder step was chosen for each target word.
    """

    weights: FloatArray
    target: tuple[DisplayToken, ...]
    source: tuple[DisplayToken, ...]
    read_at: CrossRowConvention

    def strongest(self, row: int) -> int | None:
        """Return the index of the source word with the largest weight in a row, or None if all are zero.

        Special tokens are ignored.
        """
        words = [at for at, cell in enumerate(self.source) if not cell.special]
        best = max(words, key=lambda at: float(self.weights[row, at]), default=None)
        return None if best is None or self.weights[row, best] <= 0 else best


def alignment(  # noqa: PLR0913  # a head and the options of the alignment
    trace: Trace,
    layer: int,
    head: int,
    by_words: bool,
    read_at: CrossRowConvention = CrossRowConvention.WRITING,
    special: bool = True,
) -> Alignment:
    """Return the alignment of target and source tokens, or words, by a cross-attention head.

    If ``by_words`` is set, attention to a word is the sum over its tokens. Attention from a word is the mean over the
    rows of its tokens (arXiv:1906.04341). Special tokens are included by default, since idle heads often attend to the
    end of the source. Without ``special``, they are left out and the weights are not rescaled. Raise Unavailable if the
    trace has no cross-attention.
    """
    looked = View(read(trace, read_at), "cross", words=by_words, special=special)
    return Alignment(looked.weights(layer, head), looked.queries, looked.keys, read_at)


def read(trace: Trace, read_at: CrossRowConvention) -> Trace:
    """Return a trace in which each cross-attention row has the label of its target token, by ``read_at``.

    With WRITING, the row of a decoder step gets the label of the token that the step generates, instead of its input
    token. Only the stack "cross" of the result is valid then. Raise Unavailable if the trace has no cross-attention.
    """
    if trace.target is None or "cross" not in trace.parts:
        raise Unavailable(
            gettext_lazy(
                "{name} has no cross-attention. Pick a model that translates.",
                name=trace.model.name,
            )
        )
    return replace(trace, target=output_tokens(trace.target)) if read_at is CrossRowConvention.WRITING else trace


def output_tokens(row: TokenRow) -> TokenRow:
    """Return the tokens that the decoder steps generate: the target shifted left, with an end token.

    >>> row = TokenRow(("<s>", "Bon", "jour"), (0, 7, 8), (None, 0, 0), (0,) * 3, (None, (0, 3), (3, 7)))
    >>> output_tokens(row).pieces, output_tokens(row).spans
    (('Bon', 'jour', '⟨end⟩'), ((0, 3), (3, 7), None))
    """
    return TokenRow(
        pieces=(*row.pieces[1:], END),
        ids=(*row.ids[1:], -1),  # the trace does not contain the id of the end-of-sequence token
        words=(*row.words[1:], None),
        segments=(*row.segments[1:], 0),
        spans=(*row.spans[1:], None),
        unknown=(*row.unknown[1:], ""),
    )


def diagonal(target: int, source: int) -> list[int]:
    """Return, for each target word, the source word at the same relative position: a baseline for alignment.

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
    """A sentence pair with manual links between its words.

    The words are (start, stop) in characters. ``sure`` and ``possible`` have pairs (source word, target word).
    """

    source: str
    target: str
    source_words: tuple[Span, ...]
    target_words: tuple[Span, ...]
    sure: Pairs
    possible: Pairs = frozenset()  # additional possible links
    line: int = 1  # line number in the file, from 1

    def __post_init__(self) -> None:
        """Raise ValueError if there are no links or if a link refers to a missing word."""
        if not self.sure | self.possible:
            raise ValueError(gettext_lazy("A pair without links cannot be scored."))
        for source, target in self.sure | self.possible:
            if not (0 <= source < len(self.source_words) and 0 <= target < len(self.target_words)):
                raise ValueError(
                    gettext_lazy(
                        "Got the link {source}-{target}; source words are 0 to {last_source}, target words "
                        "0 to {last_target}.",
                        source=source,
                        target=target,
                        last_source=len(self.source_words) - 1,
                        last_target=len(self.target_words) - 1,
                    )
                )


def strongest_sources(trace: Trace, pair: HandAligned) -> Places:
    """Return the source word with the largest weight for each target word, in each head.

    The shape is (convention, layer, head, target word), with the conventions in the order of CrossRowConvention. The
    value is NOWHERE if the target word has no token or no weight on source words. Raise Unavailable if the trace has no
    cross-attention.
    """
    if trace.target is None:
        raise Unavailable(gettext_lazy("{name} writes no translation to align.", name=trace.model.name))
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
    """Return the best source word or NOWHERE, (convention, target, source) -> (convention, target)."""
    best: Places = np.where(weights.max(axis=2) > 0, weights.argmax(axis=2), NOWHERE)
    return best


@dataclass(frozen=True, eq=False)
class AlignmentCounts:
    """Numbers of predicted and manual links of words, from which accuracy and alignment error rate are computed.

    A is the set of predicted links, S of sure manual links, and P of sure or possible manual links. All arrays have the
    same shape, such as (layer, head). The counts of several sentences can be added.
    """

    words: Numbers  # target words with manual links
    found: Numbers  # target words with a predicted link that is sure or possible
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
        """Return the share of the manually linked target words whose predicted link is a manual link, 0 to 1.

        The manual link may be sure or possible. The share is 0 if no word has a manual link.
        """
        share: Numbers = self.found / np.maximum(self.words, 1)
        return share

    @property
    def error(self) -> Numbers:
        """Return the alignment error rate 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), 0 (best) to 1; 1 without links."""
        rate: Numbers = 1 - (self.in_sure + self.in_allowed) / np.maximum(self.links + self.sure, 1)
        return rate


def count(pair: HandAligned, links: Places) -> AlignmentCounts:
    """Compare the predicted links of a sentence pair with the manual links, and return the counts.

    ``links`` (..., target word) has the predicted source word of each target word, or NOWHERE. The counts have the
    shape (...), for example a count for each head.

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
    """Return links as a boolean matrix (source word, target word)."""
    table = np.zeros((len(pair.source_words), len(pair.target_words)), dtype=np.bool_)
    for source, target in links:
        table[source, target] = True
    return table


def by_diagonal(pair: HandAligned) -> AlignmentCounts:
    """Count how many links of the baseline ``diagonal`` agree with the manual links; the counts have shape ()."""
    return count(pair, np.array(diagonal(len(pair.target_words), len(pair.source_words)), dtype=np.intp))


def by_chance(pair: HandAligned) -> AlignmentCounts:
    """Return the expected counts if each target word is linked to a random source word; they have shape ()."""
    sources, targets = len(pair.source_words), len(pair.target_words)
    every = count(pair, np.repeat(np.arange(sources, dtype=np.intp)[:, None], targets, axis=1))
    return AlignmentCounts(*(np.asarray(value.mean()) for value in vars(every).values()))


def total(counts: Sequence[AlignmentCounts]) -> AlignmentCounts:
    """Sum the counts of all sentences; raise IndexError if there are none."""
    return sum(counts[1:], counts[0])


def source_coverage(weights: FloatArray) -> FloatArray:
    """Return how well the decoder steps cover the source: the mean of each source token's largest weight.

    ``weights`` is (..., step, source), and the result has the shape (...). The value is 1 if every source token has a
    step that attends to nothing else. With n source tokens it is 1/n in two cases: if attention is uniform, or if every
    step attends to the same single token. A high value therefore needs sharp attention that covers all words.

    >>> one_by_one, one_takes_all = np.eye(2), np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> source_coverage(np.stack([one_by_one, one_takes_all, np.full((2, 2), 0.5)])).tolist()
    [1.0, 0.5, 0.5]
    """
    largest: FloatArray = weights.max(axis=-2).mean(axis=-1)
    return largest


def covering_heads(trace: Trace) -> FloatArray:
    """Return the source coverage of every cross-attention head, shape (layer, head) float32.

    It is the mean of each source token's largest weight (``source_coverage``). Special tokens of the source and the
    step after the last generated token are left out. The values are 0 if no target or source tokens remain. Raise
    Unavailable if the trace has no cross-attention.
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
