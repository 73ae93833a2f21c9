"""One weight worked out in numbers, as a teacher would write it: the largest products, the rest in one number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from attention.mask import FloatArray
from attention.walkthrough import WeightSteps
from i18n import gettext_lazy, ngettext_lazy, translate

SHOWN = 3  # products written out
BIAS, MASKED = gettext_lazy("bias"), gettext_lazy("(masked)")


@dataclass(frozen=True)
class Products:
    """A sum of products with its largest terms; ``rest`` is the sum of the ``left`` others, ``total`` of all."""

    channels: tuple[int, ...]
    terms: tuple[tuple[float, float], ...]
    left: int
    rest: float
    total: float


def products(one: FloatArray, other: FloatArray, shown: int = SHOWN) -> Products:
    """The sum over channels of two vectors' products, (channel,) each.

    >>> products(np.array([1.0, 2.0, 0.5]), np.array([3.0, -4.0, 0.2]), shown=2)
    Products(channels=(1, 0), terms=((2.0, -4.0), (1.0, 3.0)), left=1, rest=0.1, total=-4.9)
    """
    each = np.asarray(one, np.float64) * np.asarray(other, np.float64)
    order = np.argsort(-np.abs(each), kind="stable")
    top = tuple(int(at) for at in order[:shown])
    terms = tuple((float(one[at]), float(other[at])) for at in top)
    return Products(top, terms, len(each) - len(top), float(each[order[shown:]].sum()), float(each.sum()))


def lines(query: FloatArray, key: FloatArray, weighing: WeightSteps, at: int) -> tuple[str, ...]:
    """The way of one pair, as rows of LaTeX's aligned: dot product, scale, soft cap, bias, softmax.

    ``query`` and ``key`` are (channel,) as they enter the dot product, ``weighing`` has one row, and ``at`` is the key.
    """
    dot, score, name = float(weighing.dots[0, at]), float(weighing.scaled[0, at]), "s"
    found = [*_sum(r"q \cdot k", products(query, key)), f"&= {number(dot)}"]
    found.append(rf"s &= {_times(len(query), weighing.scale, dot)} = {number(score)}")
    if weighing.capped is not None:
        before, score, name = score, float(weighing.capped[0, at]), name + "'"
        found.append(rf"{name} &= \mathrm{{cap}}({number(before)}) = {number(score)}")
    if weighing.bias is not None and weighing.bias.any():
        bias, before, name = float(weighing.bias[0, at]), score, name + "'"
        score = before + bias
        found.append(
            rf"{name} &= {number(before)} + \underbrace{{{_format_signed(bias)}}}_{{\text{{{translate(BIAS)}}}}}"
            rf" = {number(score)}"
        )
    if not weighing.allowed[0, at]:
        return (*found, rf"a &= e^{{-\infty}} = 0 \quad \text{{{translate(MASKED)}}}")
    total = rf"\textstyle\sum_j e^{{{name}_j}}"
    total = total if weighing.sink is None else rf"(e^t + {total})"
    return (*found, rf"a &= e^{{{name}}} / {total}", _softmax(weighing, score, at))


def format_projection(vector: FloatArray, weights: FloatArray, bias: float | None, name: str) -> tuple[str, ...]:
    """One channel of x · W + b, from (input,) each, as rows of LaTeX's aligned; ``name`` is LaTeX for what it is."""
    found = products(vector, weights)
    added = "" if bias is None else rf"&\quad + \underbrace{{{_format_signed(bias)}}}_{{b}} "
    return (*_sum(name, found), f"{added or '&'}= {number(found.total + (bias or 0.0))}")


def align_rows(rows: Iterable[str]) -> str:
    """Rows of LaTeX under each other, lined up where each has its &.

    >>> align_rows(["a &= 1", "b &= 2"])
    '\\\\begin{aligned}a &= 1 \\\\\\\\ b &= 2\\\\end{aligned}'
    """
    return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def number(value: float) -> str:
    """Two decimals, as LaTeX.

    >>> number(-0.001), number(2.345), number(float("-inf"))
    ('0.00', '2.35', '-\\\\infty')
    """
    if np.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    return f"{round(value, 2) + 0.0:.2f}"


def _format_signed(value: float) -> str:
    """A number that may stand after a sign."""
    return f"({number(value)})" if number(value).startswith("-") else number(value)


def _sum(name: str, found: Products) -> tuple[str, ...]:
    """Two rows, so that it fits on a phone."""
    terms = [rf"{_format_signed(one)} \cdot {_format_signed(other)}" for one, other in found.terms]
    rest = [rf"\underbrace{{{_format_signed(found.rest)}}}_{{\text{{{_smaller(found.left)}}}}}"] if found.left else []
    first, second = " + ".join(terms[:2]), " + ".join([*terms[2:], *rest])
    return (f"{name} &= {first}", *([rf"&\quad + {second}"] if second else []))


def _smaller(left: int) -> str:
    return translate(ngettext_lazy("{n} smaller", "{n} smaller", left, n=left))


def _times(channels: int, scale: float, dot: float) -> str:
    if np.isclose(scale, channels**-0.5, rtol=1e-6):
        return rf"{number(dot)} \,/\, \sqrt{{{channels}}}"
    return rf"{number(dot)} \cdot {scale:.4g}"


def _softmax(weighing: WeightSteps, score: float, at: int) -> str:
    """exp(score - log-sum-exp): the quotient of the softmax without its huge numbers."""
    finite = weighing.scores[0][weighing.allowed[0]].astype(np.float64)
    entries = finite if weighing.sink is None else np.append(finite, weighing.sink)
    top = float(entries.max())
    total = top + float(np.log(np.exp(entries - top).sum()))
    return rf"&= e^{{{number(score)} - {_format_signed(total)}}} = {number(float(weighing.weights[0, at]))}"
