"""Longformer's and LED's maps equal the formula: a window, global columns, and global rows of their own projections."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from attention.mask import FloatArray
from attention.record import MapRecord
from inference.record import capture
from tests.support.architectures import build, inputs, named

capture.install()
HALF = 2  # of the window of 4
GLOBAL = {"none": (), "first": (0,), "two": (0, 5)}


def projected(attention: Any, model: Any, given: Any) -> Any:
    """Queries and keys of the first layer and their global twins, (head, token, channel), by name."""
    found = {}
    names = ("query", "key", "query_global", "key_global")

    def keep(name: str, _module: Any, _given: Any, output: Any) -> None:
        found[name] = output.clone()  # the model scales its queries in place

    handles = [getattr(attention, name).register_forward_hook(partial(keep, name)) for name in names]
    with torch.inference_mode():
        model(**given)
    [handle.remove() for handle in handles]
    return found


def by_hand(found: Any, sample: Any, real: Any, marked: Any) -> FloatArray:
    """Attention of the first layer by the formula, (head, query, key)."""
    heads = {name: vectors[:, sample].reshape(len(vectors), 3, 8).transpose(0, 1) for name, vectors in found.items()}
    scores = heads["query"] @ heads["key"].transpose(1, 2) / 8**0.5
    places = torch.arange(scores.shape[1])
    near = (places[:, None] - places[None, :]).abs() <= HALF
    marks = torch.zeros(len(places), dtype=torch.bool)
    marks[real[torch.tensor(marked, dtype=torch.long)]] = True
    allowed = near | marks[None, :]
    if marked:
        # The model projects global queries of the global tokens only, in order, padded to the most there are.
        rows = heads["query_global"][:, : len(marked)]
        scores[:, marks] = rows @ heads["key_global"].transpose(1, 2) / 8**0.5
        allowed = allowed | marks[:, None]
    known = torch.zeros(len(places), dtype=torch.bool)
    known[real] = True
    weights = scores.masked_fill(~(allowed & known[None, :]), -torch.inf).softmax(-1)
    maps: FloatArray = weights[:, real][:, :, real].numpy()
    return maps


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("marked", GLOBAL.values(), ids=GLOBAL)
@pytest.mark.parametrize("name", ["Longformer", "LED"])
def test_bands_become_the_maps_of_the_formula(name: str, marked: Any, side: str) -> None:
    row = named(name)
    model = build(row, capture.NAME)
    assert not capture.prepare(model)
    given = inputs(row, (7, 10), side)
    mask = given["attention_mask"]
    real = [sample.nonzero().flatten() for sample in mask]
    if marked:
        given["global_attention_mask"] = torch.zeros_like(mask)
        for sample, places in enumerate(real):
            # One text has fewer global tokens than the other, so that the reported columns are padded.
            given["global_attention_mask"][sample, places[list(marked[: sample + 1])]] = 1
    encoder = model.encoder
    layer = encoder.layers[0].self_attn.longformer_self_attn if name == "LED" else encoder.layer[0].attention.self
    found = projected(layer, model, given)
    for sample, parts in enumerate(capture.record_parts(model, given)):
        expected = by_hand(found, sample, real[sample], marked[: sample + 1])
        record = parts["encoder"][0]
        assert isinstance(record, MapRecord)
        np.testing.assert_allclose(record.maps, expected, atol=1e-6)
