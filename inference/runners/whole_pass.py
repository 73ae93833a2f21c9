"""Every stage of one pass: what it computes, of what, and how far numpy's result is from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from i18n import gettext_lazy
from inference.anatomy.numpy_pass import Seen, compute
from inference.anatomy.program import MASKED, Array, FunctionCall, header, required_calls
from inference.anatomy.stages import last_stage, stages
from inference.anatomy.watched_pass import blocks, watch
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.runners.anatomy import side_of
from inference.runners.blanks import display_pieces
from inference.runners.inputs import read, tensors
from inference.task_heads import CLASSES
from inference.tasks.model_request import Answer
from inference.tasks.whole_pass import PassOverview, PassRequest, Stage, WholePass

# What a head that judges two texts tells apart, by the ending of its class; the second is ALBERT's, of their order.
JUDGED = {
    "ForNextSentencePrediction": (gettext_lazy("the second follows"), gettext_lazy("the second is from elsewhere")),
    "ForPreTraining": (gettext_lazy("in their order"), gettext_lazy("swapped")),
}
LONGEST = 512  # tokens: every weight of every head is computed, n² numbers each


def answer(loaded: LoadedModel, question: WholePass) -> PassOverview:
    """The stages; raises Refusal for a text that is too long and for a model whose layers are not told apart."""
    ids, given = prepare_inputs(loaded, question)
    with as_user_error(
        gettext_lazy("{name} failed while its pass was taken apart. Change the text or the model.", name=loaded.id.name)
    ):
        spread: dict[int, Array] = {}
        calls, found = taken_apart(loaded.model, loaded.id.kind, given, partial(_note, spread))
    kept = {stage.number: spread[stage.number] for stage in found}
    last = f"v{last_stage(calls).number}"
    whole = f"{header(loaded, question.model, given)}{program(calls)}print({last})  # what the pass ends with\n"
    return PassOverview(ids, found, kept, whole, last)


def _note(spread: dict[int, Array], call: FunctionCall, _args: Any, _named: Any, result: Tensor) -> None:
    """The root mean square of what a call gives each token; what a mask set is left out."""
    if call.fractions:
        rows = result if result.ndim > 1 else result.reshape(1, -1)
        flat = rows.movedim(-2, 0).flatten(1).clamp(-MASKED, MASKED)
        real = flat.abs() < MASKED
        spread[call.number] = ((flat * real).square().sum(1) / real.sum(1).clamp(min=1)).sqrt().numpy()


def program(calls: Sequence[FunctionCall]) -> str:
    """The lines of PyTorch that lead to the last stage."""
    return "".join(f"{call.line}\n" for call in required_calls(last_stage(calls)))


def prepare_inputs(loaded: LoadedModel, question: PassRequest[Answer]) -> tuple[tuple[int, ...], dict[str, Tensor]]:
    """The ids that the model reads, and what it is called with."""
    reading = read(loaded, question.text, question.pair, question.cut)
    if max(len(reading.ids), len(question.target)) > LONGEST:
        raise UserError(
            gettext_lazy(
                "The text has {tokens} tokens; a whole pass is taken apart for up to {longest}. Shorten it.",
                tokens=len(reading.ids),
                longest=LONGEST,
            ),
            way_out="text",
        )
    given = tensors(loaded, reading)
    if loaded.id.kind == "encoder-decoder":
        if not question.target:
            raise UserError(
                gettext_lazy(
                    "{name} has two sides, and there is no text that its second one reads. Give one.",
                    name=loaded.id.name,
                )
            )
        given["decoder_input_ids"] = torch.tensor([question.target])
    return reading.ids, given


def taken_apart(
    model: Any, kind: str, given: Mapping[str, Tensor], seen: Seen | None = None
) -> tuple[list[FunctionCall], tuple[Stage, ...]]:
    """The calls of a pass, and its stages."""
    layers = blocks(model, watch(model))
    if not layers:
        raise UserError(
            gettext_lazy(
                "The layers of {name} cannot be told apart, so its pass is not shown.", name=type(model).__name__
            )
        )
    paths = {block.path: block.stack for block in layers}
    calls = compute(model, given, paths, seen, _probabilities)
    sides = {block.stack: side_of(block, kind) for block in layers}
    return calls, stages(model, calls, layers, sides)


def run_calls(model: Any, given: Mapping[str, Tensor], seen: Seen) -> None:
    """Show every call of a pass, from the first to the probabilities, without computing any anew."""
    compute(model, given, {}, seen, _probabilities, formulas={})


def _probabilities(output: Any) -> None:
    """What a head's scores become, computed in the same pass; a model without a head ends with its last state."""
    scores = next((output[name] for name in ("logits", "sop_logits") if output.get(name) is not None), None)
    if scores is not None:
        torch.softmax(scores, -1)


def names_of(loaded: LoadedModel, told: Sequence[int], count: int) -> Sequence[str] | None:
    """What the last ``count`` numbers are for: pieces of the vocabulary, or the classes that a model was taught."""
    model = loaded.model
    head = model.get_output_embeddings()
    if head is not None and count == head.weight.shape[0]:
        return display_pieces(loaded, told)
    if type(model).__name__.endswith(tuple(CLASSES.values())) and count == model.config.num_labels:
        return [str(model.config.id2label[one]) for one in told]
    judges = next((JUDGED[ending] for ending in JUDGED if type(model).__name__.endswith(ending)), None)
    return [judges[one] for one in told] if judges is not None and count == len(judges) else None
