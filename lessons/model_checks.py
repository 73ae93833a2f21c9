"""Checks of lessons on the outputs of a model: tokens, positions, masked words and translation."""

from __future__ import annotations

from math import exp

import numpy as np

from attention.alignment import Alignment, alignment
from attention.mask import FloatArray
from attention.positions import sinusoidal, swap_words, words
from attention.record import Unavailable
from attention.tokens import TokenRow
from attention.view import View
from i18n import gettext_lazy, ngettext_lazy
from inference.tasks.positions import OrderRequest, Positions, PositionsRequest
from inference.tasks.predictions import Filled, MaskedWords
from lessons.answer_key import CheckContext, CheckedAnswer, Unanswerable, check_head, place

ROUNDED = 5  # decimals of a change of weights; float32 is exact to about 7


def tokens(asked: CheckContext) -> CheckedAnswer:
    """Count the tokens of the input, special tokens included."""
    many = len(asked.trace().source)
    return CheckedAnswer(float(many), gettext_lazy("Tokens: {n}.", n=many), (), 0)


def pieces(asked: CheckContext, *, word: str) -> CheckedAnswer:
    """Count the tokens of a word."""
    trace = asked.trace()
    cell = View(trace, words=True).queries
    start, stop = cell[place(cell, word)].pieces
    shown = " ".join(trace.tokens[start:stop])
    many = stop - start
    return CheckedAnswer(
        float(many),
        ngettext_lazy(
            "“{word}” is {n} piece.", "“{word}” is {n} pieces: {pieces}.", many, word=word, n=many, pieces=shown
        ),
        (),
        0,
    )


def change_by_order(asked: CheckContext, *, first: str, second: str, positions: bool = True) -> CheckedAnswer:
    """Compute the largest change of any attention weight if two words of the text are swapped.

    The maps of the changed text are permuted back, so that a head that depends only on the words has no change. If
    ``positions`` is False, the model runs without positional encodings.
    """
    row = asked.trace().source
    try:
        order = swap_words(row, _word(row, first), _word(row, second))
    except ValueError as error:
        raise Unanswerable(*error.args) from error
    one = asked.reading
    test = asked.models.inspect(
        OrderRequest(model=one.model, revision=one.revision or None, text=one.text, order=order)
    )
    found = float((test.having if positions else test.lacking).differences.max())
    with_them = gettext_lazy(
        "With positions, swapping “{first}” and “{second}” changes weights by up to {away:.3f}.",
        first=first,
        second=second,
        away=found,
    )
    without = gettext_lazy(
        "Without positions, swapping “{first}” and “{second}” changes weights by at most {away:.2g}.",
        first=first,
        second=second,
        away=found,
    )
    # Without its rounding error, a weight that only moves changes by 0.
    return CheckedAnswer(round(found, ROUNDED), with_them if positions else without, tolerance=0.01)


def positions_are(asked: CheckContext) -> CheckedAnswer:
    """Return the kind of the model's position vectors: "learned", "formula" (sines, cosines) or "none"."""
    tables = _positions(asked).tables
    if not tables:
        return CheckedAnswer("none", gettext_lazy("The model adds no vectors of positions."))
    rows, columns = tables[0].vectors.shape
    shape = {"rows": rows, "columns": columns}
    if tables[0].layout:
        return CheckedAnswer(
            "formula", gettext_lazy("Its table of {rows} × {columns} numbers has sines and cosines.", **shape)
        )
    return CheckedAnswer(
        "learned",
        gettext_lazy(
            "Its table of {rows} × {columns} numbers was learned; sines and cosines differ by up to {away:.2f}.",
            away=float(np.abs(tables[0].vectors - sinusoidal(rows, columns)).max()),
            **shape,
        ),
    )


def positions(asked: CheckContext) -> CheckedAnswer:
    """Count the positions for which the model has a position vector; 0 if it has none."""
    tables = _positions(asked).tables
    many = tables[0].vectors.shape[0] if tables else 0
    return CheckedAnswer(
        float(many), gettext_lazy("Its table has {rows} rows, one per position.", rows=many), tolerance=0
    )


def guess(asked: CheckContext, *, within: int = 1) -> CheckedAnswer:
    """Find the most probable token for the first [MASK]; the ``within`` most probable tokens are correct."""
    first, *others = _fill_blanks(asked).blanks[0].guesses[: max(1, within)]
    return CheckedAnswer(
        first.piece,
        gettext_lazy("“{word}” is likeliest there, with {chance:.1%}.", word=first.piece, chance=first.probability),
        tuple(one.piece for one in others),
    )


def guess_rank(asked: CheckContext, *, word: str) -> CheckedAnswer:
    """Compute the rank of a single-token word among the predictions for the first [MASK]; 1 is the best."""
    rank, chance = _fit(asked, word)
    return CheckedAnswer(
        float(rank),
        gettext_lazy("“{word}” gets {chance:.1%} and has rank {rank}.", word=word, rank=rank, chance=chance),
        tolerance=0,
    )


def guess_chance(asked: CheckContext, *, word: str) -> CheckedAnswer:
    """Compute the probability of a single-token word for the first [MASK], in percent."""
    rank, chance = _fit(asked, word)
    return CheckedAnswer(
        100 * chance,
        gettext_lazy("“{word}” gets {chance:.1%} and has rank {rank}.", word=word, rank=rank, chance=chance),
        tolerance=1,
        is_percentage=True,
    )


def likelier(asked: CheckContext, *, word: str, over: str) -> CheckedAnswer:
    """Find which of two single-token words is more probable for the first [MASK]."""
    (rank, one), (other_rank, other) = _fit(asked, word), _fit(asked, over)
    return CheckedAnswer(
        word if rank < other_rank else over,
        gettext_lazy(
            "There, “{word}” gets {one:.1%} and “{over}” {other:.1%}.", word=word, one=one, over=over, other=other
        ),
    )


def source_of(asked: CheckContext, *, word: str, layer: int, head: int = -1) -> CheckedAnswer:
    """Find the source word that receives the largest cross-attention weight from a target word.

    The weights are those of the decoding step that generates the target word. If ``head`` is -1, they are averaged over
    the heads of the layer. The answer is the source word's index in the view.
    """
    weights, found = cross_attention(asked, layer, head)
    row = weights[place(found.target, word)]
    at = max((at for at, cell in enumerate(found.source) if not cell.special), key=lambda at: float(row[at]))
    source = (
        gettext_lazy("layer {layer} (all heads)", layer=layer)
        if head < 0
        else gettext_lazy("head {layer}-{head}", layer=layer, head=head)
    )
    return CheckedAnswer(
        at,
        gettext_lazy(
            "Before writing “{written}”, {head} attends most to “{word}” ({weight:.0%}).",
            written=word,
            head=source,
            word=found.source[at].label,
            weight=float(row[at]),
        ),
    )


def across(asked: CheckContext, *, word: str, to: str, layer: int, head: int = -1) -> CheckedAnswer:
    """Compute the cross-attention weight from a target word to a source word.

    The weight is that of the decoding step that generates the target word. If ``head`` is -1, it is averaged over the
    heads of the layer.
    """
    weights, found = cross_attention(asked, layer, head)
    given = float(weights[place(found.target, word), place(found.source, to)])
    return CheckedAnswer(
        given,
        gettext_lazy("The step that writes “{word}” gives “{to}” {weight:.1%}.", word=word, to=to, weight=given),
        tolerance=0.01,
        is_share=True,
    )


def cross_attention(asked: CheckContext, layer: int, head: int) -> tuple[FloatArray, Alignment]:
    """Return the cross-attention of a head, shape (target, source), and the alignment that has its words.

    Each row is that of the decoding step that generates the target word. If ``head`` is -1, the heads of the layer are
    averaged. Raise Unanswerable if the model has no cross-attention.
    """
    trace, one = asked.trace(), asked.reading
    if "cross" in trace.parts:
        check_head(View(trace, "cross"), layer, max(head, 0))
    try:
        heads = range(trace.records("cross")[layer].heads) if head < 0 else [head]
        found = [alignment(trace, layer, at, one.words, special=one.special) for at in heads]
    except Unavailable as error:
        raise Unanswerable(*error.args) from error
    return np.mean([each.weights for each in found], axis=0), found[0]


def translation(asked: CheckContext) -> CheckedAnswer:
    """Return the model's translation of the text, or the target text that the input gives."""
    written = asked.trace().target_text or ""
    return CheckedAnswer(written, gettext_lazy("It writes “{text}”.", text=written))


def _fill_blanks(asked: CheckContext, *tried: str) -> Filled:
    return asked.models.predict(MaskedWords(**asked.reading.request_fields, words=tried))


def _fit(asked: CheckContext, word: str) -> tuple[int, float]:
    """Return the rank and the probability of a word for the first mask."""
    (candidate,) = _fill_blanks(asked, word).candidates
    if candidate.rank is None or candidate.log_probability is None:
        raise Unanswerable(gettext_lazy("“{word}” is not one token of this vocabulary, so it has no rank.", word=word))
    return candidate.rank, exp(candidate.log_probability)


def _positions(asked: CheckContext) -> Positions:
    one = asked.reading
    return asked.models.inspect(PositionsRequest(model=one.model, revision=one.revision or None))


def _word(row: TokenRow, word: str) -> int:
    """Return the index of a word of the text; raise Unanswerable if it is missing."""
    texts = ["".join(row.pieces[start:stop]).casefold() for start, stop in words(row)]
    if word.casefold() not in texts:
        raise Unanswerable(gettext_lazy("The text has no “{word}”.", word=word))
    return texts.index(word.casefold())
