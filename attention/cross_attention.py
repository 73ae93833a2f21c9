"""Which source word is each word of a translation made from? Cross-attention as a matrix of target and source.

A decoder's query at place i belongs to the step that writes token i + 1: it has read the tokens up to i and looks at
the source to choose the next one. So a target token's row can be taken at the step that writes it, or one step later,
where the token itself is read. Which of the two shows what a token was made from is a question for measurement: in
small models it was the first, in larger ones some layers answer better at the second (arXiv:2004.14837).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from attention.display_tokens import DisplayToken
from attention.mask import FloatArray
from attention.record import Unavailable
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import View
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
