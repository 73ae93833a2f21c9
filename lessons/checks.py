"""Every check that a lesson's file may name, the kind of answer that it gives, and what it has to be told.

A new check is one function with its row here; docs/LESSONS.md lists them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lessons import answer_key, attention_checks, model_checks
from lessons.answer_key import READING, CheckContext, CheckedAnswer
from lessons.schema import CheckCall

TYPES = {
    "str": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "tuple[float, ...]": list,
}


@dataclass(frozen=True)
class Check:
    """One check: its function, and the kind of question that it answers."""

    function: Callable[..., CheckedAnswer]
    kind: str

    @cached_property
    def needs(self) -> Mapping[str, inspect.Parameter]:
        """What it can be told, by name."""
        return {
            name: one
            for name, one in inspect.signature(self.function).parameters.items()
            if one.kind.name == "KEYWORD_ONLY"
        }


CHECKS: dict[str, Check] = {
    function.__name__: Check(function, kind)
    for kind, functions in {
        "head": (attention_checks.head_linking, attention_checks.head_giving_most, attention_checks.head_at_offset),
        "token": (attention_checks.most_looked_at, model_checks.source_of),
        "choice": (attention_checks.preferred, model_checks.likelier, model_checks.positions_are),
        "word": (model_checks.guess, model_checks.translation),
        "number": (
            attention_checks.weight,
            attention_checks.usual,
            attention_checks.heads_preferring,
            attention_checks.heads_turning,
            attention_checks.most_to_later,
            model_checks.tokens,
            model_checks.pieces,
            model_checks.positions,
            model_checks.change_by_order,
            model_checks.guess_rank,
            model_checks.guess_chance,
            model_checks.across,
            answer_key.dot,
            answer_key.softmax,
            answer_key.mix,
        ),
    }.items()
    for function in functions
}


def truth(call: CheckCall, asked: CheckContext) -> CheckedAnswer:
    """What is right; raises Unanswerable in a sentence, or the backend's Refusal."""
    given = dict(call.given)
    told = {name: value for name, value in given.items() if name in CHECKS[call.check].needs}
    return CHECKS[call.check].function(asked.reads({n: v for n, v in given.items() if n not in told}), **told)


def fits(value: Any, parameter: inspect.Parameter) -> bool:
    """Whether a value of a file may be told for that parameter.

    >>> fits(3, CHECKS["weight"].needs["layer"]), fits("3", CHECKS["weight"].needs["layer"])
    (True, False)
    """
    wanted = TYPES[str(parameter.annotation)]
    if wanted is list:
        return isinstance(value, list) and 0 < len(value) <= 64 and all(_number(one) for one in value)
    return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))  # type: ignore[arg-type]


def reads(name: str, value: Any) -> bool:
    """Whether it is something of what is read, such as another text."""
    return name in READING and isinstance(value, bool if name in ("words", "special") else str)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
