"""What is reckoned by hand: no model is asked."""

from __future__ import annotations

from math import exp

from lessons.truth import Asked, Truth, Unanswerable
from wording import sentence


def dot(_asked: Asked, *, a: tuple[float, ...], b: tuple[float, ...]) -> Truth:
    """The dot product of two vectors.

    >>> dot(None, a=(1, 2), b=(3, 4)).said
    '1 × 3 + 2 × 4 = 11'
    """
    _same(a, b)
    found = sum(one * other for one, other in zip(a, b, strict=True))
    steps = " + ".join(f"{one:g} × {other:g}" for one, other in zip(a, b, strict=True))
    return Truth(float(found), sentence("{steps} = {result:g}", steps=steps, result=found), tolerance=0.01)


def softmax(_asked: Asked, *, scores: tuple[float, ...], at: int) -> Truth:
    """What a softmax makes of one of several scores; ``at`` counts from 0."""
    if not 0 <= at < len(scores):
        raise Unanswerable(sentence("There is no score number {at} among {many}.", at=at, many=len(scores)))
    powers = [exp(score - max(scores)) for score in scores]
    found = powers[at] / sum(powers)
    return Truth(
        found,
        sentence(
            "e to {score:g}, divided by the sum of e to each of {scores}, is {share:.3f}.",
            score=scores[at],
            scores=", ".join(f"{score:g}" for score in scores),
            share=found,
        ),
        tolerance=0.01,
    )


def mix(_asked: Asked, *, weights: tuple[float, ...], values: tuple[float, ...]) -> Truth:
    """The sum of values, each by its weight.

    >>> mix(None, weights=(0.5, 0.5), values=(2, 4)).answer
    3.0
    """
    return dot(_asked, a=weights, b=values)


def _same(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    if len(a) != len(b):
        raise Unanswerable(
            sentence("The two vectors have {one} and {other} numbers; they need as many.", one=len(a), other=len(b))
        )
