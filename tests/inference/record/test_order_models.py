"""The order test on models: without positions, a map is permuted with its tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from attention.positions import differences, permute_map
from attention.record import Record
from inference.anatomy.positions import places, remove_positions
from inference.record import capture
from tests.support.architectures import EVERY_RECORDED, MAPS_ONLY, Architecture, build, inputs, named
from tests.support.cases import loop_over

capture.install()
ORDER = (0, 4, 2, 6, 1, 3, 5)
WINDOWED = ("ModernBERT", "Longformer", "LED")  # A window of a few tokens distinguishes positions.
READERS = [
    row
    for row in (*EVERY_RECORDED, *MAPS_ONLY)
    if row.kind in ("encoder", "encoder-decoder") and row.name not in ("CLIP, text", "XLNet", *WINDOWED)
]
WRITERS = [row for row in EVERY_RECORDED if row.kind == "decoder"]


def both(model: Any, row: Architecture) -> Any:
    """Return the records of a text and of its tokens in ORDER, for the part that reads the text."""
    given = inputs(row)
    mixed = {name: tensor if name.startswith("decoder") else tensor[:, list(ORDER)] for name, tensor in given.items()}
    batch = {name: torch.cat([given[name], mixed[name]]) for name in given}
    text, other = capture.record_parts(model, batch)
    part = "encoder" if "encoder" in text else "decoder"
    return text[part], other[part]


def ready(row: Architecture) -> Any:
    model = build(row, capture.NAME)
    capture.prepare(model)
    return model


@pytest.mark.slow
@loop_over("row", READERS, ids=[row.name for row in READERS])
def test_without_positions_the_map_follows_the_tokens(row: Any) -> None:
    model = ready(row)
    before = {name: tensor.clone() for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    twin, done = remove_positions(model)
    text, moved = both(twin, row)
    lacking = differences(text, moved, ORDER)
    assert lacking.max() <= 1e-5
    assert done
    # With positions it does not, and the shared model is unchanged.
    text, moved = both(model, row)
    assert differences(text, moved, ORDER).max() > 0.02
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.named_parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.named_buffers())


def test_a_window_still_tells_places_apart() -> None:
    row = named("ModernBERT")
    twin, _ = remove_positions(ready(row))
    text, mixed = both(twin, row)
    found = differences(text, mixed, ORDER)
    assert [record.mask.left for record in text] == [None, 2, 2]  # Every third layer has global attention.
    assert found[0].max() <= 1e-5
    assert found[1].max() > 0.02


@loop_over("row", WRITERS, ids=[row.name for row in WRITERS])
def test_a_causal_mask_still_tells_places_apart(row: Any) -> None:
    twin, _ = remove_positions(ready(row))
    text, mixed = both(twin, row)
    assert differences(text, mixed, ORDER).max() > 0.02
    # Only the mask differs: in the first layer the unmasked scores are permuted with the tokens.
    for head in range(text[0].heads):
        here, there = unmasked(text[0], head), unmasked(mixed[0], head)
        np.testing.assert_allclose(there, permute_map(here, ORDER), atol=1e-5 * max(1, np.abs(here).max()))


def unmasked(record: Any, head: int) -> Any:
    """Return the unmasked scores of a head, shape (query, key)."""
    assert isinstance(record, Record)
    return (record.query[head] * record.scale) @ record.key[record.kv_head(head)].T


@pytest.mark.parametrize("name", ["XLNet", "BLOOM", "MPT"])
def test_positions_made_in_code_are_not_found(name: str) -> None:
    assert places(ready(named(name))) == []


@loop_over(
    ("name", "first", "path"),
    [
        ("BERT", 0, "embeddings.position_embeddings"),
        ("RoBERTa", 2, "embeddings.position_embeddings"),
        ("BART", 2, "encoder.embed_positions"),
        ("M2M100", 1, "encoder.embed_positions"),
        ("OPT", 2, "decoder.embed_positions"),
        ("GPT-2", 0, "wpe"),
    ],
)
def test_the_first_token_s_row_is_the_one_that_the_model_gives_it(name: str, first: int, path: str) -> None:
    """A change of that row of the position table changes the first token's queries only."""
    row = named(name)
    model = ready(row)
    place = next(place for place in places(model) if place.path == path)
    assert place.first == first
    text = capture.record_parts(model, inputs(row))[0]
    place.tensor[first] += torch.arange(24)  # The layer norm would remove a constant change.
    moved = capture.record_parts(model, inputs(row))[0]
    part = "encoder" if "encoder" in text else "decoder"
    before, after = text[part][0], moved[part][0]
    assert isinstance(before, Record)
    assert isinstance(after, Record)
    changed = np.abs(before.query - after.query).max(axis=(0, 2)) > 1e-6
    assert changed.tolist() == [True] + [False] * 6
