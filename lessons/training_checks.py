"""Checks of lessons on training objectives and vectors: losses, dropout, teacher forcing, cosine similarity."""

from __future__ import annotations

from math import exp, log

from attention.vectors import along_levels, cosine
from i18n import gettext_lazy
from inference.tasks.anatomy import Anatomy, Dropout
from inference.tasks.decoding import ForcedTarget, NextTarget
from inference.tasks.hidden_states import HiddenStates, Pooled
from inference.tasks.predictions import (
    HIDDEN,
    KEPT,
    REPLACED,
    CorruptedText,
    Corruption,
    MaskedWords,
    NextSentence,
    Place,
)
from inference.text.encoding import explain_unreadable
from lessons.answer_key import CheckContext, CheckedAnswer, Unanswerable

MOST_HIDDEN = 20  # most masked tokens of a pair; MaskedWords accepts no more


def masked_loss(asked: CheckContext, *, seed: int = 1) -> CheckedAnswer:
    """Compute the mean cross-entropy of masked-word prediction in nats, on randomly chosen tokens of the text.

    ``seed`` chooses the tokens.
    """
    found = _corrupt(asked, seed)
    losses = [one.loss for one in found.chosen]
    hidden, replaced, kept = (sum(one.how == how for one in found.chosen) for how in (HIDDEN, REPLACED, KEPT))
    mean = sum(losses) / len(losses)
    vocabulary = asked.models.inspect(
        Anatomy(model=asked.reading.model, revision=asked.reading.revision or None)
    ).vocabulary
    return CheckedAnswer(
        mean,
        gettext_lazy(
            "Of {tokens} tokens, {hidden} are masked, {replaced} replaced and {kept} kept. The mean loss "
            "is {loss:.2f}; a uniform guess has {uniform:.2f}.",
            tokens=sum(not special for special in found.row.special),
            hidden=hidden,
            replaced=replaced,
            kept=kept,
            loss=mean,
            uniform=log(vocabulary),
        ),
        tolerance=0.1,
    )


def pair_chance(asked: CheckContext, *, swapped: bool = False) -> CheckedAnswer:
    """Compute the probability, in percent, that the second text follows the first (next-sentence prediction).

    If ``swapped`` is True, the texts change places.
    """
    one = asked.reading
    first, second = (one.pair, one.text) if swapped else (one.text, one.pair)
    chance = _pair_chance(asked, first, second)
    return CheckedAnswer(
        100 * chance,
        gettext_lazy("“{second}” after “{first}” gets {chance:.1%}.", first=first, second=second, chance=chance),
        tolerance=5,
        is_percentage=True,
    )


def joint_loss(asked: CheckContext, *, seed: int = 1) -> CheckedAnswer:
    """Compute the sum of BERT's two pre-training losses on a text pair, in nats.

    They are the losses of masked words (chosen by ``seed``) and of next-sentence prediction.
    """
    one, sample = asked.reading, _corrupt(asked, seed)
    places = [(sample.row.segments[each.position], sample.row.spans[each.position]) for each in sample.chosen]
    hidden: tuple[Place, ...] = tuple((segment, *span) for segment, span in places[:MOST_HIDDEN] if span is not None)
    filled = asked.models.predict(
        MaskedWords(model=one.model, text=one.text, pair=one.pair or None, hidden=hidden, cut=one.cut, top=1)
    )
    originals = [blank.original for blank in filled.blanks if blank.original is not None]
    words = -sum(log(each.probability) for each in originals) / len(originals)
    follows = -log(_pair_chance(asked, filled.text, filled.pair or ""))
    return CheckedAnswer(
        words + follows,
        gettext_lazy(
            "With {pieces} masked: {words:.2f} for masked words, {follows:.2f} for the pair, together {both:.2f}.",
            pieces=", ".join(f"“{each.piece}”" for each in originals),
            words=words,
            follows=follows,
            both=words + follows,
        ),
        tolerance=0.1,
    )


def dropout_values(asked: CheckContext, *, share: int) -> CheckedAnswer:
    """Count the different probabilities that a token gets in several passes with dropout.

    The token is the most probable token of the first blank without dropout; ``share`` is the dropout rate in percent.
    """
    one = asked.reading
    found = asked.models.predict(Dropout(model=one.model, text=one.text, cut=one.cut, share=share))
    chances = found.probabilities
    values = len(set(chances.tolist()))
    same = sum(piece == found.undropped.piece for piece in found.likeliest)
    return CheckedAnswer(
        float(values),
        gettext_lazy(
            "In {passes} passes with {share}% dropout, “{piece}” gets {least:.1%} to {most:.1%} and "
            "ranks first in {same}.",
            passes=len(chances),
            share=share,
            piece=found.undropped.piece,
            least=float(chances.min()),
            most=float(chances.max()),
            same=same,
        ),
        tolerance=0,
    )


def forced_chance(asked: CheckContext, *, word: str) -> CheckedAnswer:
    """Compute the probability of a token of a given translation under teacher forcing, in percent.

    The token is ``word``. The explanation also gives the probability from a step that reads only the tokens before
    ``word``.
    """
    one, row = asked.reading, asked.trace().target
    pieces = () if row is None else row.pieces[1:]
    written = () if row is None else row.ids[1:]
    at = next((at for at, piece in enumerate(pieces) if piece.strip("␣▁ ").casefold() == word.casefold()), None)
    if at is None:
        raise Unanswerable(gettext_lazy("The translation has no token “{word}”.", word=word))
    scored = asked.models.predict(ForcedTarget(model=one.model, text=one.text, written=written))
    step = NextTarget(model=one.model, text=one.text, written=written[:at], also=(written[at],), top=1)
    alone = next(each.probability for each in asked.models.predict(step).candidates if each.token == written[at])
    chance = exp(scored.logs[0, at])
    return CheckedAnswer(
        100 * chance,
        gettext_lazy(
            "“{word}” gets {chance:.1%}, step by step {alone:.1%}; the model's choice is “{own}”.",
            word=word,
            chance=chance,
            alone=alone,
            own=scored.pieces[0][at],
        ),
        tolerance=1,
        is_percentage=True,
    )


def word_cosine(asked: CheckContext, *, word: str, other: str, level: int = -1) -> CheckedAnswer:
    """Compute the cosine similarity of a word's vectors in this text and in the text ``other``.

    ``level`` is the number of layers that the vectors have passed; 0 means the input of the first layer, -1 the output
    of the last.
    """
    model = asked.reading.model
    states = [asked.models.inspect(HiddenStates(model=model, text=text)) for text in (asked.reading.text, other)]
    if any(word not in state.row.pieces for state in states):
        raise Unanswerable(gettext_lazy("The text has no “{word}”.", word=word))
    levels = along_levels(*(state.levels[:, state.row.pieces.index(word)] for state in states))
    if not -1 <= level < len(levels):
        raise Unanswerable(
            gettext_lazy("There is no level {level}; levels are 0 to {last}.", level=level, last=len(levels) - 1)
        )
    return CheckedAnswer(
        float(levels[level]),
        gettext_lazy(
            "The cosine of the two “{word}” is {first:.2f} before the first layer, {last:.2f} after the last.",
            word=word,
            first=float(levels[0]),
            last=float(levels[-1]),
        ),
        tolerance=0.05,
    )


def text_cosine(asked: CheckContext, *, other: str, pooling: str = "first") -> CheckedAnswer:
    """Compute the cosine similarity of this text's vector and that of the text ``other``.

    ``pooling`` is "first" for the vector of [CLS], or "mean" for the mean over tokens.
    """
    if pooling not in ("first", "mean"):
        raise Unanswerable(gettext_lazy("“{name}” is not one of {known}.", name=pooling, known="first, mean"))
    found = {}
    for kind in ("first", "mean"):
        texts = (asked.reading.text, other)
        vectors = asked.models.inspect(Pooled(model=asked.reading.model, texts=texts, pooling=kind)).vectors
        found[kind] = float(cosine(vectors, vectors)[0, 1])
    return CheckedAnswer(
        found[pooling],
        gettext_lazy("The cosine of the [CLS] vectors is {first:.2f}, of the mean vectors {mean:.2f}.", **found),
        tolerance=0.05,
    )


def _corrupt(asked: CheckContext, seed: int) -> CorruptedText:
    """Return a sample of masked tokens; raise Unanswerable if the model knows too little of the text."""
    one = asked.reading
    found = asked.models.predict(
        Corruption(model=one.model, text=one.text, pair=one.pair or None, cut=one.cut, seed=seed)
    )
    if reason := explain_unreadable(found.row, one.model):
        raise Unanswerable(reason)
    return found


def _pair_chance(asked: CheckContext, first: str, second: str) -> float:
    one = asked.reading
    return asked.models.predict(NextSentence(model=one.model, text=first, pair=second, cut=one.cut)).probability
