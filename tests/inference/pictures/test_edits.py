"""Edits inside the attention of pictures, with the same laws as on texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attention.edits import Ablate, Edit, MaskEdge, MaskKey
from attention.trace import Trace
from inference import LocalBackend, TraceRequest, UserError
from inference.settings import Settings
from tests.support.picturemodels import picture, save, sight

NAMES = ("ViT", "DINOv2", "CLIP")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for name in NAMES:
        save(sight(name), root / name)
    return root


@pytest.fixture(scope="module")
def backend(models: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(models,)))


def edited(backend: LocalBackend, models: Path, name: str, *edits: Edit) -> Trace:
    return backend.trace(TraceRequest(model=str(models / name), picture=picture(), edits=edits))


@pytest.mark.parametrize("name", NAMES)
def test_a_removed_head_changes_what_comes_after_and_nothing_before(
    backend: LocalBackend, models: Path, name: str
) -> None:
    plain, without = edited(backend, models, name), edited(backend, models, name, Ablate(0, 1))
    for head in range(3):
        np.testing.assert_array_equal(without.weights(0, head), plain.weights(0, head))
        assert np.abs(without.weights(1, head) - plain.weights(1, head)).max() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_link_gives_its_share_to_the_others(backend: LocalBackend, models: Path, name: str) -> None:
    plain, cut = edited(backend, models, name), edited(backend, models, name, MaskEdge(0, 2, 9, 4))
    before, after = plain.weights(0, 2), cut.weights(0, 2)
    assert after[9, 4] == 0
    kept = np.delete(before[9], 4)
    np.testing.assert_allclose(np.delete(after[9], 4), kept / kept.sum(), atol=1e-6)
    np.testing.assert_array_equal(np.delete(after, 9, axis=0), np.delete(before, 9, axis=0))
    np.testing.assert_array_equal(cut.weights(0, 0), plain.weights(0, 0))


@pytest.mark.parametrize("name", NAMES)
def test_nobody_looks_at_a_hidden_patch(backend: LocalBackend, models: Path, name: str) -> None:
    plain = edited(backend, models, name)
    grid = plain.source.grid
    assert grid is not None
    patch = grid.token(2, 3)
    hidden = edited(backend, models, name, *(MaskKey(layer, patch) for layer in range(2)))
    for head in range(3):
        assert not hidden.weights(0, head)[:, patch].any()
        assert not hidden.weights(1, head)[:, patch].any()
        rest = np.delete(plain.weights(0, head), patch, axis=1)
        np.testing.assert_allclose(
            np.delete(hidden.weights(0, head), patch, axis=1), rest / rest.sum(axis=1, keepdims=True), atol=1e-6
        )


def test_a_patch_that_is_not_there(backend: LocalBackend, models: Path) -> None:
    with pytest.raises(UserError, match=r"no token 37; .* 36\b"):
        edited(backend, models, "ViT", MaskKey(0, 37))
