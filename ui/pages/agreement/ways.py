"""The ways of telling which words matter to one word, each asked of the model or read off its trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.agreement import mean_maps, norms_of, over_words, rollout, with_residual, zeroing_rollout
from attention.mask import Array
from attention.trace import Trace
from inference import Refusal, TraceRequest
from inference.questions.agreement import FlowToWord, Run, WithoutWords, WordGradients, WordPath, ZeroedValues
from inference.questions.layer import LayerQuestion
from ui.run.shelf import backend
from ui.run.stoppable import stoppable

EFFECT, ZEROING, NORMS = "Left out", "Value zeroing", "Norms"
INSIDE = (EFFECT, ZEROING, NORMS)  # what needs values, or changes inside the attention
MOST_MISSED = 0.05  # of the path, beyond which the steps of integrated gradients add up to something else


@dataclass(frozen=True, eq=False)
class Way:
    """One way's answer: the size of each word's part, (word,), none below zero."""

    name: str
    sizes: Array


@dataclass(frozen=True, eq=False)
class Ways:
    """All answers about one focus word, and a sentence for each way that this model or text does not allow."""

    found: tuple[Way, ...]
    problems: tuple[str, ...]

    def sizes(self, name: str) -> Array | None:
        """One way's answer; None where it is missing."""
        return next((way.sizes for way in self.found if way.name == name), None)


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked: which word of which text, and the words that may matter to it, as runs of tokens."""

    trace: Trace
    request: TraceRequest
    focus: Run
    words: tuple[Run, ...]

    @property
    def given(self) -> dict[str, Any]:
        """The fields that every question to the backend has."""
        asked = self.request
        return {"model": asked.model, "revision": asked.revision, "text": asked.text, "pair": asked.pair,
                "cut": asked.cut}  # fmt: skip

    def by_word(self, values: Array) -> Array:
        """Rows of the focus's tokens (query, key), or one row (key,), as one size a word: mean over the focus's pieces,
        sum over each word's."""
        row = values if values.ndim == 1 else values[slice(*self.focus)].mean(axis=0)
        return over_words(row, self.words)


def ask(question: Question) -> Ways:
    """Every way in turn, with a bar and a way to stop."""
    maps_only = not question.trace.has_qkv()
    steps = [step for step in _steps(question) if not (maps_only and step[0] in INSIDE)]
    found: dict[str, list[Array]] = {}
    problems: dict[str, str] = {}
    if maps_only:
        problems[NORMS] = (
            f"{question.trace.model.architecture} computes attention in its own way, which gives no values and cannot"
            f" be changed from outside: {NORMS.lower()}, {ZEROING.lower()} and {EFFECT.lower()} are missing."
        )
    mark = f"agreement:{question.request.key}:{question.focus}"
    for at in stoppable(mark, len(steps), "Asking the model"):
        name, step = steps[at]
        if name in problems:
            continue
        try:
            answer = step()
        except Refusal as refusal:
            problems[name] = f"{name} is missing: {refusal.message}"
        else:
            found.setdefault(name, []).append(answer)
    whole = {name: arrays for name, arrays in found.items() if name != ZEROING or len(arrays) == question.trace.layers}
    ways = tuple(Way(name, _sizes(question, name, arrays)) for name, arrays in whole.items())
    return Ways(ways, tuple(problems.values()))


def _sizes(question: Question, name: str, arrays: Sequence[Array]) -> Array:
    """What was answered, in one or several steps, as one size a word."""
    if name == EFFECT:  # whole words were left out, so there is nothing to sum; rounding may fall below zero
        sizes: Array = np.maximum(arrays[0], 0)
        return sizes
    values = zeroing_rollout(np.stack(arrays)) if name == ZEROING else arrays[0]
    by_word: Array = np.abs(question.by_word(values))
    return by_word


def _steps(question: Question) -> Sequence[tuple[str, Callable[[], Array]]]:
    """(way, how to ask) in the order of the figure's rows; value zeroing asks about one layer at a time."""
    given = {**question.given, "focus": question.focus}

    def told(kind: type[Any], **more: Any) -> Callable[[], Array]:
        return lambda: backend().inspect(kind(**given, **more)).values

    return [
        ("Attention", lambda: mean_maps(question.trace)[-1]),
        ("Rollout", lambda: rollout(with_residual(mean_maps(question.trace)))),
        ("Flow", told(FlowToWord)),
        (NORMS, lambda: _norms(question)),
        *((ZEROING, told(ZeroedValues, layer=layer)) for layer in range(question.trace.layers)),
        ("Gradients", told(WordGradients)),
        ("Integrated gradients", lambda: _path(given)),
        (EFFECT, told(WithoutWords, words=question.words)),
    ]


def _path(given: dict[str, Any]) -> Array:
    """Integrated gradients; raises Refusal where their steps do not add up to the path."""
    told = backend().inspect(WordPath(**given))
    if abs(told.missed) > MOST_MISSED * abs(told.rise):
        raise Refusal(
            f"The path from zero rises by {told.rise:.2f}, and its {WordPath.steps} steps add up to"
            f" {told.rise + told.missed:.2f}: the model changes too fast on the way to be added up in steps. The row is"
            f" shown where they come within {MOST_MISSED:.0%}."
        )
    return told.values


def _norms(question: Question) -> Array:
    trace, last = question.trace, question.trace.layers - 1
    layer = backend().inspect(LayerQuestion(**question.given, part=trace.part, layer=last))
    record: Any = trace.records()[last]
    mean: Array = norms_of(record, layer.wiring.output, slice(*question.focus)).mean(axis=0)
    return mean
