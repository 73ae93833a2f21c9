"""The computation of the attribution methods of a word's vector, for notebooks."""

from __future__ import annotations

from attention.agreement import mean_maps, norms_of, over_words, rollout, shares, with_residual, zeroing_rollout
from inference.tasks.attribution import FlowToWord, WithoutWords, WordGradients, WordPath, ZeroedValues
from inference.tasks.whole_pass import LayerQuestion
from ui.attribution.methods import (
    ATTENTION,
    EFFECT,
    FLOW,
    GRADIENTS,
    NORMS,
    PATH,
    ROLLOUT,
    ZEROING,
    AttributionRequest,
    AttributionSet,
)
from viz.paper.notebook import Computation

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
    """Return the computation of each word's share by each method of ``ways``, (method, word), for a vector."""
    names = [way.name for way in ways.attributions]
    before = "".join(lines for name, lines in BEFORE.items() if name in names)
    scores = "".join(f"    {SCORES[name]},\n" for name in names)
    code = f"{BY_WORD}\n{before}scores = [\n{scores}]\nnumbers = shares(np.stack(scores))"
    used = {one.__name__: one for one in USED}
    return Computation(
        code, request=question.request, given=question.model_fields, focus=question.focus, words=question.words, **used
    )
