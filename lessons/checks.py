"""Checks on attention maps, and the registry of all checks that a lesson file may name.

A check is a function that computes the correct answer to a question. A new check is a function with an entry here;
docs/LESSONS.md lists all checks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attention.excess import visible_word_pairs
from attention.mask import BoolArray, FloatArray
from attention.view import View
from i18n import gettext_lazy
from lessons import anatomy_checks, answer_key, model_checks, score_checks, training_checks
from lessons.answer_key import READING, CheckContext, CheckedAnswer, Unanswerable, check_head, place
from lessons.schema import CheckCall


def weight(asked: CheckContext, *, layer: int, head: int, word: str, to: str) -> CheckedAnswer:
    """Compute the attention weight from ``word`` to ``to`` in a head."""
    view = asked.view()
    check_head(view, layer, head)
    found = float(view.weights(layer, head)[place(view.queries, word), place(view.keys, to)])
    return CheckedAnswer(
        found,
        gettext_lazy(
            "In head {layer}-{head}, “{word}” gives “{to}” {weight:.1%}.",
            layer=layer,
            head=head,
            word=word,
            to=to,
            weight=found,
        ),
        tolerance=0.01,
        is_share=True,
    )


def usual(asked: CheckContext, *, layer: int, head: int, word: str, to: str) -> CheckedAnswer:
    """Compute the mean weight that the words of the text other than ``word`` give to ``to`` in a head."""
    view = asked.view()
    check_head(view, layer, head)
    beyond, given = _beyond(view, word, to)
    mine, own = float(given[layer, head]), float(beyond[layer, head])
    return CheckedAnswer(
        mine - own,
        gettext_lazy(
            "In head {layer}-{head}, “{word}” gives “{to}” {weight:.1%}; other words give it {usual:.1%} on average.",
            layer=layer,
            head=head,
            word=word,
            to=to,
            weight=mine,
            usual=mine - own,
        ),
        tolerance=0.01,
        is_share=True,
    )


def head_linking(asked: CheckContext, *, word: str, to: str, within: float = 0.0) -> CheckedAnswer:
    """Find the head in which the weight from ``word`` to ``to`` is furthest above the mean weight on ``to``.

    The mean is over the other words of the text. Heads whose difference is within ``within`` of the largest are
    correct, too.
    """
    view = asked.view()
    beyond, given = _beyond(view, word, to)
    (layer, head), *others = _best(beyond, within)
    return CheckedAnswer(
        (layer, head),
        gettext_lazy(
            "Head {layer}-{head}: “{word}” gives “{to}” {weight:.1%}; other words give it {usual:.1%} on "
            "average. The difference, {beyond:.1f} percentage points, is the largest of all {heads} heads.",
            layer=layer,
            head=head,
            word=word,
            to=to,
            weight=float(given[layer, head]),
            usual=float(given[layer, head] - beyond[layer, head]),
            heads=given.size,
            beyond=100 * float(beyond[layer, head]),
        ),
        tuple(others),
    )


def head_giving_most(asked: CheckContext, *, word: str, to: str, within: float = 0.0) -> CheckedAnswer:
    """Find the head with the largest weight from ``word`` to ``to``.

    Heads whose weight is within ``within`` of the largest are correct, too.
    """
    view = asked.view()
    given = view.rows(place(view.queries, word))[..., place(view.keys, to)]
    (layer, head), *others = _best(given, within)
    return CheckedAnswer(
        (layer, head),
        gettext_lazy(
            "Head {layer}-{head}: “{word}” gives “{to}” {weight:.1%}, most of all {heads} heads.",
            layer=layer,
            head=head,
            word=word,
            to=to,
            weight=float(given[layer, head]),
            heads=given.size,
        ),
        tuple(others),
    )


def head_at_offset(asked: CheckContext, *, offset: int, within: float = 0.0) -> CheckedAnswer:
    """Find the head with the largest mean weight at a fixed offset, such as -1 for the previous token.

    The mean is over the words of the text that have another word at that offset. Heads whose mean is within ``within``
    of the largest are correct, too. Raise Unanswerable if no word has another at that offset.
    """
    view = asked.view()
    rows = [
        at
        for at, cell in enumerate(view.queries)
        if not cell.special and 0 <= at + offset < len(view.keys) and not view.keys[at + offset].special
    ]
    if not rows:
        raise Unanswerable(gettext_lazy("The text is too short for that distance."))
    shares = np.array(
        [
            [view.weights(layer, head)[rows, [at + offset for at in rows]].mean() for head in range(view.heads)]
            for layer in range(view.layers)
        ]
    )
    (layer, head), *others = _best(shares, within)
    return CheckedAnswer(
        (layer, head),
        gettext_lazy(
            "Head {layer}-{head} gives {share:.0%} of its attention to the token at distance {offset} "
            "(mean over words); the next best gives {next:.0%}.",
            layer=layer,
            head=head,
            offset=offset,
            share=float(shares[layer, head]),
            next=float(np.sort(shares.ravel())[-2]) if shares.size > 1 else 0.0,
        ),
        tuple(others),
    )


def most_looked_at(asked: CheckContext, *, layer: int, head: int, word: str, special: bool = True) -> CheckedAnswer:
    """Find the token or word to which ``word`` gives its largest weight in a head.

    The answer is its index. Special tokens are left out if ``special`` is False.
    """
    view = asked.view()
    check_head(view, layer, head)
    row = view.weights(layer, head)[place(view.queries, word)]
    allowed = np.array([special or not cell.special for cell in view.keys])
    at = int(np.where(allowed, row, -1).argmax())
    return CheckedAnswer(
        at,
        gettext_lazy(
            "In head {layer}-{head}, “{word}” gives most to “{to}”: {weight:.1%}.",
            layer=layer,
            head=head,
            word=word,
            to=view.keys[at].label,
            weight=float(row[at]),
        ),
    )


def preferred(  # noqa: PLR0913  # a head, and three words
    asked: CheckContext, *, layer: int, head: int, word: str, to: str, over: str
) -> CheckedAnswer:
    """Find which of two words, ``to`` or ``over``, receives the larger weight from ``word`` in a head."""
    view = asked.view()
    check_head(view, layer, head)
    row = view.weights(layer, head)[place(view.queries, word)]
    one, other = float(row[place(view.keys, to)]), float(row[place(view.keys, over)])
    return CheckedAnswer(
        to if one > other else over,
        gettext_lazy(
            "In head {layer}-{head}, “{word}” gives “{to}” {one:.1%} and “{over}” {other:.1%}.",
            layer=layer,
            head=head,
            word=word,
            to=to,
            one=one,
            over=over,
            other=other,
        ),
    )


def heads_preferring(asked: CheckContext, *, word: str, to: str, over: str) -> CheckedAnswer:
    """Count the heads in which the weight from ``word`` is larger on ``to`` than on ``over``."""
    view = asked.view()
    prefers = _prefers(view, word, to, over)
    many = int(prefers.sum())
    return CheckedAnswer(
        float(many),
        gettext_lazy(
            "In {many} of {heads} heads, “{word}” gives “{to}” more than “{over}”.",
            many=many,
            heads=prefers.size,
            word=word,
            to=to,
            over=over,
        ),
        tolerance=0,
    )


def heads_turning(  # noqa: PLR0913  # three words, the other text and the margin
    asked: CheckContext, *, word: str, to: str, over: str, other: str, by: float = 0.0
) -> CheckedAnswer:
    """Count the heads that prefer ``to`` in this text, but ``over`` in the text ``other``.

    A head prefers a word if ``word`` gives it more weight than the alternative, by more than ``by``.
    """
    here, there = asked.view(), asked.reads({"text": other}).view()
    turned = _prefers(here, word, to, over, by) & _prefers(there, word, over, to, by)
    return CheckedAnswer(
        float(turned.sum()),
        gettext_lazy(
            "{many} of {heads} heads turn from “{to}” to “{over}”.",
            many=int(turned.sum()),
            heads=turned.size,
            to=to,
            over=over,
        ),
        tolerance=0,
    )


def most_to_later(asked: CheckContext) -> CheckedAnswer:
    """Compute the largest attention weight from any token to a later token, over all heads."""
    view = asked.view()
    largest = max(
        float(np.triu(view.weights(layer, head), 1).max()) for layer in range(view.layers) for head in range(view.heads)
    )
    return CheckedAnswer(
        largest, gettext_lazy("The largest weight to a later token is {weight:.1%}.", weight=largest), is_share=True
    )


def _prefers(view: View, word: str, to: str, over: str, by: float = 0.0) -> BoolArray:
    """Return the heads that give ``to`` more weight than ``over`` by more than ``by``, shape (layer, head)."""
    rows = view.rows(place(view.queries, word))
    more: BoolArray = rows[..., place(view.keys, to)] - rows[..., place(view.keys, over)] > by
    return more


def _beyond(view: View, word: str, to: str) -> tuple[FloatArray, FloatArray]:
    """Return the weight minus the mean of the other words, and the weight, each (layer, head).

    The mean is that of attention/excess.py; it counts as 0 if no other word may attend to ``to``.
    """
    query, key = place(view.queries, word), place(view.keys, to)
    column = view.columns(key)  # (layer, head, query)
    rows = np.arange(len(view.queries))
    given: FloatArray = column[..., query]
    beyond = given.copy()
    for layer in range(view.layers):
        others = visible_word_pairs(view, layer, rows, np.array([key]))[:, 0] & (rows != query)
        if others.any():
            beyond[layer] -= column[layer][:, others].mean(axis=-1)
    return beyond, given


def _best(values: FloatArray, within: float) -> list[tuple[int, int]]:
    """Return the heads with values within ``within`` of the largest, best first."""
    flat = values.ravel()
    order = [int(at) for at in np.argsort(-flat, kind="stable") if flat[at] >= flat.max() - within]
    return [divmod(at, values.shape[1]) for at in order]


TYPES = {
    "str": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "tuple[float, ...]": list,
}


@dataclass(frozen=True)
class Check:
    """A check that lesson files may name: its function, and the kind of question that its answer fits."""

    function: Callable[..., CheckedAnswer]
    kind: str

    @cached_property
    def needs(self) -> Mapping[str, inspect.Parameter]:
        """Return the parameters that a lesson file must or may give to this check, by name.

        They are the keyword-only parameters of the check's function.
        """
        return {
            name: one
            for name, one in inspect.signature(self.function).parameters.items()
            if one.kind.name == "KEYWORD_ONLY"
        }


CHECKS: dict[str, Check] = {
    function.__name__: Check(function, kind)
    for kind, functions in {
        "head": (head_linking, head_giving_most, head_at_offset),
        "token": (most_looked_at, model_checks.source_of),
        "choice": (preferred, model_checks.likelier, model_checks.positions_are, score_checks.largest_source),
        "word": (model_checks.guess, model_checks.translation, score_checks.toy_word),
        "number": (
            weight,
            usual,
            heads_preferring,
            heads_turning,
            most_to_later,
            model_checks.tokens,
            model_checks.pieces,
            model_checks.positions,
            model_checks.change_by_order,
            model_checks.guess_rank,
            model_checks.guess_chance,
            model_checks.across,
            score_checks.weight_rank,
            score_checks.pronoun_hits,
            score_checks.mean_entropy,
            score_checks.share_to_later,
            score_checks.toy_weight,
            anatomy_checks.size,
            anatomy_checks.bert_base_size,
            anatomy_checks.parameter_share,
            anatomy_checks.numpy_stages,
            anatomy_checks.head_parameters,
            anatomy_checks.trainable_share,
            anatomy_checks.commonest_label,
            training_checks.masked_loss,
            training_checks.pair_chance,
            training_checks.joint_loss,
            training_checks.dropout_values,
            training_checks.forced_chance,
            training_checks.word_cosine,
            training_checks.text_cosine,
            answer_key.dot,
            answer_key.softmax,
            answer_key.mix,
        ),
    }.items()
    for function in functions
}


def truth(call: CheckCall, asked: CheckContext) -> CheckedAnswer:
    """Compute the correct answer to a question by its check.

    Raise Unanswerable if there is none, and UserError if the backend fails.
    """
    given = dict(call.given)
    told = {name: value for name, value in given.items() if name in CHECKS[call.check].needs}
    return CHECKS[call.check].function(asked.reads({n: v for n, v in given.items() if n not in told}), **told)


def fits(value: Any, parameter: inspect.Parameter) -> bool:
    """Return True if a value from a lesson file has the type of a parameter of a check.

    >>> fits(3, CHECKS["weight"].needs["layer"]), fits("3", CHECKS["weight"].needs["layer"])
    (True, False)
    """
    wanted = TYPES[str(parameter.annotation)]
    if wanted is list:
        return isinstance(value, list) and 0 < len(value) <= 64 and all(_number(one) for one in value)
    return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))  # type: ignore[arg-type]


def reads(name: str, value: Any) -> bool:
    """Return True if ``name`` is a field of a check's input, such as "text", and ``value`` has its type.

    A lesson file may give such fields among the arguments of a check; they replace the input's.
    """
    return name in READING and isinstance(value, bool if name in ("words", "special") else str)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
