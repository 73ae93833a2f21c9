"""The order test: a text in two orders of its tokens, run with positions and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attention.mask import Mask
from attention.positions import differences, permute_map
from attention.record import AnyRecord, Record, first_attending
from i18n import gettext_lazy
from inference.anatomy.positions import places, remove_positions, slopes
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record import capture
from inference.runners.blanks import read, tensors
from inference.tasks.positions import MOST, ROUNDING, OrderPass, OrderRequest, OrderTest
from inference.text.encoding import Encoding


def answer(loaded: LoadedModel, question: OrderRequest) -> OrderTest:
    """Return the maps of both orders, with and without positions.

    Raise UserError if the text is too long, if the model's positions cannot be removed, or if the maps do not
    follow the order after all known positions are removed.
    """
    reading = read(loaded, question.text, question.pair, question.cut)
    _check(reading, question.order)
    if slopes(loaded.model) is not None or not places(loaded.model):
        raise _fixed_positions_error(loaded)
    with as_user_error(
        gettext_lazy(
            "{name} failed while reading this text. Change the text or pick another model.", name=loaded.id.name
        )
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
        raise UserError(
            gettext_lazy(
                "The order test compares every head's whole map, up to {most} tokens; this text has {tokens:,}."
                " Shorten it, or let the first {most} be read only.",
                most=MOST,
                tokens=tokens,
            ),
            way_out="cut",
            details={"tokens": tokens, "limit": MOST},
        )
    if sorted(order) != list(range(tokens)):
        raise UserError(
            gettext_lazy(
                "The order of {tokens} tokens names each of them once, from 0 to {last}; this one does not.",
                tokens=tokens,
                last=tokens - 1,
            )
        )


def _fixed_positions_error(loaded: LoadedModel) -> UserError:
    return UserError(
        gettext_lazy(
            "{architecture} works out where tokens stand in code of its own, so its positions cannot be taken"
            " away from outside. Pick a model with a table of positions, rotary positions or a bias by distance, such"
            " as BERT.",
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
