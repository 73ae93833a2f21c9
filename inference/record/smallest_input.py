"""The smallest input that a model of any kind accepts, to see how it behaves."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from inference.pictures.vision_families import TEXT, reads, size_options, vision

TOKENS = 8  # models that pool characters or tokens fail on fewer
PATCHES = 4  # rows and columns of a picture


def inputs(model: Any) -> dict[str, Any]:
    """A few ordinary token ids, or an empty picture or sound, by the name that the model's forward pass expects."""
    config = model.config
    name = model.main_input_name
    if name == "pixel_values":
        return _picture(config)
    if name == "input_features":
        frames = 2 * config.max_source_positions
        sound = torch.zeros(1, config.num_mel_bins, frames)
        return {name: sound, "decoder_input_ids": _ids(model)}
    found = {"input_ids": _ids(model), "attention_mask": torch.ones(1, _tokens(model), dtype=torch.long)}
    if getattr(config, "is_encoder_decoder", False):
        found["decoder_input_ids"] = _ids(model)
    if hasattr(config, "vision_config"):
        found |= _picture(config)
    return found


def _ids(model: Any) -> Tensor:
    """Ids that are neither padding nor missing from a small vocabulary."""
    words = getattr(model.config.get_text_config(), "vocab_size", None) or 2 + TOKENS  # CANINE reads any character
    return torch.arange(2, 2 + _tokens(model)).clamp(max=words - 1).unsqueeze(0)


def positions(model: Any) -> int | None:
    """Return the number of positions in the model's table, or None if positions are relative.

    RoBERTa-like tables waste their first rows on padding: 514 rows read 512 tokens.
    """
    stated = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if not isinstance(stated, int) or stated <= 0:
        return None
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and isinstance(padding, int):
            stated = min(stated, int(module.weight.shape[0]) - padding - 1)
    return stated


def _tokens(model: Any) -> int:
    """Return the tokens of the text: fewer if the model has fewer positions."""
    most = positions(model)
    return TOKENS if most is None else max(1, min(TOKENS, most))


def _picture(config: Any) -> dict[str, Any]:
    """An empty picture: of few patches where any size is read, because a full one takes seconds."""
    own = vision(config)
    if reads(config.model_type) != TEXT:
        side = PATCHES * own.patch_size
        return {"pixel_values": torch.zeros(1, own.num_channels, side, side), **size_options(config)}
    size = own.image_size
    height, width = size if isinstance(size, (tuple, list)) else (size, size)
    return {"pixel_values": torch.zeros(1, own.num_channels, height, width)}
