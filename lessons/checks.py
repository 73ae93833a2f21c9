"""Registry of the checks that a lesson file may name, with kinds of answers and arguments.

A new check is a function with an entry here; docs/LESSONS.md lists all checks.
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
    """A check: its function, and the kind of question that it answers."""

    function: Callable[..., CheckedAnswer]
    kind: str

    @cached_property
    def needs(self) -> Mapping[str, inspect.Parameter]:
        """Return the keyword-only parameters of the function by name."""
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
    """Compute the correct answer; raise Unanswerable, or the backend's Refusal."""
    given = dict(call.given)
    told = {name: value for name, value in given.items() if name in CHECKS[call.check].needs}
    return CHECKS[call.check].function(asked.reads({n: v for n, v in given.items() if n not in told}), **told)


def fits(value: Any, parameter: inspect.Parameter) -> bool:
    """Return True if a value from a file has the type of the parameter.

    >>> fits(3, CHECKS["weight"].needs["layer"]), fits("3", CHECKS["weight"].needs["layer"])
    (True, False)
    """
    wanted = TYPES[str(parameter.annotation)]
    if wanted is list:
        return isinstance(value, list) and 0 < len(value) <= 64 and all(_number(one) for one in value)
    return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))  # type: ignore[arg-type]


def reads(name: str, value: Any) -> bool:
    """Return True if the argument overrides an input field of the check, such as the text."""
    return name in READING and isinstance(value, bool if name in ("words", "special") else str)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
