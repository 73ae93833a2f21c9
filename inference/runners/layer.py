"""The attention of a layer, step by step: its input, weight matrices and output, checked on a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from attention.record import Record
from attention.trace import PART_NAMES
from attention.walkthrough import trace_layer_steps
from i18n import error_message, gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record import attention_call, fidelity_check, records
from inference.record.attention_call import part_names
from inference.record.attention_function import record_attention
from inference.record.edit_hooks import call_of, heads_of
from inference.record.records import block_of
from inference.runners.blanks import read, tensors
from inference.runners.layer_parts import (
    AttentionParts,
    BlockRecorder,
    UnsupportedAttention,
    assemble,
    rotaries,
    watch_block,
)
from inference.tasks.whole_pass import LayerAnswer, LayerQuestion

COMPARED = 512  # number of tokens that are recomputed, the last tokens of a longer text
WRONG = 1e-3  # relative to the largest number: a larger difference is not due to rounding


def answer(loaded: LoadedModel, question: LayerQuestion) -> LayerAnswer:
    """Return the parameters of a layer's attention, and its input and output for a text.

    Raise UserError if the parameters cannot be found, or do not reproduce the layer's output.
    """
    if not loaded.records:
        raise _refusal(loaded, gettext_lazy("is computed in its own code"))
    reading = read(loaded, question.text, question.pair, question.cut)
    inputs = tensors(loaded, reading)
    if question.target:
        inputs["decoder_input_ids"] = torch.tensor([question.target])
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        record, watch = run(loaded.model, inputs, question.part, question.layer)
    try:
        parts = assemble(record, watch, rotaries(loaded.model), factors(record))
    except UnsupportedAttention as puzzle:
        raise _refusal(loaded, error_message(puzzle)) from puzzle
    return _verify_layer(loaded, reading.ids, parts, record)


def run(model: Any, inputs: dict[str, Any], part: str, layer: int) -> tuple[Record, BlockRecorder]:
    """Run a forward pass; return a layer's attention record, and the recorder of its modules' calls.

    ``part`` is the stack of the layer. Raise UserError if there is no such layer.
    """
    with record_attention() as tape:
        model(**fidelity_check.inputs(model))
    names = part_names(model, tape.calls)
    places = [at for at, name in enumerate(names) if name == part]
    layers = len(heads_of(model).get(part, ()))
    if not 0 <= layer < layers:
        raise UserError(
            gettext_lazy(
                "There is no {what}: the {part} has {has}, counted from 0. Pick another.",
                what=gettext_lazy("layer {layer}", layer=layer),
                part=PART_NAMES.get(part, part),
                has=layers or gettext_lazy("no such part"),
            )
        )
    place = places[call_of(model, part, layer)]
    path = block_of(tape.calls[place].path)
    with record_attention() as tape, watch_block(model.get_submodule(path), path, tape, place) as watch:
        model(**inputs)
    [found] = records.parts(model, tape.calls, inputs, attention_call.both_spans(inputs, None, None))
    record = found[part][layer]
    assert isinstance(record, Record)
    return record, watch


def factors(record: Record) -> tuple[float, ...]:
    """Return the constants by which a model may have multiplied its queries before the dot products.

    They are 1 and 1/√d, with d channels in a head.
    """
    return (1.0, float(record.query.shape[2]) ** -0.5)


def _verify_layer(loaded: LoadedModel, ids: tuple[int, ...], parts: AttentionParts, record: Record) -> LayerAnswer:
    """Return the answer if the recomputed steps reproduce the model's own output; else raise UserError."""
    rows = np.arange(max(0, len(parts.stream) - COMPARED), len(parts.stream))
    away = np.abs(trace_layer_steps(parts.wiring, record, parts.stream, parts.memory, rows).last - parts.output[rows])
    size = float(np.abs(parts.output[rows]).max())
    if not away.max() <= WRONG * max(size, 1e-3):
        raise _refusal(loaded, gettext_lazy("differs from the recomputation"))
    for array in (parts.stream, parts.memory, parts.output, *parts.wiring.arrays()):
        if array is not None:
            array.setflags(write=False)
    return LayerAnswer(
        ids=ids,
        stream=parts.stream,
        memory=parts.memory,
        wiring=parts.wiring,
        output=parts.output,
        names=parts.names,
        largest=float(away.max()),
        mean=float(away.mean()),
        size=size,
        compared=len(rows),
    )


def _refusal(loaded: LoadedModel, what: str) -> UserError:
    return UserError(
        gettext_lazy(
            "The attention of {architecture} {what}. Try BERT or GPT-2.",
            architecture=loaded.id.architecture,
            what=what,
        )
    )
