"""Correct answers to the questions of a lesson, which are computed from the model or by arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from typing import Any

from attention.head_names import describe_missing_head, normalize_word
from attention.trace import Trace
from attention.view import DisplayToken, View
from i18n import LazyMessage, gettext_lazy
from inference import Backend, TraceRequest
from lessons.schema import Answer

# Fields of CheckInput that a call may override
READING = ("model", "text", "pair", "target", "part", "words", "special")


class Unanswerable(ValueError):
    """Raised if a check has no answer for a text or model; the message gives the reason."""


@dataclass(frozen=True)
class CheckInput:
    """The input of a check: a model, its texts, and the view options that affect the numbers."""

    model: str
    text: str
    pair: str = ""
    target: str = ""
    revision: str = ""
    part: str = ""
    words: bool = False
    special: bool = True
    cut: int | None = None  # number of tokens to read; None reads all

    @property
    def request_fields(self) -> dict[str, Any]:
        """Return the fields of a model request: model, revision, text, pair and cut."""
        return {
            "model": self.model,
            "revision": self.revision or None,
            "text": self.text,
            "pair": self.pair or None,
            "cut": self.cut,
        }


EXACT = 0.005  # Tolerance of a number whose lesson and check state none.


@dataclass(frozen=True)
class CheckedAnswer:
    """The correct answer to a question, with a sentence (``said``) that gives the numbers behind it.

    Answers in ``others`` are also correct. A number is correct if it deviates by at most ``tolerance``.
    """

    answer: Answer
    said: LazyMessage
    others: tuple[Answer, ...] = ()  # other correct answers
    tolerance: float = EXACT  # tolerance of a numeric answer
    is_share: bool = False  # a student may also type the answer, 0 to 1, as a percentage without its sign
    is_percentage: bool = False  # the answer is in per cent

    def accepts(self, given: Answer) -> bool:
        """Return True if a student's answer is correct; words are compared by ``normalize_word``.

        >>> (
        ...     CheckedAnswer("dog", gettext_lazy("")).accepts(" The dog."),
        ...     CheckedAnswer(0.68, gettext_lazy(""), tolerance=0.01).accepts(0.672),
        ... )
        (True, True)
        """
        if isinstance(self.answer, float) and isinstance(given, int | float):
            return abs(given - self.answer) <= self.tolerance + 1e-9
        return any(_normalize_answer(given) == _normalize_answer(right) for right in (self.answer, *self.others))

    def share(self, given: Answer) -> float | None:
        """Return a student's percentage as a share if the share is correct; None otherwise.

        A student may type 85 for 0.85, but only if the correct answer is a share: 7 for 0.33 bits would be wrong.

        >>> weight, bits = (CheckedAnswer(0.85, gettext_lazy(""), is_share=is_share) for is_share in (True, False))
        >>> weight.share(85), bits.share(85)
        (0.85, None)
        """
        if not self.is_share or not isinstance(given, int | float) or not 1 < given <= 100:
            return None
        return given / 100 if self.accepts(given / 100) else None

    @property
    def is_count(self) -> bool:
        """Return True if the answer is a count: a whole number whose tolerance is exact or whole, too.

        >>> [CheckedAnswer(36.0, gettext_lazy(""), tolerance=tolerance).is_count for tolerance in (0, 5, 0.5)]
        [True, True, False]
        """
        if not isinstance(self.answer, int | float) or self.is_share or self.is_percentage:
            return False
        return float(self.answer).is_integer() and (self.tolerance <= EXACT or float(self.tolerance).is_integer())

    def accepts_percentage(self, given: float) -> bool:
        """Return True if ``given``, a percentage that a student typed with its sign, is correct.

        100% is 1. It is also 100 if the answer is in per cent, or larger than 1 and no count, so that it may be.

        >>> whole, chance = (CheckedAnswer(1.0, gettext_lazy(""), is_percentage=is_one) for is_one in (False, True))
        >>> [(one.accepts_percentage(100), one.accepts_percentage(1)) for one in (whole, chance)]
        [(True, False), (False, True)]
        """
        larger = isinstance(self.answer, float) and self.answer > 1
        may_be_percentage = self.is_percentage or (larger and not self.is_count)
        return (not self.is_percentage and self.accepts(given / 100)) or (may_be_percentage and self.accepts(given))


def _normalize_answer(answer: Answer) -> Answer:
    return normalize_word(answer) if isinstance(answer, str) else answer


@dataclass(frozen=True)
class CheckContext:
    """The backend of models, and the input for which a check computes the correct answer."""

    models: Backend
    reading: CheckInput

    def reads(self, given: dict[str, Any]) -> CheckContext:
        """Return a copy of this context with fields of the input, such as the text, replaced by ``given``.

        Other keys of ``given`` are ignored.
        """
        changes = {name: given[name] for name in READING if name in given}
        return replace(self, reading=replace(self.reading, **changes)) if changes else self

    def trace(self) -> Trace:
        """Compute the trace of the input's text."""
        one = self.reading
        return self.models.trace(TraceRequest(**one.request_fields, target=one.target or None))

    def view(self) -> View:
        """Return the trace with the input's view options applied; raise Unanswerable if its stack is missing."""
        one, trace = self.reading, self.trace()
        if one.part and one.part not in trace.parts:
            raise Unanswerable(
                gettext_lazy("There is no part “{part}”, only {parts}.", part=one.part, parts=", ".join(trace.parts))
            )
        return View(trace, one.part or None, one.words, one.special)


def place(cells: tuple[DisplayToken, ...], word: str) -> int:
    """Return the index of a word among the cells of a view, ignoring case.

    A cell is a token, or a word if the view shows words. "bank#2" is the second occurrence of "bank". Raise
    Unanswerable if the word is missing.

    >>> cells = tuple(DisplayToken(text, False, 0, 0, (0, 1)) for text in ("The", "bank", "the"))
    >>> place(cells, "the#2"), place(cells, "bank")
    (2, 1)
    """
    name, mark, number = word.rpartition("#")
    name, nth = (name, int(number)) if mark and name and number.isdecimal() and len(number) < 5 else (word, 1)
    found = [at for at, cell in enumerate(cells) if cell.label.strip().casefold() == name.strip().casefold()]
    if not 1 <= nth <= len(found):
        raise Unanswerable(gettext_lazy("The text has no “{word}”.", word=word))
    return found[nth - 1]


def check_head(view: View, layer: int, head: int) -> None:
    """Raise Unanswerable if the view has no such layer or head."""
    if not (0 <= layer < view.layers and 0 <= head < view.heads):
        raise Unanswerable(describe_missing_head(layer, head, view.layers, view.heads))


def dot(_asked: CheckContext, *, a: tuple[float, ...], b: tuple[float, ...]) -> CheckedAnswer:
    """Compute the dot product of two vectors.

    >>> dot(None, a=(1, 2), b=(3, 4)).said
    '1 × 3 + 2 × 4 = 11'
    """
    _check_lengths(a, b)
    found = sum(one * other for one, other in zip(a, b, strict=True))
    steps = " + ".join(f"{one:g} × {other:g}" for one, other in zip(a, b, strict=True))
    return CheckedAnswer(float(found), gettext_lazy("{steps} = {result:g}", steps=steps, result=found), tolerance=0.01)


def softmax(_asked: CheckContext, *, scores: tuple[float, ...], at: int) -> CheckedAnswer:
    """Compute the softmax of ``scores`` and return the weight at index ``at``, counted from 0."""
    if not 0 <= at < len(scores):
        raise Unanswerable(gettext_lazy("There is no score {at} among {many}.", at=at, many=len(scores)))
    powers = [exp(score - max(scores)) for score in scores]
    found = powers[at] / sum(powers)
    return CheckedAnswer(
        found,
        gettext_lazy(
            "exp({score:g}) divided by the sum of exp of {scores} is {share:.3f}.",
            score=scores[at],
            scores=", ".join(f"{score:g}" for score in scores),
            share=found,
        ),
        tolerance=0.01,
        is_share=True,
    )


def mix(_asked: CheckContext, *, weights: tuple[float, ...], values: tuple[float, ...]) -> CheckedAnswer:
    """Compute the weighted sum of ``values`` with the given weights, as attention does.

    >>> mix(None, weights=(0.5, 0.5), values=(2, 4)).answer
    3.0
    """
    return dot(_asked, a=weights, b=values)


def _check_lengths(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    if len(a) != len(b):
        raise Unanswerable(
            gettext_lazy(
                "The vectors have {one} and {other} numbers; expected equal lengths.", one=len(a), other=len(b)
            )
        )
