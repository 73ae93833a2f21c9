"""A picture traced by a model in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import transformers
from PIL import Image

import headlight
from inference import LocalBackend, TraceRequest, UserError
from inference.in_memory import trace_picture
from inference.settings import Settings
from tests.support.picturemodels import picture, save, sight


@pytest.mark.parametrize("name", ["DINOv2", "CLIP"])
def test_it_is_the_trace_that_the_app_makes(tmp_path: Path, name: str) -> None:
    folder, shown = save(sight(name), tmp_path / name), picture()
    model = transformers.AutoModel.from_pretrained(folder)
    processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    expected = LocalBackend(Settings(model_folders=(tmp_path,))).trace(TraceRequest(model=str(folder), picture=shown))
    for given in (shown, shown.pixels, Image.fromarray(shown.pixels)):
        found = trace_picture(model, processor, given)
        assert found.source == expected.source
        np.testing.assert_allclose(found.weights(1, 2), expected.weights(1, 2), atol=1e-5)
    assert headlight.explore(model, processor, shown.pixels).trace.source == expected.source


def test_what_cannot_be_read(tmp_path: Path) -> None:
    model = transformers.AutoModel.from_pretrained(save(sight("ViT"), tmp_path / "vit"))
    processor = transformers.ViTImageProcessorPil()
    with pytest.raises(UserError, match="ndarray came"):
        trace_picture(model, processor, np.zeros((3, 4)))
    with pytest.raises(UserError, match="processor dict"):
        trace_picture(model, {}, picture())
    text = transformers.BertModel(transformers.BertConfig(hidden_size=24, num_hidden_layers=1, num_attention_heads=3))
    with pytest.raises(UserError, match="not pictures"):
        trace_picture(text, processor, picture())
