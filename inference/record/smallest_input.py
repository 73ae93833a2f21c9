"""The smallest input that a model of any kind accepts, to see how it behaves."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

TOKENS = 8  # models that pool characters or tokens fail on fewer


def inputs(model: Any) -> dict[str, Tensor]:
    """A few ordinary token ids, or an empty picture or sound, by the name that the model's forward pass expects."""
    config = model.config
    name = model.main_input_name
    if name == "pixel_values":
        return {name: _picture(getattr(config, "vision_config", config))}
    if name == "input_features":
        frames = 2 * config.max_source_positions
        sound = torch.zeros(1, config.num_mel_bins, frames)
        return {name: sound, "decoder_input_ids": _ids(config)}
    found = {"input_ids": _ids(config), "attention_mask": torch.ones(1, TOKENS, dtype=torch.long)}
    if getattr(config, "is_encoder_decoder", False):
        found["decoder_input_ids"] = _ids(config)
    if hasattr(config, "vision_config"):
        found["pixel_values"] = _picture(config.vision_config)
    return found


def _ids(config: Any) -> Tensor:
    """Ids that are neither padding nor missing from a small vocabulary."""
    text = config.get_text_config()
    return torch.arange(2, 2 + TOKENS).clamp(max=text.vocab_size - 1).unsqueeze(0)


def _picture(config: Any) -> Tensor:
    size = config.image_size
    height, width = size if isinstance(size, (tuple, list)) else (size, size)
    return torch.zeros(1, config.num_channels, height, width)
