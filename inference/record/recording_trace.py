"""A trace of a sample of a recording, and a recording as arrays with labelled axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.external_maps import with_content_id
from attention.record import AnyRecord, MapRecord
from attention.tokens import TokenRow
from attention.trace import PARTS, ModelId, Trace
from inference.errors import UserError
from inference.record.attention_call import Pair, both_spans
from inference.record.kept_call import KeptCall
from inference.record.recorder import KeptPass, PassStore
from inference.record.records import record_of

SAMPLE = "sample={sample} came; this recording has samples 0 to {last}."
GAPS = (
    "These calls do not continue one another, so they have no common trace. Pass call= with the number of a call, from "
    "0 to {last}."
)
STEP = "Call {call} is a step of a generation and reads {queries} of {keys} tokens. Leave call out for all steps."
Namer = Callable[[Sequence[int | None]], tuple[TokenRow, str]]  # from token ids, None if unknown, to tokens and text


def trace_sample(store: PassStore, passes: Sequence[KeptPass], sample: int, name_tokens: Namer) -> Trace:
    """Build the trace of a sample, without padding, from a pass or from the steps of a generation.

    ``passes`` are the passes of ``store`` to use. The layers contain queries, keys and values if a single pass with
    values was kept. Otherwise they contain attention maps only. ``name_tokens`` converts token ids to tokens. Raise
    UserError if a pass does not continue the pass before it.
    """
    last = passes[0].calls[0].shape[0] - 1
    if isinstance(sample, bool) or not 0 <= sample <= last:
        raise UserError(SAMPLE.format(sample=sample, last=last))
    spans, inputs = _spans_of(passes)
    parts: dict[str, tuple[AnyRecord, ...]] = {}
    for part in PARTS:
        layers = _layers_of(passes, part)
        if layers:
            parts[part] = tuple(_record(steps, part, sample, spans, len(passes) - 1) for steps in layers)
    rows, texts = {}, {}
    for side, name in _sides(store, inputs).items():
        count = _count(parts, side)
        rows[side], texts[side] = name_tokens(_ids(inputs.get(name), sample, spans[side == "target"], count))
    kind = "encoder-decoder" if store.two or "cross" in parts else next(iter(parts))
    return with_content_id(
        Trace(
            id="",
            model=ModelId(store.name, None, kind, store.architecture),
            text=texts["source"],
            pair=None,
            source=rows["source"],
            target=rows.get("target"),
            parts=parts,
            target_text=texts.get("target"),
        )
    )


def _sides(store: PassStore, inputs: Mapping[str, Tensor]) -> dict[str, str]:
    """Return the name of the input with the token ids of each side."""
    if "encoder_hidden_states" in inputs and not store.two:
        return {"source": "", "target": "input_ids"}
    return {"source": "input_ids"} | ({"target": "decoder_input_ids"} if store.two else {})


def _count(parts: Mapping[str, Sequence[AnyRecord]], side: str) -> int:
    """Return the number of tokens of a side of a trace."""
    places = {
        "source": (("encoder", "keys"), ("cross", "keys"), ("decoder", "keys")),
        "target": (("decoder", "keys"), ("cross", "queries")),
    }
    return next(int(getattr(parts[part][0], axis)) for part, axis in places[side] if part in parts)


def _ids(ids: Tensor | None, sample: int, spans: Any, count: int) -> list[int | None]:
    """Return the ids of a sample's real tokens, or None for each token if the model got no ids."""
    if ids is None or ids.ndim != 2:
        return [None] * count
    row = ids[sample]
    found: list[int | None] = [int(number) for number in (row if spans is None else row[spans.cut(sample, len(row))])]
    return found if len(found) == count else [None] * count


def _spans_of(passes: Sequence[KeptPass]) -> tuple[Pair, dict[str, Tensor]]:
    """Return the spans of real tokens of source and target, and the joined inputs of all passes."""
    inputs = dict(passes[-1].inputs)
    for name in ("input_ids", "decoder_input_ids"):
        found = [kept.inputs[name] for kept in passes if name in kept.inputs]
        if found:
            inputs[name] = torch.cat(found, 1) if name == "decoder_input_ids" or _grows(passes) else found[0]
    for name in ("attention_mask", "encoder_attention_mask"):
        if name not in inputs and name in passes[0].inputs:
            inputs[name] = passes[0].inputs[name]
    masks = {name: mask for name, mask in inputs.items() if name.endswith("_mask")}
    usable = {name: value for name, value in inputs.items() if name not in masks or value.ndim == 2}
    return both_spans(usable, None, None), inputs


def _grows(passes: Sequence[KeptPass]) -> bool:
    """Return True if the passes are steps of a model with a single text."""
    return not any("decoder_input_ids" in kept.inputs for kept in passes)


def _layers_of(passes: Sequence[KeptPass], part: str) -> list[list[KeptCall]]:
    """Return the calls of each layer of a stack, in the order of the passes."""
    by_pass = [[call for call, stack in zip(kept.calls, kept.stacks, strict=True) if stack == part] for kept in passes]
    found = [calls for calls in by_pass if calls]
    if len({len(calls) for calls in found}) > 1:
        raise UserError(GAPS.format(last=len(passes) - 1))
    return [list(steps) for steps in zip(*found, strict=True)]


def _record(steps: Sequence[KeptCall], part: str, sample: int, spans: Pair, last: int) -> AnyRecord:
    first = steps[0]
    if len(steps) == 1 and first.value is not None:
        return record_of(first.whole(), part, sample, spans)
    _, heads, _, _ = first.shape
    keys, queries = steps[-1].length, sum(step.shape[2] for step in steps)
    if part != "cross" and (steps[-1].length != queries or any(step.length > keys for step in steps)):
        raise UserError(
            STEP.format(call=last, queries=queries, keys=keys) if len(steps) == 1 else GAPS.format(last=last)
        )
    maps, row = np.zeros((heads, queries, keys), np.float32), 0
    for step in steps:
        found = step.weights([sample], range(heads), range(step.shape[2]))[0].cpu().numpy()
        maps[:, row : row + step.shape[2], : step.length] = found
        row += step.shape[2]
    rows = spans[0] if part == "encoder" else spans[1]
    cols = spans[1] if part == "decoder" else spans[0]
    cut = [
        slice(None) if side is None else side.cut(sample, length) for side, length in ((rows, queries), (cols, keys))
    ]
    return MapRecord(np.ascontiguousarray(maps[:, cut[0], cut[1]]))
