"""The sample photo: its trace has all features and, if the model is installed, equals the model's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attention import storage
from attention.measures import entropy
from attention.trace import Trace
from inference.files.dinov2 import DINOV2
from inference.files.packages import unpacked_once
from inference.pictures.sample_picture import (
    CREDIT,
    PHOTO,
    RECORDED,
    difference,
    pack_trace,
    photo,
    sample,
    unpack_trace,
)
from training import recorded_assets

# Boxes (left, top, right, bottom) of the eyes and the nose in pixels, estimated by eye.
FACE = ((145, 90, 205, 140), (295, 110, 350, 165), (235, 225, 290, 270))


def on_face(trace: Trace, layer: int, head: int) -> float:
    """Return the share of CLS's attention to patches that goes to patches centred on the eyes or the nose."""
    grid = trace.source.grid
    assert grid is not None
    row = trace.weights(layer, head)[0]
    inside = 0.0
    for token in range(grid.start, grid.start + len(grid)):
        left, top, right, bottom = grid.pixels(token) or (0, 0, 0, 0)
        across, down = (left + right) / 2, (top + bottom) / 2
        inside += row[token] * any(box[0] < across < box[2] and box[1] < down < box[3] for box in FACE)
    return float(inside / row[grid.start :].sum())


def test_it_has_all_that_a_trace_has() -> None:
    trace = sample()
    grid = trace.source.grid
    assert grid is not None
    assert (trace.layers, trace.heads, trace.part, trace.has_qkv()) == (12, 6, "encoder", True)
    assert (grid.rows, grid.columns, grid.start, len(trace.source)) == (16, 16, 1, 257)
    assert trace.source.pieces[:2] == ("[CLS]", "(1, 1)")
    assert trace.model.name == DINOV2.name
    assert trace.picture == photo()
    assert (photo().width, photo().height) == (451, 300)
    assert trace.weights(11, 5).sum(axis=-1) == pytest.approx(1.0)
    assert entropy(trace.weights(3, 2)).shape == (257,)


def test_the_middle_of_the_photo_was_read() -> None:
    grid = sample().source.grid
    assert grid is not None
    left, top, right, bottom = grid.box
    assert (left + right) / 2 == pytest.approx(451 / 2, abs=1)
    assert (top + bottom) / 2 == pytest.approx(150, abs=1)
    assert bottom - top == pytest.approx(300 * 224 / 256, abs=1)
    assert right - left == pytest.approx(bottom - top, rel=0.01)


def test_heads_look_at_the_eyes_and_the_nose() -> None:
    boxes = sum((right - left) * (bottom - top) for left, top, right, bottom in FACE)
    area = boxes / (262.5 * 263)
    assert np.mean([on_face(sample(), 8, head) for head in range(6)]) > 3 * area


def test_it_is_saved_and_opened_as_any_other_trace() -> None:
    opened = storage.parse(storage.dump(sample()))
    assert opened.source == sample().source
    assert opened.picture == photo()
    assert np.array_equal(opened.weights(7, 3), sample().weights(7, 3))


def test_what_is_packed_again_is_the_same_but_for_rounding() -> None:
    again = unpack_trace(pack_trace(sample(), difference()), photo())
    assert np.abs(again.query(4, 2) - sample().query(4, 2)).max() < 0.02 * np.abs(sample().query(4, 2)).max()
    assert again.source == sample().source
    assert again.id != sample().id


def test_it_is_small_and_says_whose_it_is() -> None:
    assert PHOTO.stat().st_size + RECORDED.stat().st_size < 4_000_000
    assert "CC0" in CREDIT
    told = (Path(RECORDED.parent) / "README.md").read_text(encoding="utf-8")
    assert f"{difference().largest:.3f}".lstrip("0") in told
    assert f"{difference().moved:.2%}".replace("%", " %").lstrip("0") in told


@pytest.mark.slow
@pytest.mark.skipif(not DINOV2.is_installed(), reason="the extra of requirements-extra.txt is not installed")
def test_the_model_does_what_was_recorded() -> None:
    unpacked_once.cache_clear()
    recorded = recorded_assets.record_trace()
    assert recorded.source == sample().source
    assert recorded.model == sample().model
    found = recorded_assets.compare_traces(recorded, sample())
    assert found.largest == pytest.approx(difference().largest, abs=1e-3)
    assert found.moved == pytest.approx(difference().moved, abs=1e-4)
