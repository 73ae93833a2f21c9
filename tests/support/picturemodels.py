"""Tiny vision models of every supported family, saved with an image processor in transformers' format.

Axes have unequal lengths: 2 layers, 3 heads, and pictures with rows ≠ columns.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from attention.pictures import Picture
from tests.support.architectures import CLIP_TEXT, VISION, Architecture, build
from tests.support.tinymodels import wordpiece

SIDE, PATCH = 24, 4  # Size of pictures and patches of the tiny models, in pixels.


def _vision(**changes: Any) -> dict[str, Any]:
    return {**VISION, "image_size": SIDE, "patch_size": PATCH, **changes}


@dataclass(frozen=True)
class Sight:
    """A row of the table: a family, its leading tokens, and its processor's settings."""

    name: str
    model_type: str
    leading: tuple[str, ...]
    processor: dict[str, Any]
    config: dict[str, Any] = field(default_factory=_vision)
    spread: float = 0.25

    @property
    def both(self) -> bool:
        """Return True if the model reads texts too."""
        return "text_config" in self.config

    @property
    def architecture(self) -> Architecture:
        """Return the row in the format of the table of architectures."""
        return Architecture(self.name, self.model_type, "vision", self.config, spread=self.spread)


def _settings(kind: str, **changes: Any) -> dict[str, Any]:
    return {"image_processor_type": kind, **changes}


SQUARE = {"height": SIDE, "width": SIDE}
CROPPED = {"size": {"shortest_edge": SIDE}, "crop_size": SQUARE}  # Resize by the shorter side, then crop the centre.
SMALLER = {"size": {"shortest_edge": 32}, "crop_size": {"height": 28, "width": 28}}  # Not the model's own size.
TWO = {"text_config": CLIP_TEXT, "vision_config": _vision(), "projection_dim": 10}
REGISTERS = ("[register 1]", "[register 2]")
CLS = "[CLS]"

SIGHTS = [
    Sight("ViT", "vit", (CLS,), _settings("ViTImageProcessor", size=SQUARE)),
    Sight("ViT MSN", "vit_msn", (CLS,), {"feature_extractor_type": "ViTFeatureExtractor", "size": SIDE}),
    Sight("DeiT", "deit", (CLS, "[distillation]"),
          _settings("DeiTImageProcessor", size={"height": 30, "width": 30}, crop_size=SQUARE, do_center_crop=True)),
    Sight("BEiT", "beit", (CLS,), _settings("BeitImageProcessor", size=SQUARE, do_center_crop=False),
          _vision(use_relative_position_bias=True)),
    Sight("DINOv2", "dinov2", (CLS,), _settings("BitImageProcessor", **SMALLER)),
    Sight("DINOv2 with registers", "dinov2_with_registers", (CLS, *REGISTERS),
          _settings("BitImageProcessor", **SMALLER), _vision(num_register_tokens=2)),
    Sight("DINOv3", "dinov3_vit", (CLS, *REGISTERS), _settings("DINOv3ViTImageProcessorFast", size=SQUARE),
          _vision(num_register_tokens=2)),
    Sight("I-JEPA", "ijepa", (), _settings("ViTImageProcessor", size=SQUARE)),
    Sight("CLIP, vision", "clip_vision_model", (CLS,), _settings("CLIPImageProcessor", **CROPPED)),
    Sight("SigLIP, vision", "siglip_vision_model", (), _settings("SiglipImageProcessor", size=SQUARE)),
    Sight("CLIP", "clip", (CLS,), _settings("CLIPImageProcessor", **CROPPED), TWO),
    Sight("SigLIP", "siglip", (), _settings("SiglipImageProcessor", size=SQUARE), TWO),
]  # fmt: skip


def sight(name: str) -> Sight:
    """Return the row of a family."""
    return next(row for row in SIGHTS if row.name == name)


def save(row: Sight, folder: Path) -> Path:
    """Save the row's model with random weights, its processor, and a tokenizer if the model reads texts."""
    folder.mkdir(parents=True, exist_ok=True)
    build(row.architecture, "eager").save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(row.processor))
    if row.both:
        wordpiece(folder)
    return folder


def save_judge(row: Sight, folder: Path, names: dict[int, str]) -> Path:
    """Save the row's model with a classification head for these classes, and its processor.

    The weights are random.
    """
    import torch
    import transformers

    config = transformers.AutoConfig.for_model(row.model_type, **row.config, id2label=names)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(5)
        model = transformers.AutoModelForImageClassification.from_config(config)
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * row.spread)
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(row.processor))
    return folder


def picture(rows: int = 30, columns: int = 50, seed: int = 3) -> Picture:
    """Return a picture of random noise."""
    pixels = np.random.default_rng(seed).integers(0, 256, (rows, columns, 3), dtype=np.uint8)
    return Picture(pixels)


def gradient(rows: int, columns: int) -> Picture:
    """Return a picture whose red encodes the column and whose green encodes the row, as fractions of 255."""
    across = np.broadcast_to((np.arange(columns) + 0.5) / columns, (rows, columns))
    down = np.broadcast_to(((np.arange(rows) + 0.5) / rows)[:, None], (rows, columns))
    pixels = np.stack([across, down, np.full((rows, columns), 0.5)], axis=-1)
    return Picture((255 * pixels).round().astype(np.uint8))
