"""Extraction of position tables, angles, biases and slopes from a model's weights and configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attention.mask import FloatArray
from attention.positions import halves, sinusoidal
from inference.anatomy.positions import ADDED, BIAS, TURNED, PositionTensor, places, slopes, source_side
from inference.errors import UserError
from inference.load.length_limits import position_limit
from inference.loaded_model import LoadedModel
from inference.record.records import numpy
from inference.tasks.positions import Bias, Positions, PositionsRequest, PositionTable, RotaryAngles

LONGEST_TRIED = 10_000  # tokens; no longer text is built only to obtain its error message
SINE = 1e-3  # largest difference between a sinusoidal table and its formula; some tables are in half precision


def answer(loaded: LoadedModel, _question: PositionsRequest) -> Positions:
    """Return all position information of the model."""
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
