"""Tiny random encoder-decoder models for generation, with a byte-level tokenizer each."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM

from tests.support.architectures import MAPS_ONLY, RECORDED, named
from tests.support.tinymodels import byte_level

LONGEST = 8  # Tokens that a model generates, including its start token.
TRANSLATORS = tuple(row.name for row in (*RECORDED, *MAPS_ONLY) if row.kind == "encoder-decoder")
# The ids are those of byte_level.
SPECIAL = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}


def save_translator(folder: Path, name: str) -> Path:
    """Save an architecture's model with random weights in ``folder``."""
    byte_level(folder, roberta=True)
    row = named(name)
    config = AutoConfig.for_model(row.model_type, **{**row.config, "vocab_size": 350, **SPECIAL})
    noise = torch.Generator().manual_seed(row.seed)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(row.seed)
        model = AutoModelForSeq2SeqLM.from_config(config)
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=noise) * row.spread)
    model.generation_config.max_length = LONGEST
    model.save_pretrained(folder)
    return folder
