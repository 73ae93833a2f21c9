"""The right answer to the question of a lesson's step, and the part of its view that would show it.

This part is hidden until the reader answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from attention.view import DisplayToken
from i18n import LazyMessage, _, active_language, gettext_lazy
from lessons.answer_key import CheckContext, CheckedAnswer
from lessons.checks import truth
from lessons.schema import Answer, LessonQuestion, LessonStep, LocalizedText

VIEW, RESULTS, STRONGEST = "view", "results", "strongest"  # parts of the view that are withheld until the first answer
IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()]*\)")  # a description and an address
BLANKS = (None, "guess", "guess_rank", "guess_chance", "likelier")  # checks that the bars of a blank would answer
PREDICTED = ("preferred", "pronoun_hits")  # checks whose view prints the answer


def markdown_of(said: LocalizedText) -> str:
    """Return the text in the reader's language, in which an image is replaced by its description.

    >>> markdown_of(LocalizedText((("", "Look: ![a cat](http://b/c.png)"),)))
    'Look: a cat'
    """
    described = IMAGE.sub(r"\1", said.in_language(active_language()))
    return described.replace("![", "!\\[")  # images in another notation


def withheld_part(step: LessonStep, view: str | None) -> str:
    """Return the part of a step's view that would show the answer, to hide it until the reader answers.

    The part is VIEW (the whole view), RESULTS (its results), STRONGEST (the offer of the strongest head), or ""
    (nothing). ``view`` is the name of the view. A question that asks for a head hides at most the offer, because
    readers answer from the maps. Nothing is hidden if any answer is accepted.
    """
    question = step.question
    if question is None or step.view is None or question.kind == "text":
        return ""
    check = question.check.check if question.check is not None else None
    if not question.is_checked:
        return ""
    if question.kind == "head":
        return STRONGEST if view == "explore" else ""
    if (view == "masked_words" and check in BLANKS) or check in PREDICTED:
        return VIEW
    return RESULTS if view in ("explore", "translate") else ""


def right_answer(question: LessonQuestion, asked: CheckContext) -> CheckedAnswer | None:
    """Return the right answer to a question: computed by its check, or given in the lesson's file.

    Return None if any answer is accepted. Raise Unanswerable if the text has no right answer, and UserError if the
    model cannot answer.
    """
    if question.check is not None:
        found = truth(question.check, asked)
    elif question.right is not None:
        # A tolerance below 1 means that the number 1 is no count, but the whole.
        most = 1.0 if question.tolerance and question.tolerance < 1 else 0.999
        is_share = isinstance(question.right, float) and 0 < question.right <= most
        found = CheckedAnswer(question.right, LazyMessage(""), is_share=is_share)
    else:
        return None
    return found if question.tolerance is None else replace(found, tolerance=question.tolerance)


def format_answer(question: LessonQuestion, answer: Answer, keys: Sequence[DisplayToken] = ()) -> str:
    """Format an answer in the reader's language.

    If the answer is the index of a token, ``keys`` are the tokens.
    """
    if isinstance(answer, tuple):
        return _("head {layer}-{head}", layer=answer[0], head=answer[1])
    if question.kind == "choice":
        return next((markdown_of(text) for key, text in question.choices if key == answer), str(answer))
    if question.kind == "token" and isinstance(answer, int) and keys:
        return keys[answer].label if 0 <= answer < len(keys) else str(answer)
    return f"{answer:.4g}" if isinstance(answer, float) else str(answer)


def describe_answer(
    question: LessonQuestion, right: CheckedAnswer, keys: Sequence[DisplayToken] = ()
) -> LazyMessage | str:
    """Return a translatable sentence with the right answer and the numbers behind it.

    If the question is a choice or asks for a number, the answer is stated first, because the sentence with the numbers
    behind it may not contain it. The numbers are a paragraph of their own.
    """
    if right.said and question.kind not in ("choice", "number"):
        return right.said
    answer = format_answer(question, right.answer, keys).rstrip(".。")  # Choices may be sentences.
    answered = gettext_lazy("The answer: {answer}.", answer=answer)
    # The line break separates "5." from a calculation: "5. 2 × 2" could be read as 5.2.
    return gettext_lazy("{first}\n\n{then}", first=answered, then=right.said) if right.said else answered
