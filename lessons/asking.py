"""What can be asked of what models make of a text: its pieces, its order, a blank, a translation."""

from __future__ import annotations

from math import exp

import numpy as np

from attention.alignment import Alignment, alignment
from attention.mask import Array
from attention.order import swapped, words
from attention.record import Unavailable
from attention.tokens import TokenRow
from attention.view import View
from inference.questions.masked import Filled, MaskedWords
from inference.questions.order import OrderRequest
from inference.questions.positions import Positions, PositionsRequest
from lessons.truth import Asked, Truth, Unanswerable, inside, place
from wording import sentence, sentences


def tokens(asked: Asked) -> Truth:
    """How many tokens the model reads, special ones counted."""
    many = len(asked.trace().source)
    return Truth(
        float(many), sentences("The model reads {n} token.", "The model reads {n} tokens.", many, n=many), (), 0
    )


def pieces(asked: Asked, *, word: str) -> Truth:
    """How many pieces a word of the text is."""
    trace = asked.trace()
    cell = View(trace, words=True).queries
    start, stop = cell[place(cell, word)].pieces
    shown = " ".join(trace.tokens[start:stop])
    many = stop - start
    return Truth(
        float(many),
        sentences("“{word}” is {n} piece.", "“{word}” is {n} pieces: {pieces}.", many, word=word, n=many, pieces=shown),
        (),
        0,
    )


def change_by_order(asked: Asked, *, first: str, second: str, positions: bool = True) -> Truth:
    """How far maps move, at most, beyond moving along with two words that change places; ``positions`` taken away or
    not.
    """
    row = asked.trace().source
    try:
        order = swapped(row, _word(row, first), _word(row, second))
    except ValueError as error:
        raise Unanswerable(*error.args) from error
    one = asked.reading
    test = asked.models.inspect(
        OrderRequest(model=one.model, revision=one.revision or None, text=one.text, order=order)
    )
    found = float((test.having if positions else test.lacking).differences.max())
    with_them = sentence(
        "“{first}” and “{second}” change places: with positions, a weight differs by up to {away:.3f}.",
        first=first,
        second=second,
        away=found,
    )
    without = sentence(
        "“{first}” and “{second}” change places: without positions, no weight differs by more than {away:.3f}.",
        first=first,
        second=second,
        away=found,
    )
    return Truth(found, with_them if positions else without, tolerance=0.01)


def positions_are(asked: Asked) -> Truth:
    """Where the model's vectors of positions come from: "learned", "formula", or "none" where it adds none."""
    tables = _positions(asked).tables
    if not tables:
        return Truth("none", sentence("The model adds no vectors of positions."))
    shape = {"rows": tables[0].vectors.shape[0], "columns": tables[0].vectors.shape[1]}
    if tables[0].layout:
        return Truth(
            "formula", sentence("Its table of {rows} × {columns} numbers is made of sines and cosines.", **shape)
        )
    return Truth(
        "learned", sentence("Its table of {rows} × {columns} numbers was learned like all other weights.", **shape)
    )


def positions(asked: Asked) -> Truth:
    """How many places the model has a vector for."""
    tables = _positions(asked).tables
    many = tables[0].vectors.shape[0] if tables else 0
    return Truth(float(many), sentence("Its table has {rows} rows, one for each place.", rows=many), tolerance=0)


def guess(asked: Asked, *, within: int = 1) -> Truth:
    """The piece that is likeliest in the text's first blank; the ``within`` likeliest are right."""
    first, *others = _filled(asked).blanks[0].guesses[: max(1, within)]
    return Truth(
        first.piece,
        sentence("“{word}” is likeliest there, with {chance:.1%}.", word=first.piece, chance=first.probability),
        tuple(one.piece for one in others),
    )


def guess_rank(asked: Asked, *, word: str) -> Truth:
    """The place of a word of one piece among all that could stand in the text's first blank, from 1."""
    rank, chance = _fit(asked, word)
    return Truth(
        float(rank),
        sentence("“{word}” comes in place {rank}, with {chance:.1%}.", word=word, rank=rank, chance=chance),
        tolerance=0,
    )


def guess_chance(asked: Asked, *, word: str) -> Truth:
    """The percentage that a word of one piece gets in the text's first blank."""
    rank, chance = _fit(asked, word)
    return Truth(
        100 * chance,
        sentence("“{word}” gets {chance:.1%} and comes in place {rank}.", word=word, rank=rank, chance=chance),
        tolerance=1,
    )


def likelier(asked: Asked, *, word: str, over: str) -> Truth:
    """Which of two words of one piece fits the text's first blank better: the answer is that word."""
    (rank, one), (other_rank, other) = _fit(asked, word), _fit(asked, over)
    return Truth(
        word if rank < other_rank else over,
        sentence("“{word}” gets {one:.1%} there, “{over}” {other:.1%}.", word=word, one=one, over=over, other=other),
    )


def source_of(asked: Asked, *, word: str, layer: int, head: int = -1) -> Truth:
    """Which source word a target word is written from, by one head of the cross-attention, or by all of a layer (-1).

    The row is read at the step that writes the word. The answer is the source word's place in the view.
    """
    weights, found = aligned(asked, layer, head)
    row = weights[place(found.target, word)]
    at = max((at for at, cell in enumerate(found.source) if not cell.special), key=lambda at: float(row[at]))
    values = {"word": word, "source": found.source[at].label, "weight": float(row[at]), "layer": layer, "head": head}
    of_layer = sentence(
        "Before it writes “{word}”, layer {layer}, all heads together, looks at “{source}” most: {weight:.2f}.",
        **values,
    )
    of_head = sentence(
        "Before it writes “{word}”, layer {layer} · head {head} looks at “{source}” most: {weight:.2f}.", **values
    )
    return Truth(at, of_layer if head < 0 else of_head)


def across(asked: Asked, *, word: str, to: str, layer: int, head: int = -1) -> Truth:
    """How much a target word's step gives to a source word, in one cross head or on average over a layer's (-1)."""
    weights, found = aligned(asked, layer, head)
    given = float(weights[place(found.target, word), place(found.source, to)])
    return Truth(
        given,
        sentence("The step that writes “{word}” gives “{to}” {weight:.3f}.", word=word, to=to, weight=given),
        tolerance=0.01,
    )


def aligned(asked: Asked, layer: int, head: int) -> tuple[Array, Alignment]:
    """Cross-attention, (target, source), of one head or of all heads of a layer (-1), and what it is between.

    Each row is that of the step which writes the target word.
    """
    trace, one = asked.trace(), asked.reading
    if "cross" in trace.parts:
        inside(View(trace, "cross"), layer, max(head, 0))
    try:
        heads = range(trace.records("cross")[layer].heads) if head < 0 else [head]
        found = [alignment(trace, layer, at, one.words, special=one.special) for at in heads]
    except Unavailable as error:
        raise Unanswerable(*error.args) from error
    return np.mean([each.weights for each in found], axis=0), found[0]


def translation(asked: Asked) -> Truth:
    """What a translator writes, or was given to write."""
    written = asked.trace().target_text or ""
    return Truth(written, sentence("It writes “{text}”.", text=written))


def _filled(asked: Asked, *tried: str) -> Filled:
    one = asked.reading
    return asked.models.predict(
        MaskedWords(
            model=one.model,
            revision=one.revision or None,
            text=one.text,
            pair=one.pair or None,
            cut=one.cut,
            words=tried,
        )
    )


def _fit(asked: Asked, word: str) -> tuple[int, float]:
    """Rank and probability of a word in the first blank."""
    (candidate,) = _filled(asked, word).candidates
    if candidate.rank is None or candidate.log_probability is None:
        raise Unanswerable(
            sentence("“{word}” is not one piece of this model's vocabulary, so it has no rank.", word=word)
        )
    return candidate.rank, exp(candidate.log_probability)


def _positions(asked: Asked) -> Positions:
    one = asked.reading
    return asked.models.inspect(PositionsRequest(model=one.model, revision=one.revision or None))


def _word(row: TokenRow, word: str) -> int:
    """The number of a word among the words of the text."""
    texts = ["".join(row.pieces[start:stop]).casefold() for start, stop in words(row)]
    if word.casefold() not in texts:
        raise Unanswerable(sentence("The text that is read has no “{word}” among its words and pieces.", word=word))
    return texts.index(word.casefold())
