"""Questions that a teacher asks a class of students, and the counting of their answers."""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any, Literal, get_args

from attention.head_names import describe_ambiguous_number, describe_missing_head, fold_text, normalize_word, parse_head
from classroom.errors import NotInClass, wrong_length
from i18n import active_language, gettext_lazy

Kind = Literal["choice", "number", "word", "head", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LONGEST_PROMPT, LONGEST_ANSWER, MOST_OPTIONS = 2_000, 500, 12
PERCENT = "%"
LARGEST = 1e12  # Numbers of this size or above are refused.
STORED_DIGITS, SHOWN_DIGITS = 12, 6  # significant digits of a stored answer, and of a shown one
DIGITS = 4  # A correct number of so many digits is shown as it is.
# Examples of answers, without words: of a count, of a share, and of any number.
COUNTS, SHARES, NUMBERS = "12", "0.25, 25%", "12, 0.25, 25%"


@dataclass(frozen=True)
class TranslatedQuestion:
    """The prompt of a question and its choices in another language, in the same order."""

    language: str
    prompt: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question that a teacher asks the students.

    ``options`` are the choices of a choice question. ``truth`` is the correct answer as ``normal`` returns it, or "" if
    there is none. A head is stored as "layer.head", both counted from 0, and a percentage as "51%". A number is correct
    if it deviates by at most ``tolerance``; if it ``is_count``, a percentage is refused, and if it ``is_share``, its
    percentage without the sign is correct, too. ``step`` is the lesson's step that asks the same question, as
    "lesson/index", or "". ``source`` is the text and its tokens if they must contain the answer, a word, or "". A head
    is one of ``layers`` × ``heads``, or any if they are 0.

    ``translations`` are shown to readers of other languages. Answers are always stored as in ``options``.
    """

    kind: Kind
    prompt: str
    options: tuple[str, ...] = ()
    truth: str = ""
    tolerance: float = 0.0
    step: str = ""
    translations: tuple[TranslatedQuestion, ...] = ()
    is_count: bool = False
    is_share: bool = False
    source: str = ""
    layers: int = 0
    heads: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise NotInClass(gettext_lazy("“{name}” is not one of {known}.", name=self.kind, known=", ".join(KINDS)))
        for prompt in (self.prompt, *(one.prompt for one in self.translations)):
            if not prompt.strip() or len(prompt) > LONGEST_PROMPT:
                raise wrong_length(gettext_lazy("Question"), len(prompt), LONGEST_PROMPT)
        if self.kind == "choice" and not 2 <= len(self.options) <= MOST_OPTIONS:
            raise NotInClass(
                gettext_lazy(
                    "Expected 2 to {most} choices, one per line; got {n}.",
                    most=MOST_OPTIONS,
                    n=len(self.options),
                )
            )

    def to_json(self) -> str:
        """Return the question as JSON for the store.

        >>> question = Question("word", "Which word?")
        >>> read(question.to_json()) == question
        True
        """
        return json.dumps(asdict(self), ensure_ascii=False)

    @property
    def example(self) -> str:
        """Examples of answers to a question about a number."""
        return COUNTS if self.is_count else SHARES if self.is_share else NUMBERS

    def without_truth(self) -> Question:
        """Return the question without its correct answer."""
        return replace(self, truth="", tolerance=0.0)

    def normal(self, answer: str) -> str:
        """Return a student's answer in the form in which it is stored; raise NotInClass if it is invalid.

        >>> Question("head", "Which head?").normal(" 3.07 "), Question("number", "How much?").normal("0,50")
        ('3.7', '0.5')
        >>> Question("number", "How much?").normal("51.0 %")
        '51%'
        """
        said = " ".join(answer.split())
        if not said:
            raise NotInClass(gettext_lazy("Answer first: pick or type."))
        if len(said) > LONGEST_ANSWER:
            raise wrong_length(gettext_lazy("Answer"), len(said), LONGEST_ANSWER)
        if self.kind == "choice":
            return self._option(said)
        if self.kind == "number":
            return self._number(said)
        if self.kind == "word" and self.source and not _contains(self.source, said):
            raise NotInClass(gettext_lazy("The text has no “{word}”.", word=said[:80]))
        return self._head(said) if self.kind == "head" else said

    def _number(self, said: str) -> str:
        """Return a number as it is stored, with its percent sign if it has one; a count has none.

        Fractions become decimals.

        >>> Question("number", "How many?", is_count=True).normal("36.0"), Question("number", "?").normal("1/3")
        ('36', '0.333333333333')
        """
        plain = unicodedata.normalize("NFKC", said)
        number = plain.removesuffix(PERCENT)
        if ambiguous := describe_ambiguous_number(number):
            raise NotInClass(ambiguous)
        try:
            above, bar, below = number.replace(",", ".").replace("−", "-").partition("/")
            value = float(above) / float(below if bar else 1)
        except (ValueError, ZeroDivisionError):
            value = math.nan
        if not abs(value) < LARGEST or (self.is_count and number != plain):  # NaN is refused, too.
            raise NotInClass(
                gettext_lazy("“{said}” is not a number such as {example}.", said=said[:80], example=self.example)
            )
        return f"{value:.{STORED_DIGITS}g}{plain[len(number) :]}"

    def _head(self, said: str) -> str:
        found = parse_head(said)
        if found is None:
            raise NotInClass(gettext_lazy("“{said}” is not a head, such as 3-7 (counted from 0).", said=said[:80]))
        layer, head = found
        if self.layers and not (layer < self.layers and head < self.heads):
            raise NotInClass(describe_missing_head(layer, head, self.layers, self.heads))
        return f"{layer}.{head}"

    def _option(self, said: str) -> str:
        """Return the choice that equals an answer, or the first that does if case and spaces are ignored."""
        if said in self.options:
            return said
        plain = _plain(said)
        if (found := next((option for option in self.options if _plain(option) == plain), None)) is None:
            raise NotInClass(gettext_lazy("“{right}” is none of the choices.", right=said[:80]))
        return found


def read(written: str) -> Question:
    """Return the question from the JSON of ``Question.to_json``."""
    said: dict[str, Any] = json.loads(written)
    said["options"] = tuple(said["options"])
    said["translations"] = tuple(
        TranslatedQuestion(one["language"], one["prompt"], tuple(one["options"]))
        for one in said.get("translations", ())
    )
    return Question(**said)


def count_answers(question: Question, answers: Iterable[str]) -> list[tuple[str, int]]:
    """Count equal answers; return pairs (answer, count).

    They are in the order of the options of a choice question, otherwise the most frequent first. Case is ignored, and
    so are the articles of words; 51% equals 0.51. The correct answer is shown as the teacher wrote it, a share as 0.51,
    and other answers in their most frequent spelling, the first of several.

    >>> count_answers(Question("word", "Which?"), ["animal", "The animal", "it"])
    [('animal', 2), ('it', 1)]
    >>> count_answers(Question("number", "Which?", truth="68%"), ["68%", "0.68", "68", "0.7"])
    [('68%', 3), ('0.7', 1)]
    >>> count_answers(Question("number", "Which?", truth="0.68", is_share=True), ["68%", "0.68", "68"])
    [('0.68', 3)]
    >>> count_answers(Question("number", "Which?", truth="16"), ["16%", "7%", "16", "7", "7"])
    [('7', 3), ('16', 2)]
    >>> count_answers(Question("choice", "Which?", ("yes", "no")), ["no"])
    [('yes', 0), ('no', 1)]
    """
    said = list(answers)
    if question.kind == "choice":
        return [(option, said.count(option)) for option in question.options]
    spellings: dict[str, Counter[str]] = {}
    for answer in said:
        spellings.setdefault(_bar_of(question, answer), Counter())[answer] += 1
    right = _bar_of(question, question.truth) if question.truth else None
    shown = {
        bar: question.truth if bar == right else bar if question.is_share else found.most_common(1)[0][0]
        for bar, found in spellings.items()
    }
    ordered = sorted(spellings.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    return [(shown[bar], found.total()) for bar, found in ordered]


def _bar_of(question: Question, answer: str) -> str:
    """Return the same text for answers that are equal, such as 51% and 0.51 to a question about a share.

    >>> share, percentage = (Question("number", "?", truth=truth) for truth in ("0.5", "51%"))
    >>> [_bar_of(question, said) for question in (share, percentage) for said in ("51%", "0.51")]
    ['0.51', '0.51', '51', '51']
    >>> [_bar_of(Question("number", "?", truth="0.51", is_share=True), said) for said in ("51", "16")]
    ['0.51', '16']
    """
    if question.kind != "number":
        return _comparable(question, answer)
    share, *rest = _possible_values(question, answer)
    # If the truth is a percentage, and the answer has no sign, at most 1 is a share. To a question about a share, a
    # number without a sign is a percentage only if that is correct: 16 may be meant as 16.
    if rest and (is_correct(question, answer) if question.is_share else abs(share) <= 1):
        share = rest[0]
    return f"{share.normalize():f}" if share.is_finite() else answer


def count_correct(question: Question, answers: Sequence[str]) -> int | None:
    """Return the number of correct answers, or None if the question has no correct answer.

    >>> count_correct(Question("word", "Which?", truth="animal"), ["Animal", "street"])
    1
    """
    if not question.truth:
        return None
    return sum(is_correct(question, answer) for answer in answers)


def is_correct(question: Question, answer: str) -> bool:
    """Return True if an answer is correct: a number within the tolerance, or equal text ignoring case.

    Words are compared by ``normalize_word``.

    A number is also correct if it equals the truth after both are rounded to the decimals of the less precise number,
    and has at least two digits then.

    >>> is_correct(Question("number", "?", truth="0.5", tolerance=0.01), "0.505")
    True
    >>> [is_correct(Question("number", "?", truth="0.5143"), said) for said in ("0.51", "51%", "0.52", "0.5", "1")]
    [True, True, False, False, False]
    """
    if question.kind == "number":
        right = Decimal(question.truth.removesuffix(PERCENT))
        return any(
            abs(float(said) - float(right)) <= question.tolerance + 1e-9 or _is_rounded(said, right)
            for said in _possible_values(question, answer)
        )
    return _comparable(question, answer) == _comparable(question, question.truth)


def _comparable(question: Question, answer: str) -> str:
    """Return the same text for answers in words that are equal."""
    return normalize_word(answer) if question.kind == "word" else answer.casefold()


def _possible_values(question: Question, answer: str) -> list[Decimal]:
    """Return an answer in the unit of the question's truth; there are two values if the answer's unit is not known.

    >>> [str(one) for one in _possible_values(Question("number", "?", truth="0.05", is_share=True), "5")]
    ['5', '0.05']
    """
    found = _in_unit_of(question.truth or "1", answer)
    is_percentage = question.is_share and not answer.endswith(PERCENT) and 1 < float(found[0]) <= 100
    return [*found, found[0].scaleb(-2)] if is_percentage else found


def _in_unit_of(truth: str, answer: str) -> list[Decimal]:
    """Return an answer in the unit of the truth; there are two values if the answer's unit is not known.

    "51%" is 0.51 if the truth is at most 1, otherwise 51. If the truth is a percentage, an answer without a sign may be
    a percentage or a share.

    >>> [str(one) for truth in ("51", "51.4%", "0.51") for one in _in_unit_of(truth, "51%")]
    ['51', '51', '0.51']
    >>> [str(one) for one in _in_unit_of("51%", "0.51")]
    ['0.51', '51']
    """
    said, right = (Decimal(number.removesuffix(PERCENT)) for number in (answer, truth))
    if truth.endswith(PERCENT):
        return [said] if answer.endswith(PERCENT) else [said, said.scaleb(2)]
    return [said.scaleb(-2) if answer.endswith(PERCENT) and abs(float(right)) <= 1 else said]


def _is_rounded(one: Decimal, other: Decimal) -> bool:
    """Return True if two numbers are equal after rounding to the decimals of the shorter, with two digits or more.

    >>> [_is_rounded(Decimal(one), Decimal(other)) for one, other in (("51", "51.4"), ("5", "5.4"), ("51", "52"))]
    [True, False, False]
    """
    if not (one.is_finite() and other.is_finite()):
        return False
    places = min(max(-int(number.as_tuple().exponent), 0) for number in (one, other))
    rounded = round(one, places)
    return rounded == round(other, places) and len(rounded.as_tuple().digits) > 1


def _contains(source: str, word: str) -> bool:
    """Return True if a text contains a typed word; case and the kind of apostrophe are ignored.

    >>> [_contains("The animal didn't cross. [CLS]", word) for word in ("the Animal", "didn’t", "CLS", "stret")]
    [True, True, True, False]
    """
    return normalize_word(word).replace("’", "'") in fold_text(source).replace("’", "'")


def _plain(text: str) -> str:
    """Return a text without spaces and differences of case.

    >>> _plain("The  Cat") == _plain("thecat")
    True
    """
    return "".join(text.split()).casefold()


def format_answer(question: Question, answer: str) -> str:
    """Format a stored answer for display: a choice is translated, and a head "3.7" becomes "3-7".

    A number has at most SHOWN_DIGITS significant digits, or more if it has more before its decimal point.

    >>> format_answer(Question("head", "Which?"), "3.7"), format_answer(Question("number", "How much?"), "3.7")
    ('3-7', '3.7')
    >>> [format_answer(Question("number", "?"), said) for said in ("0.666666666667", "33.3333333333%", "1234567.8")]
    ['0.666667', '33.3333%', '1234568']
    """
    if question.kind == "choice" and answer in question.options and (found := _translation(question)):
        return found.options[question.options.index(answer)]
    if question.kind == "number" and answer:
        number = answer.removesuffix(PERCENT)
        digits = max(SHOWN_DIGITS, len(str(abs(int(float(number))))))
        return f"{float(number):.{digits}g}{answer[len(number) :]}"
    return answer.replace(".", "-") if question.kind == "head" else answer


def format_truth(question: Question) -> str:
    """Format the correct answer for display; a number over four digits has one digit more than its tolerance.

    A share has four digits, as in the lesson that asks for it.

    >>> [
    ...     format_truth(Question("number", "?", truth=truth, tolerance=tolerance))
    ...     for truth, tolerance in (("34.3803%", 5), ("0.849142", 0.005), ("12.34", 1), ("34.3803%", 0))
    ... ]
    ['34.4%', '0.8491', '12.34', '34.3803%']
    >>> format_truth(Question("number", "?", truth="0.672549", tolerance=0.05, is_share=True))
    '0.6725'
    """
    truth = question.truth
    if question.is_share and truth:
        return f"{float(truth):.{DIGITS}g}"
    if question.kind != "number" or not truth or not question.tolerance:
        return format_answer(question, truth)
    number = truth.removesuffix(PERCENT)
    if len(Decimal(number).as_tuple().digits) <= DIGITS:
        return truth
    places = max(0, 1 - math.floor(math.log10(question.tolerance)))
    return f"{round(Decimal(number), places).normalize():f}{truth[len(number) :]}"


def format_prompt(question: Question) -> str:
    """Return the prompt in the reader's language, or as it was asked if there is no translation.

    >>> from i18n import use_language
    >>> with use_language("zh"):
    ...     format_prompt(Question("word", "Which?", translations=(TranslatedQuestion("zh", "哪个？"),)))
    '哪个？'
    """
    found = _translation(question)
    return found.prompt if found else question.prompt


def _translation(question: Question) -> TranslatedQuestion | None:
    """Return the translation into the reader's language, or None."""
    return next((one for one in question.translations if one.language == active_language()), None)
