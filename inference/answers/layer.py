"""One layer's attention taken apart: its input, its own matrices, its output, and proof that they belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from attention.record import Record
from attention.steps import walk
from attention.trace import PART_NAMES
from inference.answers.assembly import Parts, Puzzle, assemble
from inference.answers.inputs import read, tensors
from inference.answers.projections import rotaries
from inference.answers.watch import Watch, watching
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.questions.layer import LayerAnswer, LayerQuestion
from inference.record import records, smallest_input, spans
from inference.record.call import part_names
from inference.record.edits import call_of, heads_of
from inference.record.interface import recording
from inference.record.layer_modules import block_of
from wording import said_by, sentence

COMPARED = 512  # tokens at most whose way is computed again; of a longer text, the last ones
WRONG = 1e-3  # of the largest number: a difference that no rounding explains


def answer(loaded: Loaded, question: LayerQuestion) -> LayerAnswer:
    """The layer's parts for that text; raises Refusal where they cannot be found or do not make the layer's output."""
    if not loaded.records:
        raise _refusal(loaded, sentence("is computed in code of its own, which gives finished maps only"))
    reading = read(loaded, question.text, question.pair, question.cut)
    inputs = tensors(loaded, reading)
    if question.target:
        inputs["decoder_input_ids"] = torch.tensor([question.target])
    with refusing(
        sentence(
            "{name} failed while one of its layers was looked at. Change the text or the model.", name=loaded.id.name
        )
    ):
        record, watch = run(loaded.model, inputs, question.part, question.layer)
    try:
        parts = assemble(record, watch, rotaries(loaded.model), factors(record))
    except Puzzle as puzzle:
        raise _refusal(loaded, said_by(puzzle)) from puzzle
    return _checked(loaded, reading.ids, parts, record)


def run(model: Any, inputs: dict[str, Any], part: str, layer: int) -> tuple[Record, Watch]:
    """One forward pass with that layer's block watched; raises Refusal for a layer that there is not."""
    with recording() as tape:
        model(**smallest_input.inputs(model))
    names = part_names(model, tape.calls)
    places = [at for at, name in enumerate(names) if name == part]
    layers = len(heads_of(model).get(part, ()))
    if not 0 <= layer < layers:
        raise Refusal(
            sentence(
                "Layer {layer} of the part “{part}” was asked for; this model has {layers} there.",
                layer=layer,
                part=PART_NAMES.get(part, part),
                layers=layers,
            )
        )
    place = places[call_of(model, part, layer)]
    path = block_of(tape.calls[place].path)
    with recording() as tape, watching(model.get_submodule(path), path, tape, place) as watch:
        model(**inputs)
    [found] = records.parts(model, tape.calls, inputs, spans.both_spans(inputs, None, None))
    record = found[part][layer]
    assert isinstance(record, Record)
    return record, watch


def factors(record: Record) -> tuple[float, ...]:
    """What queries may be multiplied with instead of scores, in models whose recorded scale is 1."""
    return (1.0, float(record.query.shape[2]) ** -0.5)


def _checked(loaded: Loaded, ids: tuple[int, ...], parts: Parts, record: Record) -> LayerAnswer:
    """The answer, once the walk has led to the model's own output."""
    rows = np.arange(max(0, len(parts.stream) - COMPARED), len(parts.stream))
    away = np.abs(walk(parts.wiring, record, parts.stream, parts.memory, rows).last - parts.output[rows])
    size = float(np.abs(parts.output[rows]).max())
    if not away.max() <= WRONG * max(size, 1e-3):
        raise _refusal(loaded, sentence("does not come out the same when it is put together again from its weights"))
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


def _refusal(loaded: Loaded, what: str) -> Refusal:
    return Refusal(
        sentence(
            "The attention of {architecture} {what}, so its steps cannot be shown one by one. "
            "Pick a model such as BERT or GPT-2.",
            architecture=loaded.id.architecture,
            what=what,
        )
    )
