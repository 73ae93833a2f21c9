"""The ways of telling which words matter: to a word's vector, or to a label. Each is asked of the model or read off its
trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.agreement import mean_maps, norms_of, over_words, rollout, with_residual, zeroing_rollout
from attention.edits import MaskKey
from attention.mask import FloatArray
from attention.trace import Trace
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.tasks.edit_effects import LabelEffects
from inference.tasks.labels import LabelGradients, LabelPath
from inference.tasks.layer import LayerQuestion
from inference.tasks.word_influence import (
    FlowToWord,
    Run,
    WithoutWords,
    WordGradients,
    WordPath,
    WordScores,
    ZeroedValues,
)
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend

ATTENTION, ROLLOUT, FLOW = gettext_lazy("Attention"), gettext_lazy("Rollout"), gettext_lazy("Flow")
EFFECT, ZEROING, NORMS = gettext_lazy("Left out"), gettext_lazy("Value zeroing"), gettext_lazy("Norms")
GRADIENTS, PATH = gettext_lazy("Gradients"), gettext_lazy("Integrated gradients")
INSIDE = (EFFECT, ZEROING, NORMS)  # what needs values, or changes inside the attention
MOST_MISSED = 0.05  # of the path, beyond which the steps of integrated gradients add up to something else


@dataclass(frozen=True, eq=False)
class Attribution:
    """One way's answer, (word,). Below zero is what speaks against a label; of a vector nothing does."""

    name: str
    values: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """How large each word's part is, (word,)."""
        sizes: FloatArray = np.abs(self.values)
        return sizes


@dataclass(frozen=True, eq=False)
class AttributionSet:
    """All answers to one question, and a sentence for each way that this model or text does not allow."""

    attributions: tuple[Attribution, ...]
    problems: tuple[str, ...]

    def values(self, name: str) -> FloatArray | None:
        """One way's answer; None where it is missing."""
        return next((way.values for way in self.attributions if way.name == name), None)


@dataclass(frozen=True)
class TargetLabel:
    """A label that is explained: its number, of the text or of the word that token ``at`` carries the tag of."""

    number: int
    at: int | None = None


@dataclass(frozen=True, eq=False)
class AttributionRequest:
    """What is asked: which word of which text, and the words that may matter to it, as runs of tokens.

    With a ``label``, whatever asks about an answer asks about its logit; ``focus`` is then what the head reads.
    """

    trace: Trace
    request: TraceRequest
    focus: Run
    words: tuple[Run, ...]
    label: TargetLabel | None = None

    @property
    def model_fields(self) -> dict[str, Any]:
        """The fields that every question to the backend has."""
        asked = self.request
        return {"model": asked.model, "revision": asked.revision, "text": asked.text, "pair": asked.pair,
                "cut": asked.cut}  # fmt: skip

    def by_word(self, values: FloatArray) -> FloatArray:
        """Rows of the focus's tokens (query, key), or one row (key,), as one size a word: mean over the focus's pieces,
        sum over each word's."""
        row = values if values.ndim == 1 else values[slice(*self.focus)].mean(axis=0)
        return over_words(row, self.words)


def compute_attributions(question: AttributionRequest) -> AttributionSet:
    """Every way in turn, with a bar and a way to stop."""
    maps_only = not question.trace.has_qkv()
    steps = [step for step in _steps(question) if not (maps_only and step[0] in INSIDE)]
    found: dict[str, list[FloatArray]] = {}
    problems: dict[str, str] = {}
    if maps_only:
        problems[NORMS] = _(
            "{architecture} computes attention in its own way, which gives no values and cannot"
            " be changed from outside: norms, value zeroing and left out are missing.",
            architecture=question.trace.model.architecture,
        )
    mark = f"ways:{question.request.key}:{question.focus}:{question.label}"
    for at in stoppable_steps(mark, len(steps), _("Asking the model")):
        name, step = steps[at]
        if name in problems:
            continue
        try:
            answer = step()
        except UserError as refusal:
            problems[name] = _("{way} is missing: {why}", way=name, why=refusal.message)
        else:
            found.setdefault(name, []).append(answer)
    attending = len(question.trace.attending())
    whole = {name: arrays for name, arrays in found.items() if name != ZEROING or len(arrays) == attending}
    ways = tuple(Attribution(name, _by_word(question, name, arrays)) for name, arrays in whole.items())
    return AttributionSet(ways, tuple(problems.values()))


def _by_word(question: AttributionRequest, name: str, arrays: Sequence[FloatArray]) -> FloatArray:
    """What was answered, in one or several steps, as one number a word; signed where it is about a label."""
    if name == EFFECT:  # whole words were left out, so there is nothing to sum; rounding may fall below zero
        return arrays[0] if question.label else np.maximum(arrays[0], 0)
    by_word = question.by_word(zeroing_rollout(np.stack(arrays)) if name == ZEROING else arrays[0])
    return by_word if question.label else np.abs(by_word)


def _steps(question: AttributionRequest) -> Sequence[tuple[str, Callable[[], FloatArray]]]:
    """(way, how to ask) in the order of the figure's rows; value zeroing asks about one layer at a time."""
    given = {**question.model_fields, "focus": question.focus}

    def inspect_values(kind: type[Any], **more: Any) -> Callable[[], FloatArray]:
        return lambda: get_backend().inspect(kind(**given, **more)).values

    return [
        (ATTENTION, lambda: mean_maps(question.trace)[-1]),
        (ROLLOUT, lambda: rollout(with_residual(mean_maps(question.trace)))),
        (FLOW, inspect_values(FlowToWord)),
        (NORMS, lambda: _norms(question)),
        *((ZEROING, inspect_values(ZeroedValues, layer=layer)) for layer in question.trace.attending()),
        *(
            _about_vector(question, inspect_values, given)
            if question.label is None
            else _about_label(question, question.label)
        ),
    ]


def _about_vector(
    question: AttributionRequest, told: Callable[..., Callable[[], FloatArray]], given: dict[str, Any]
) -> Sequence[tuple[str, Callable[[], FloatArray]]]:
    return [
        (GRADIENTS, told(WordGradients)),
        (PATH, lambda: _path(get_backend().inspect(WordPath(**given)))),
        (EFFECT, told(WithoutWords, words=question.words)),
    ]


def _about_label(question: AttributionRequest, label: TargetLabel) -> Sequence[tuple[str, Callable[[], FloatArray]]]:
    given = {**question.model_fields, "at": label.at}
    layers = question.trace.attending()
    without = [tuple(MaskKey(layer, key) for layer in layers for key in range(*word)) for word in question.words]

    def left_out() -> FloatArray:
        logits = get_backend().predict(LabelEffects(**given, edits=((), *without))).values[:, label.number]
        falls: FloatArray = logits[0] - logits[1:]
        return falls

    return [
        (GRADIENTS, lambda: get_backend().predict(LabelGradients(**given, label=label.number)).values),
        (PATH, lambda: _path(get_backend().predict(LabelPath(**given, label=label.number)))),
        (EFFECT, left_out),
    ]


def _path(told: WordScores) -> FloatArray:
    """Integrated gradients; raises Refusal where their steps do not add up to the path."""
    if abs(told.missed) > MOST_MISSED * abs(told.rise):
        raise UserError(
            gettext_lazy(
                "The path from zero rises by {rise:.2f}, and its {steps} steps add up to"
                " {sum:.2f}: the model changes too fast on the way to be added up in steps. The row is"
                " shown where they come within {most:.0%}.",
                rise=told.rise,
                steps=WordPath.steps,
                sum=told.rise + told.missed,
                most=MOST_MISSED,
            )
        )
    return told.values


def _norms(question: AttributionRequest) -> FloatArray:
    trace, last = question.trace, question.trace.attending()[-1]
    layer = get_backend().inspect(LayerQuestion(**question.model_fields, part=trace.part, layer=last))
    record: Any = trace.records()[last]
    mean: FloatArray = norms_of(record, layer.wiring.output, slice(*question.focus)).mean(axis=0)
    return mean
