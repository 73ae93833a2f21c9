"""Recording a forward pass: every attention's queries, keys and values, or its finished maps, as numpy.

A model is loaded once with the attention called NAME, readied once with ``prepare``, and then recorded from any number
of threads with ``record``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface, AutoModel
from transformers.masking_utils import sdpa_mask

from attention.edits import Edit
from attention.record import AnyRecord
from inference.pictures.families import tower
from inference.record import fallback, growing, records, smallest_input, spans
from inference.record.call import part_names
from inference.record.edits import HEADS, editing
from inference.record.interface import PATH, Tape, attend, recording
from inference.record.layer_modules import note_layers
from inference.stops import Stop, ending

__all__ = ["NAME", "Recording", "implementation", "install", "prepare", "record", "record_parts", "recording"]

log = logging.getLogger(__name__)

NAME = "headlight"
RECORDS = "_headlight_records"  # on a prepared model: whether its queries, keys and values can be recorded
WHOLE = {"encoder", "decoder", "cross"}  # the parts of a model with two sides
# What foreign forward passes are known to raise on an input they cannot read.
BROKEN = (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError)


@dataclass(frozen=True, eq=False)
class Recording:
    """One forward pass over a batch. Arrays in ``parts`` are numpy, float32, read-only and free of padding."""

    parts: Sequence[Mapping[str, tuple[AnyRecord, ...]]]  # a dict for each sample: "encoder", "decoder", "cross"
    output: Any  # the model's own, whole batch, torch: logits or last hidden states


def install() -> None:
    """Make the attention function known to transformers; without the mask function padding would be ignored."""
    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)


def implementation(config: Any) -> str:
    """What to load an architecture with: NAME, or "eager" for those whose code knows a fixed list of names only."""
    try:
        with torch.device("meta"):
            AutoModel.from_config(config, attn_implementation=NAME)
    except KeyError:
        return "eager"
    return NAME


def prepare(model: Any) -> bool:
    """Ready a loaded model; whether queries, keys and values can be recorded, or only finished maps.

    A model with two sides that hands over one of them only counts as maps only. Raises ValueError for what is no
    transformers model, cannot read a tiny input, or has no attention that can be shown as maps of its tokens.
    """
    if not hasattr(model, "config") or not hasattr(model, "main_input_name"):
        raise ValueError(
            f"{type(model).__name__} came, but a model of the transformers library was expected. "
            f'Load one with AutoModel.from_pretrained(..., attn_implementation="{NAME}").'
        )
    model.eval()
    model.requires_grad_(False)
    model.config.use_cache = False  # a whole text needs none, and with one FSMT leaves out its causal mask
    for path, module in model.named_modules():
        setattr(module, PATH, path)
    given = smallest_input.inputs(model)
    with ending(Stop()):  # what is found of a model is found for all who ask, whoever has gone meanwhile
        found = _recordable(model, given)
        if not found:
            _prepare_maps(model, given)
    setattr(model, RECORDS, found)
    return found


def _recordable(model: Any, given: dict[str, Tensor]) -> bool:
    """Whether a first forward pass hands over every part; raises ValueError when it hands over pieces of maps."""
    try:
        with recording() as tape:
            model(**given)
    except BROKEN as error:  # some count on the masks of eager attention, and work with these
        log.info("%s does not run with recorded attention: %s", type(model).__name__, error)
        return False
    parts = part_names(model, tape.calls)
    names = set(parts)
    found = names >= WHOLE if getattr(model.config, "is_encoder_decoder", False) else bool(names)
    if found:
        heads = [call.query.shape[1] for call in tape.calls]
        by_part = {part: [n for n, name in zip(heads, parts, strict=True) if name == part] for part in parts}
        setattr(model, HEADS, by_part)
        note_layers(model, tape.calls, parts)
        if len(by_part) == 1:
            growing.prepare(model, [call.path for call in tape.calls], given)
        records.parts(model, tape.calls, given, (None, None))
    return found


def _prepare_maps(model: Any, given: dict[str, Tensor]) -> None:
    try:
        fallback.prepare(model, given)
    except fallback.NoMaps:
        raise
    except BROKEN as error:
        raise ValueError(
            f"{type(model).__name__} failed on a tiny input: {error}. Its weights and its configuration may not fit."
        ) from error


def record(  # noqa: PLR0913  # what a pass is given, and how long each side of it is
    model: Any,
    inputs: dict[str, Tensor],
    lengths: list[int] | None = None,
    target_lengths: list[int] | None = None,
    largest: int = fallback.LARGEST,
    edits: Sequence[Sequence[Edit]] = (),
) -> Recording:
    """One forward pass over a batch, recorded.

    ``lengths`` and ``target_lengths`` say how many tokens each right-padded sample has; attention masks in ``inputs``
    say it for padding on either side, and where both are given they must agree. ``largest`` bounds the bytes of one
    text's finished maps, for architectures that give nothing else.
    ``edits`` has those of each sample (inference.record.edits). Raises ValueError for a model that is not prepared,
    lengths that do not fit, and texts that are too long.
    """
    if not hasattr(model, RECORDS):
        raise ValueError(f"{type(model).__name__} is not prepared. Call capture.prepare(model) once after loading it.")
    both = spans.both_spans(inputs, lengths, target_lengths)
    inputs = spans.with_mask(inputs, lengths)
    if not getattr(model, RECORDS) and not any(edits):
        return Recording(*fallback.parts(model, inputs, both, largest))
    with editing(model, edits), recording(Tape(expected=_attentions(model))) as tape:
        output = tower(model, inputs)(**inputs)
    return Recording(records.parts(model, tape.calls, inputs, both), output)


def _attentions(model: Any) -> int:
    """How many attentions a pass through all layers computes; 0 where that is not known."""
    return sum(map(len, getattr(model, HEADS, {}).values()))


def record_parts(
    model: Any,
    inputs: dict[str, Tensor],
    lengths: list[int] | None = None,
    target_lengths: list[int] | None = None,
    edits: Sequence[Sequence[Edit]] = (),
) -> Sequence[Mapping[str, tuple[AnyRecord, ...]]]:
    """``record`` without the model's output: for each sample its records by part."""
    return record(model, inputs, lengths, target_lengths, edits=edits).parts
