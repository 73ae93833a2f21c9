"""Maps of Longformer and LED against the formula: windows, global columns and global rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch

from attention.mask import FloatArray
from attention.record import MapRecord
from inference.record import capture
from tests.support.architectures import build, inputs, named
from tests.support.cases import loop_over

capture.install()
HALF = 2  # Half of the window of 4 tokens.
GLOBAL = {"none": (), "first": (0,), "two": (0, 5)}


def projected(attention: Any, model: Any, given: Any) -> Any:
    """Return the outputs of the first layer's local and global query and key projections, by name."""
    found = {}
    names = ("query", "key", "query_global", "key_global")

    def keep(name: str, _module: Any, _given: Any, output: Any) -> None:
        found[name] = output.clone()  # The model scales its queries in place, so they are copied.

    handles = [getattr(attention, name).register_forward_hook(partial(keep, name)) for name in names]
    with torch.inference_mode():
        model(**given)
    [handle.remove() for handle in handles]
    return found


def by_hand(found: Any, sample: Any, real: Any, marked: Any) -> FloatArray:
    """Compute the attention of the first layer by the formula, shape (head, query, key)."""
    heads = {name: vectors[:, sample].reshape(len(vectors), 3, 8).transpose(0, 1) for name, vectors in found.items()}
    scores = heads["query"] @ heads["key"].transpose(1, 2) / 8**0.5
    places = torch.arange(scores.shape[1])
    near = (places[:, None] - places[None, :]).abs() <= HALF
    marks = torch.zeros(len(places), dtype=torch.bool)
    marks[real[torch.tensor(marked, dtype=torch.long)]] = True
    allowed = near | marks[None, :]
    if marked:
        # The model projects global queries of the global tokens only, in order and padded to the largest number.
        rows = heads["query_global"][:, : len(marked)]
        scores[:, marks] = rows @ heads["key_global"].transpose(1, 2) / 8**0.5
        allowed = allowed | marks[:, None]
    known = torch.zeros(len(places), dtype=torch.bool)
    known[real] = True
    weights = scores.masked_fill(~(allowed & known[None, :]), -torch.inf).softmax(-1)
    maps: FloatArray = weights[:, real][:, :, real].numpy()
    return maps


@loop_over("side", ["right", "left"])
@loop_over("marked", GLOBAL.values(), ids=GLOBAL)
@loop_over("name", ["Longformer", "LED"])
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
            # The texts differ in their number of global tokens, so that the reported columns are padded.
            given["global_attention_mask"][sample, places[list(marked[: sample + 1])]] = 1
    encoder = model.encoder
    layer = encoder.layers[0].self_attn.longformer_self_attn if name == "LED" else encoder.layer[0].attention.self
    found = projected(layer, model, given)
    for sample, parts in enumerate(capture.record_parts(model, given)):
        expected = by_hand(found, sample, real[sample], marked[: sample + 1])
        record = parts["encoder"][0]
        assert isinstance(record, MapRecord)
        np.testing.assert_allclose(record.maps, expected, atol=1e-6)
