"""What is reckoned by hand: no model is asked."""

from __future__ import annotations

from math import exp

from i18n import gettext_lazy
from lessons.answer_key import CheckContext, CheckedAnswer, Unanswerable


def dot(_asked: CheckContext, *, a: tuple[float, ...], b: tuple[float, ...]) -> CheckedAnswer:
    """The dot product of two vectors.

    >>> dot(None, a=(1, 2), b=(3, 4)).said
    '1 × 3 + 2 × 4 = 11'
    """
    _check_lengths(a, b)
    found = sum(one * other for one, other in zip(a, b, strict=True))
    steps = " + ".join(f"{one:g} × {other:g}" for one, other in zip(a, b, strict=True))
    return CheckedAnswer(float(found), gettext_lazy("{steps} = {result:g}", steps=steps, result=found), tolerance=0.01)


def softmax(_asked: CheckContext, *, scores: tuple[float, ...], at: int) -> CheckedAnswer:
    """What a softmax makes of one of several scores; ``at`` counts from 0."""
    if not 0 <= at < len(scores):
        raise Unanswerable(gettext_lazy("There is no score number {at} among {many}.", at=at, many=len(scores)))
    powers = [exp(score - max(scores)) for score in scores]
    found = powers[at] / sum(powers)
    return CheckedAnswer(
        found,
        gettext_lazy(
            "e to {score:g}, divided by the sum of e to each of {scores}, is {share:.3f}.",
            score=scores[at],
            scores=", ".join(f"{score:g}" for score in scores),
            share=found,
        ),
        tolerance=0.01,
    )


def mix(_asked: CheckContext, *, weights: tuple[float, ...], values: tuple[float, ...]) -> CheckedAnswer:
    """The sum of values, each by its weight.

    >>> mix(None, weights=(0.5, 0.5), values=(2, 4)).answer
    3.0
    """
    return dot(_asked, a=weights, b=values)


def _check_lengths(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    if len(a) != len(b):
        raise Unanswerable(
            gettext_lazy("The two vectors have {one} and {other} numbers; they need as many.", one=len(a), other=len(b))
        )
