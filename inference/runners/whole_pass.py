"""All stages of a pass: the formula and inputs of each, and the deviation of its NumPy result."""

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
from inference.runners.blanks import display_pieces, read, tensors
from inference.task_heads import CLASSES
from inference.tasks.model_request import Answer
from inference.tasks.whole_pass import PassOverview, PassRequest, Stage, WholePass

# Outcomes of a head that judges two texts, by the suffix of its class; the second suffix is ALBERT's sentence order.
JUDGED = {
    "ForNextSentencePrediction": (gettext_lazy("the second follows"), gettext_lazy("the second is from elsewhere")),
    "ForPreTraining": (gettext_lazy("in their order"), gettext_lazy("swapped")),
}
LONGEST = 512  # tokens; every head's map of tokens² weights is computed


def answer(loaded: LoadedModel, question: WholePass) -> PassOverview:
    """Return the stages; raise UserError if the text is too long or the layers cannot be identified."""
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
    """Store the root mean square of a call's result for each token, without masked values."""
    if call.fractions:
        rows = result if result.ndim > 1 else result.reshape(1, -1)
        flat = rows.movedim(-2, 0).flatten(1).clamp(-MASKED, MASKED)
        real = flat.abs() < MASKED
        spread[call.number] = ((flat * real).square().sum(1) / real.sum(1).clamp(min=1)).sqrt().numpy()


def program(calls: Sequence[FunctionCall]) -> str:
    """Return the lines of PyTorch that lead to the last stage."""
    return "".join(f"{call.line}\n" for call in required_calls(last_stage(calls)))


def prepare_inputs(loaded: LoadedModel, question: PassRequest[Answer]) -> tuple[tuple[int, ...], dict[str, Tensor]]:
    """Return the token ids and the inputs of the model.

    Raise UserError if the text is too long, or if an encoder-decoder has no target text.
    """
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
    """Return the calls of a pass and its stages; raise UserError if the layers cannot be identified."""
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
    """Pass every call to ``seen``, from the first to the probabilities, without recomputing any in NumPy."""
    compute(model, given, {}, seen, _probabilities, formulas={})


def _probabilities(output: Any) -> None:
    """Compute the softmax of the head's scores in the same pass; a model without a head has none."""
    scores = next((output[name] for name in ("logits", "sop_logits") if output.get(name) is not None), None)
    if scores is not None:
        torch.softmax(scores, -1)


def names_of(loaded: LoadedModel, told: Sequence[int], count: int) -> Sequence[str] | None:
    """Return the names of some entries of a result of ``count`` numbers, or None if they have no names.

    The names are tokens of the vocabulary or classes of the head.
    """
    model = loaded.model
    head = model.get_output_embeddings()
    if head is not None and count == head.weight.shape[0]:
        return display_pieces(loaded, told)
    if type(model).__name__.endswith(tuple(CLASSES.values())) and count == model.config.num_labels:
        return [str(model.config.id2label[one]) for one in told]
    judges = next((JUDGED[ending] for ending in JUDGED if type(model).__name__.endswith(ending)), None)
    return [judges[one] for one in told] if judges is not None and count == len(judges) else None
