"""Traces of pictures: weights equal eager attention, and tokens are at the positions of the grid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attention.agreement import mean_maps, rollout, rollout_row, with_residual
from attention.storage import dump, parse
from attention.trace import Trace
from attention.view import View
from inference import LocalBackend, TraceRequest, UserError
from inference.record import capture, fidelity_check
from inference.settings import Settings
from tests.support.architectures import build
from tests.support.cases import loop_over
from tests.support.picturemodels import PATCH, SIGHTS, Sight, picture, save, sight

TOLERANCE = 3e-6


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def backend(models: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(models,)))


def asked(models: Path, row: Sight, **options: Any) -> TraceRequest:
    folder = models / row.model_type
    if not folder.exists():
        save(row, folder)
    return TraceRequest(model=str(folder), **options)


def eager(request: TraceRequest, backend: LocalBackend) -> Any:
    """Return transformers' eager attention for the same picture, an array (head, query, key) per layer."""
    assert request.picture is not None
    eye = backend.loaded(request.model, None).eye
    assert eye is not None
    seen = eye.read(request.picture, request.side)
    model = transformers.AutoModel.from_pretrained(request.model, attn_implementation="eager").eval()
    model = getattr(model, "vision_model", model) if hasattr(model.config, "vision_config") else model
    with torch.inference_mode():
        pixels = torch.from_numpy(seen.pixels.copy())[None]
        return [layer[0].numpy() for layer in model(pixels, output_attentions=True, **seen.options).attentions]


def whole(trace: Trace, layer: int) -> Any:
    return np.stack([trace.weights(layer, head) for head in range(trace.heads)])


@pytest.mark.slow
@loop_over("side", [None, 41], ids=["own", "whole"])
@loop_over("row", SIGHTS, ids=[row.name for row in SIGHTS])
def test_weights_equal_eager_attention(backend: LocalBackend, models: Path, row: Sight, side: int | None) -> None:
    request = asked(models, row, picture=picture(), side=side)
    trace, expected = backend.trace(request), eager(request, backend)
    assert (trace.layers, trace.heads, list(trace.parts)) == (2, 3, ["encoder"])
    for layer, maps in enumerate(expected):
        np.testing.assert_allclose(whole(trace, layer), maps, atol=TOLERANCE)
        assert np.ptp(maps[:, -1]) > 0.02, "random weights must not give uniform attention"
    grid = trace.source.grid
    assert grid is not None
    assert (grid.rows, grid.columns) == ((6, 10) if side else (6, 6) if "DINOv2" not in row.name else (7, 7))
    assert trace.source.pieces[: grid.start] == row.leading
    assert trace.source.pieces[grid.token(1, 3)] == "(2, 4)"
    assert trace.source.words[: grid.start] == (None,) * len(row.leading)
    assert trace.source.words[grid.start :] == tuple(range(len(grid)))
    assert len(trace.source) == grid.start + len(grid)
    assert trace.picture == picture()


@pytest.mark.parametrize("row", [row for row in SIGHTS if row.both], ids=lambda row: row.name)
def test_a_picture_and_a_text_are_read_by_a_tower_each(backend: LocalBackend, models: Path, row: Sight) -> None:
    both = backend.trace(asked(models, row, picture=picture(), text="the cat"))
    seen = backend.trace(asked(models, row, picture=picture()))
    text = backend.trace(asked(models, row, text="the cat"))
    assert (list(both.parts), list(seen.parts), list(text.parts)) == (["encoder", "decoder"], ["encoder"], ["decoder"])
    assert both.target == text.source
    assert both.source == seen.source
    for head in range(3):
        np.testing.assert_allclose(both.weights(1, head), seen.weights(1, head), atol=TOLERANCE)
        np.testing.assert_allclose(both.weights(1, head, "decoder"), text.weights(1, head), atol=TOLERANCE)


@pytest.mark.slow
def test_pictures_of_one_size_go_through_together(backend: LocalBackend, models: Path) -> None:
    row = sight("DINOv2 with registers")
    requests = [
        asked(models, row, picture=picture(rows, columns, seed), side=side)
        for rows, columns, seed, side in ((30, 50, 4, 44), (30, 50, 5, 44), (50, 30, 6, 44), (30, 50, 7, None))
    ]
    together = backend.traces(requests)
    for request, mine in zip(requests, together, strict=True):
        alone = LocalBackend(backend.settings).trace(request)
        assert mine.source == alone.source
        np.testing.assert_allclose(whole(mine, 1), whole(alone, 1), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("ViT", {"text": "a cat"}, "reads pictures"),
        ("ViT", {"text": "a cat", "picture": picture()}, "Leave the text out"),
        ("CLIP", {"text": "a cat", "pair": "a dog", "picture": picture()}, "Leave the second text out"),
        ("ViT", {"picture": picture(), "side": 4000}, "up to 2,048"),
        ("DINOv2", {"picture": picture(1, 60_000)}, "Pick another"),
    ],
)
def test_refusals(backend: LocalBackend, models: Path, name: str, given: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        backend.trace(asked(models, sight(name), **given))


def test_a_text_model_reads_no_picture(backend: LocalBackend) -> None:
    with pytest.raises(UserError, match="not pictures"):
        backend.trace(TraceRequest(picture=picture()))


def test_the_key_is_of_the_pixels_and_the_size() -> None:
    keys = {
        TraceRequest(picture=one, side=side).key
        for one in (picture(4, 6), picture(6, 4), picture(4, 6, 9), picture(4, 6))
        for side in (None, 8 * PATCH)
    }
    assert len(keys) == 6


@loop_over("row", SIGHTS, ids=[row.name for row in SIGHTS])
def test_a_model_is_made_ready_with_a_picture_of_few_patches(row: Sight) -> None:
    given = fidelity_check.inputs(build(row.architecture, capture.NAME))
    assert given["pixel_values"].shape == (1, 3, 4 * PATCH, 4 * PATCH)


def test_what_looks_both_ways_is_not_called_causal(backend: LocalBackend, models: Path) -> None:
    for name, causal in (("CLIP", True), ("SigLIP", False)):
        trace = backend.trace(asked(models, sight(name), picture=picture(), text="the cat"))
        assert (View(trace, part="decoder").causal, View(trace, part="encoder").causal) == (causal, False)


def test_one_row_of_rollout_is_a_row_of_rollout(backend: LocalBackend, models: Path) -> None:
    trace = backend.trace(asked(models, sight("ViT"), picture=picture()))
    whole_of_it = rollout(with_residual(mean_maps(trace)))
    for query in (0, 17):
        np.testing.assert_allclose(rollout_row(trace, query), whole_of_it[query], atol=1e-6)


def test_a_saved_trace_of_a_picture_opens_with_it(backend: LocalBackend, models: Path) -> None:
    trace = backend.trace(asked(models, sight("BEiT"), picture=picture(), side=40))
    opened = parse(dump(trace))
    assert (opened.source, opened.picture) == (trace.source, picture())
    np.testing.assert_array_equal(opened.weights(1, 2), trace.weights(1, 2))
    assert trace.nbytes > picture().nbytes


def test_a_model_that_makes_other_tokens_than_its_grid_has_is_refused(
    backend: LocalBackend, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the refusal, patches would be shown in wrong places and look plausible."""
    eye = backend.loaded(asked(models, sight("DINOv2")).model, None).eye
    assert eye is not None
    monkeypatch.setattr(eye, "leading", ("[CLS]", "[register 1]"))
    with pytest.raises(UserError, match="this input"):
        backend.trace(asked(models, sight("DINOv2"), picture=picture(seed=77)))
