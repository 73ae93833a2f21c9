"""Positional information of a model (tables, angles, biases, slopes), and a test of word order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attention.mask import FloatArray, Mask
from attention.positions import differences, halves, permute_map, sinusoidal
from attention.record import AnyRecord, Record, first_attending
from i18n import gettext_lazy
from inference.anatomy.positions import (
    ADDED,
    BIAS,
    TURNED,
    PositionTensor,
    places,
    remove_positions,
    slopes,
    source_side,
)
from inference.errors import UserError, as_user_error, too_many_tokens
from inference.load.length_limits import position_limit
from inference.loaded_model import LoadedModel
from inference.record import capture
from inference.record.records import numpy
from inference.runners.blanks import read, tensors
from inference.tasks.positions import (
    MOST,
    ROUNDING,
    Bias,
    OrderPass,
    OrderRequest,
    OrderTest,
    Positions,
    PositionsRequest,
    PositionTable,
    RotaryAngles,
)
from inference.text.encoding import Encoding

LONGEST_TRIED = 10_000  # tokens; no longer text is built only to obtain its error message
SINE = 1e-3  # largest difference between a sinusoidal table and its formula; some tables are in half precision


def answer(loaded: LoadedModel, _question: PositionsRequest) -> Positions:
    """Return the position tables, rotary angles, biases and slopes of the model."""
    model = loaded.model
    found = source_side(places(model))
    mine = {kind: [place for place in found if place.kind == kind] for kind in (ADDED, TURNED, BIAS)}
    known = {id(place) for group in mine.values() for place in group}
    alibi = slopes(model)
    return Positions(
        model=loaded.id.name,
        architecture=loaded.id.architecture,
        kind=loaded.id.kind,
        tables=tuple(_table(place) for place in mine[ADDED]),
        # Falcon builds rotary angles even if it uses ALiBi.
        rotary=()
        if alibi is not None
        else tuple(_rotary(place, model.config.get_text_config()) for place in mine[TURNED]),
        biases=tuple(_bias(place, model.config) for place in mine[BIAS]),
        slopes=None if alibi is None else numpy(alibi),
        others=tuple(f"{place.path}.{place.name}".lstrip(".") for place in found if id(place) not in known),
        trained=position_limit(model, loaded.reader.tokenizer),
        refusal=_refusal(loaded),
    )


def _table(place: PositionTensor) -> PositionTable:
    vectors = _copy_array(place.tensor[place.first :])
    layout, error = _sines(vectors, "Sinusoidal" in type(place.owner).__name__)
    return PositionTable(place.path, vectors, layout, error)


def _sines(vectors: FloatArray, stated: bool) -> tuple[str, float | None]:
    """Return the layout of a table that equals the paper's formula, and its largest error.

    The layout is "other" for a different sinusoidal table and "" for any other table.
    """
    positions, dimensions = vectors.shape
    if dimensions % 2:
        return ("other" if stated else ""), None
    formula = sinusoidal(positions, dimensions)
    errors = {
        "interleaved": float(np.abs(vectors - formula).max()),
        "halves": float(np.abs(vectors - halves(formula)).max()),
    }
    layout = min(errors, key=lambda name: errors[name])
    if errors[layout] <= SINE:
        return layout, errors[layout]
    return ("other", errors[layout]) if stated else ("", None)


def _rotary(place: PositionTensor, config: Any) -> RotaryAngles:
    layers = place.name.removesuffix("inv_freq").rstrip("_")
    stated = getattr(config, "rope_parameters", None) or {}
    settings: Mapping[str, Any] = stated.get(layers) or {} if layers else stated
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    theta = settings.get("rope_theta")
    return RotaryAngles(
        path=place.path,
        layers=layers,
        frequencies=_copy_array(place.tensor),
        theta=None if theta is None else float(theta),
        scaling=str(settings.get("rope_type", "default")),
        width=int(width),
    )


def _bias(place: PositionTensor, config: Any) -> Bias:
    return Bias(
        path=place.path,
        values=_copy_array(place.tensor),
        farthest=int(getattr(config, "relative_attention_max_distance", 128)),
        both_ways=not getattr(config, "is_decoder", False),
    )


def _copy_array(tensor: Any) -> FloatArray:
    """Return a copy, so that a stored answer keeps no model in memory."""
    return numpy(tensor.detach().clone())


def _refusal(loaded: LoadedModel) -> str:
    """Return the error message for a text that is longer than the positions by a token, or ""."""
    trained = position_limit(loaded.model, loaded.reader.tokenizer)
    if trained is None or loaded.limit != trained or trained > LONGEST_TRIED:
        return ""
    try:
        loaded.reader.read("a " * (trained + 1), None, loaded.limit)
    except UserError as refusal:
        return refusal.message
    return ""


def compare_orders(loaded: LoadedModel, question: OrderRequest) -> OrderTest:
    """Return the attention maps of a text and of its reordered tokens, with and without positions.

    The maps without positions must be reordered like the tokens; if masks depend on positions, this must hold for the
    unmasked scores of the first layer. Raise UserError if it does not hold, if the text is too long, or if the model's
    positions cannot be removed.
    """
    reading = read(loaded, question.text, question.pair, question.cut)
    _check(reading, question.order)
    if slopes(loaded.model) is not None or not places(loaded.model):
        raise _fixed_positions_error(loaded)
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        part, having = _pass(loaded, loaded.model, reading, question.order)
        model, done = remove_positions(loaded.model)
        _, lacking = _pass(loaded, model, reading, question.order)
    masks, unmasked = _masks(part, lacking.text), _unmasked_deviation(lacking, question.order)
    off = unmasked if masks else float(lacking.differences.max())
    if off is not None and off > ROUNDING * (_size(lacking) if masks else 1):
        raise _fixed_positions_error(loaded)
    return OrderTest(part, question.order, having, lacking, done, masks, unmasked)


def _check(reading: Encoding, order: Sequence[int]) -> None:
    tokens = len(reading.ids)
    if tokens > MOST:
        raise too_many_tokens(tokens, MOST)
    if sorted(order) != list(range(tokens)):
        raise UserError(
            f"The order of {tokens} tokens names each of them once, from 0 to {tokens - 1}; this one does not."
        )


def _fixed_positions_error(loaded: LoadedModel) -> UserError:
    return UserError(
        gettext_lazy(
            "{architecture} computes positions in its own code, so they cannot be removed. Try BERT.",
            architecture=loaded.id.architecture,
        ),
        way_out="embedded",
    )


def _pass(loaded: LoadedModel, model: Any, reading: Encoding, order: Sequence[int]) -> tuple[str, OrderPass]:
    """Return the stack and the maps of both orders, from a forward pass with or without positions."""
    inputs = tensors(loaded, reading, reading.pick(order))
    if loaded.id.kind == "encoder-decoder":  # the decoder needs an input, but only the encoder is compared
        inputs["decoder_input_ids"] = inputs["input_ids"][:, :1]
    text, mixed = capture.record_parts(model, inputs)
    part = next(name for name in ("encoder", "decoder") if name in text)
    found = differences(text[part], mixed[part], order)
    found.setflags(write=False)
    return part, OrderPass(text[part], mixed[part], found)


def _masks(part: str, records: Sequence[AnyRecord]) -> tuple[str, ...]:
    """Return the masks that depend on positions: "causal", "window" or both."""
    kinds = ["causal"] if part == "decoder" else []
    masks = [record.mask for record in records if isinstance(record, Record)]
    if any(mask.left is not None or mask.right is not None or mask.allowed is not None for mask in masks):
        kinds.append("window")
    return tuple(kinds)


def _unmasked_deviation(lacking: OrderPass, order: Sequence[int]) -> float | None:
    """Return the largest deviation of the first layer's unmasked scores from the permuted scores.

    Return None if scores are not recorded.
    """
    here, there = first_attending(lacking.text), first_attending(lacking.mixed)
    if not isinstance(here, Record) or not isinstance(there, Record):
        return None
    free = Mask(here.queries, here.keys)
    return max(
        float(np.abs(_scores(there, free, head) - permute_map(_scores(here, free, head), order)).max())
        for head in range(here.heads)
    )


def _scores(record: Record, mask: Mask, head: int) -> Any:
    return replace(record, mask=mask).scores(head)


def _size(lacking: OrderPass) -> float:
    """Return the largest score of the first layer, at least 1, as the reference for rounding."""
    first = first_attending(lacking.text)
    if not isinstance(first, Record):
        return 1.0
    free = Mask(first.queries, first.keys)
    return max(1.0, *(float(np.abs(_scores(first, free, head)).max()) for head in range(first.heads)))
