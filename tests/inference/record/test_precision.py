"""Errors of the weights against float64, never larger than those of eager attention."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from inference.files import embedded
from inference.record import capture
from tests.inference.record.test_capture import recorded, weights
from tests.support.architectures import EVERY_RECORDED, Architecture, inputs
from tests.support.cases import loop_over
from tests.support.traces import by_hand

capture.install()


@pytest.mark.slow
@loop_over("size", [1, 40])
@loop_over("row", EVERY_RECORDED, ids=[row.name for row in EVERY_RECORDED])
def test_no_weight_is_further_from_float64_than_eager_s(row: Architecture, size: float) -> None:
    """The queries and keys are the same, with the original scores and with large scores."""
    for records in recorded(row, inputs(row, (5, 9)))[0].values():
        for found in records:
            record = replace(found, query=found.query * np.float32(size))
            for head in range(record.heads):
                exact = by_hand(record, head)
                ours, other = (np.abs(weights - exact) for weights in (record.weights(head), in_float32(record, head)))
                assert (ours <= other + 1e-12).all()


def in_float32(record: Any, head: int) -> Any:
    """Compute eager attention of a record's queries and keys in torch's float32, shape (query, key)."""
    query, key = (torch.tensor(vectors) for vectors in (record.query[head], record.key[record.kv_head(head)]))
    scores = query @ key.T * record.scale
    if record.softcap is not None:
        scores = torch.tanh(scores / record.softcap) * record.softcap
    if record.bias is not None:
        scores = scores + torch.tensor(record.bias[head % len(record.bias)])
    allowed = record.mask.block(slice(None), slice(None))
    if allowed is not None:
        scores = scores.masked_fill(~torch.tensor(allowed), -torch.inf)
    if record.sinks is None:
        return scores.softmax(-1).numpy()
    sink = torch.full((len(scores), 1), float(record.sinks[head]))
    return torch.cat([scores, sink], dim=-1).softmax(-1)[:, :-1].numpy()


@pytest.mark.slow
@pytest.mark.parametrize("text", ["word " * 400, "The animal did not cross the street because it was too tired."])
def test_a_real_model_s_maps_are_no_further_from_float64_than_eager_s(text: str) -> None:
    """The reference is the whole model in float64, so both distances include the rounding of earlier layers."""
    folder, implementations = str(embedded.folder()), {"ours": capture.NAME, "eager": "eager", "exact": "eager"}
    given = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt", return_token_type_ids=False)
    maps = {}
    for name, implementation in implementations.items():
        kind = torch.float64 if name == "exact" else torch.float32
        model = AutoModel.from_pretrained(folder, attn_implementation=implementation, dtype=kind)
        if name == "ours":
            assert capture.prepare(model)
            maps[name] = np.stack(weights(capture.record_parts(model, dict(given))))
        else:
            with torch.inference_mode():
                maps[name] = torch.cat(model.eval()(**given, output_attentions=True).attentions, dim=1)[0].numpy()
    ours, other = (np.abs(maps[name] - maps["exact"]).max() for name in ("ours", "eager"))
    assert ours <= other
    np.testing.assert_allclose(maps["ours"].sum(axis=-1), 1, rtol=0, atol=1e-6)
