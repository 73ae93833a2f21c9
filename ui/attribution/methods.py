"""Attribution of a token's vector, or of a predicted label, to the words of the text, by several methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.agreement import mean_maps, norms_of, over_words, rollout, shares, with_residual, zeroing_rollout
from attention.edits import MaskKey
from attention.mask import FloatArray
from attention.trace import Trace
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.tasks.answers import BOTH, END, START, SpanGradients, SpanPath
from inference.tasks.attribution import (
    FlowToWord,
    Run,
    WithoutWords,
    WordGradients,
    WordPath,
    WordScores,
    ZeroedValues,
)
from inference.tasks.edit_effects import LabelEffects, Sets, SpanEffects
from inference.tasks.labels import LabelGradients, LabelPath
from inference.tasks.whole_pass import LayerQuestion
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from viz.paper.notebook import Computation

ATTENTION, ROLLOUT, FLOW = gettext_lazy("Attention"), gettext_lazy("Attention rollout"), gettext_lazy("Attention flow")
EFFECT, ZEROING, NORMS = gettext_lazy("Ablated"), gettext_lazy("Value zeroing rollout"), gettext_lazy("Norms")
GRADIENTS, PATH = gettext_lazy("Gradient"), gettext_lazy("Integrated gradients")
INSIDE = (EFFECT, ZEROING, NORMS)  # Methods that need value vectors or edits inside the attention.
MOST_MISSED = 0.05  # Maximum relative completeness error of integrated gradients.


@dataclass(frozen=True, eq=False)
class Attribution:
    """The score of each word by an attribution method, shape (word,).

    A score is the influence of the word on a vector or on the logit of the explained label. A negative score means that
    the word lowers the logit. Scores for a vector are not negative.
    """

    name: str
    values: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """Return the absolute scores, shape (word,)."""
        sizes: FloatArray = np.abs(self.values)
        return sizes


@dataclass(frozen=True, eq=False)
class AttributionSet:
    """The attributions of all available methods, and a sentence for each method that is not available."""

    attributions: tuple[Attribution, ...]
    problems: tuple[str, ...]

    def values(self, name: str) -> FloatArray | None:
        """Return the scores of a method, shape (word,), or None if the method is missing."""
        return next((way.values for way in self.attributions if way.name == name), None)


@dataclass(frozen=True)
class TargetLabel:
    """A predicted label whose logit is explained.

    ``number`` is the index of the label. ``at`` is the index of the token that the model tags with the label, or None
    for a label of the whole text.
    """

    number: int
    at: int | None = None


@dataclass(frozen=True)
class TargetSpan:
    """The predicted answer to explain, from token ``first`` to token ``last``.

    ``ends`` selects the explained logits: of the start, of the end, or their sum (inference.tasks.answers).
    """

    first: int
    last: int
    ends: str = BOTH

    def score(self, values: FloatArray) -> FloatArray:
        """Return the explained logit (start, end, or the sum of both) for each edit set, (set, 2) -> (set,).

        >>> values = np.array([[1.0, 2.0]])
        >>> [TargetSpan(3, 4, ends).score(values).tolist() for ends in (BOTH, START, END)]
        [[3.0], [1.0], [2.0]]
        """
        found: FloatArray = values.sum(axis=1) if self.ends == BOTH else values[:, (START, END).index(self.ends)]
        return found


@dataclass(frozen=True, eq=False)
class AttributionRequest:
    """A request for attributions to the ``words`` of a text, which are spans of tokens.

    By default, the attributions explain the vector of the span ``focus``. If ``label`` is given, they explain the logit
    of a label or an answer, and ``focus`` is the span that the task head reads.
    """

    trace: Trace
    request: TraceRequest
    focus: Run
    words: tuple[Run, ...]
    label: TargetLabel | TargetSpan | None = None

    @property
    def model_fields(self) -> dict[str, Any]:
        """Return the fields that are the same in all model requests of the attribution methods."""
        asked = self.request
        return {"model": asked.model, "revision": asked.revision, "text": asked.text, "pair": asked.pair,
                "cut": asked.cut}  # fmt: skip

    def by_word(self, values: FloatArray) -> FloatArray:
        """Reduce scores of tokens to a score for each word, (query, key) or (key,) -> (word,).

        A matrix is averaged over the queries in ``focus``. The score of a word is the sum over its tokens.
        """
        row = values if values.ndim == 1 else values[slice(*self.focus)].mean(axis=0)
        return over_words(row, self.words)


def compute_attributions(question: AttributionRequest) -> AttributionSet:
    """Compute all attribution methods one after another, with a progress bar and a stop button."""
    maps_only = not question.trace.has_qkv()
    steps = [step for step in _steps(question) if not (maps_only and step[0] in INSIDE)]
    found: dict[str, list[FloatArray]] = {}
    problems: dict[str, str] = {}
    if maps_only:
        problems[NORMS] = _(
            "{architecture} computes attention in its own code, without norms, value zeroing and ablation.",
            architecture=question.trace.model.architecture,
        )
    mark = f"ways:{question.request.key}:{question.focus}:{question.label}"
    for at in stoppable_steps(mark, len(steps), _("Running the model")):
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
    """Return the scores of a method for each word, shape (word,); signed if a label is explained."""
    if name == EFFECT:  # The scores are by word already; rounding can make a score slightly negative.
        return arrays[0] if question.label else np.maximum(arrays[0], 0)
    by_word = question.by_word(zeroing_rollout(np.stack(arrays)) if name == ZEROING else arrays[0])
    return by_word if question.label else np.abs(by_word)


def _steps(question: AttributionRequest) -> Sequence[tuple[str, Callable[[], FloatArray]]]:
    """Return (method, function) pairs in the order of the figure's rows.

    Value zeroing has a pair for each layer; the rollout of all layers gives its scores.
    """
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


def _about_label(
    question: AttributionRequest, target: TargetLabel | TargetSpan
) -> Sequence[tuple[str, Callable[[], FloatArray]]]:
    layers = question.trace.attending()
    without = [tuple(MaskKey(layer, key) for layer in layers for key in range(*word)) for word in question.words]

    def left_out() -> FloatArray:
        numbers = _target_numbers(question, target, ((), *without))
        falls: FloatArray = numbers[0] - numbers[1:]
        return falls

    given = question.model_fields
    if isinstance(target, TargetSpan):
        given |= {"first": target.first, "last": target.last, "ends": target.ends}
        gradients: Any = SpanGradients(**given)
        path: Any = SpanPath(**given)
    else:
        given |= {"at": target.at, "label": target.number}
        gradients, path = LabelGradients(**given), LabelPath(**given)
    return [
        (GRADIENTS, lambda: get_backend().predict(gradients).values),
        (PATH, lambda: _path(get_backend().predict(path))),
        (EFFECT, left_out),
    ]


def _target_numbers(question: AttributionRequest, target: TargetLabel | TargetSpan, edits: Sets) -> FloatArray:
    """Return the logit of a label, or the explained logits of an answer, under each edit set, shape (set,)."""
    given = question.model_fields
    if isinstance(target, TargetSpan):
        asked = SpanEffects(**given, first=target.first, last=target.last, edits=edits)
        return target.score(get_backend().predict(asked).values)
    return get_backend().predict(LabelEffects(**given, at=target.at, edits=edits)).values[:, target.number]


def _path(told: WordScores) -> FloatArray:
    """Return the integrated gradients, shape (token,).

    Raise UserError if the sum of the gradients differs from the change along the path by more than MOST_MISSED of
    the change.
    """
    if abs(told.missed) > MOST_MISSED * abs(told.rise):
        raise UserError(
            gettext_lazy(
                "From zero to the input, the output rises by {rise:.2f}, but {steps} integration steps sum "
                "to {sum:.2f}. They may differ by at most {most:.0%}.",
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


# The code of a notebook for each method.
SCORES: dict[str, str] = {
    ATTENTION: "by_word(mean_maps(trace)[-1])",
    ROLLOUT: "by_word(rollout(with_residual(mean_maps(trace))))",
    FLOW: "by_word(backend.inspect(FlowToWord(**given, focus=focus)).values)",
    NORMS: "by_word(norms_of(trace.records()[last], layer.wiring.output, slice(*focus)).mean(axis=0))",
    ZEROING: "by_word(zeroing_rollout(zeroed))",
    GRADIENTS: "by_word(backend.inspect(WordGradients(**given, focus=focus)).values)",
    PATH: "by_word(backend.inspect(WordPath(**given, focus=focus)).values)",
    EFFECT: "np.maximum(backend.inspect(WithoutWords(**given, focus=focus, words=words)).values, 0)",
}
BY_WORD = """\
trace = backend.trace(request)

def by_word(values):
    row = values if values.ndim == 1 else values[slice(*focus)].mean(axis=0)
    return np.abs(over_words(row, words))
"""
BEFORE: dict[str, str] = {  # lines that a method needs
    NORMS: "last = trace.attending()[-1]\n"
    "layer = backend.inspect(LayerQuestion(**given, part=trace.part, layer=last))\n",
    ZEROING: "asked = [ZeroedValues(**given, focus=focus, layer=layer) for layer in trace.attending()]\n"
    "zeroed = np.stack([backend.inspect(one).values for one in asked])\n",
}
USED = (mean_maps, norms_of, over_words, rollout, shares, with_residual, zeroing_rollout, FlowToWord, WithoutWords,
        WordGradients, WordPath, ZeroedValues, LayerQuestion)  # fmt: skip


def shares_computation(question: AttributionRequest, ways: AttributionSet) -> Computation:
    """Return notebook code for each word's share of a vector's attribution, shape (method, word).

    The rows are the methods in ``ways``, and each row sums to one.
    """
    names = [way.name for way in ways.attributions]
    before = "".join(lines for name, lines in BEFORE.items() if name in names)
    scores = "".join(f"    {SCORES[name]},\n" for name in names)
    code = f"{BY_WORD}\n{before}scores = [\n{scores}]\nnumbers = shares(np.stack(scores))"
    used = {one.__name__: one for one in USED}
    return Computation(
        code, request=question.request, given=question.model_fields, focus=question.focus, words=question.words, **used
    )
