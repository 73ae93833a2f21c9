"""Tiny causal language models of every supported decoder architecture, with a byte-level tokenizer each."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from tests.support.architectures import MAPS_ONLY, RECORDED, Architecture, named
from tests.support.tinymodels import byte_level

VOCABULARY = 350  # Size of that tokenizer's vocabulary; 0 is its only special token.
DECODERS = tuple(row.name for row in (*RECORDED, *MAPS_ONLY, named("DiffLlama")) if row.kind == "decoder")


def config_of(row: Architecture) -> AutoConfig:
    """Return the row's configuration with the vocabulary size ``VOCABULARY``."""
    return AutoConfig.for_model(row.model_type, **{**row.config, "vocab_size": VOCABULARY})


def save_decoder(folder: Path, name: str) -> Path:
    """Save an architecture's model with random weights in ``folder``, unless the folder exists."""
    if folder.exists():
        return folder
    byte_level(folder)
    row = named(name)
    noise = torch.Generator().manual_seed(row.seed)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(row.seed)
        model = AutoModelForCausalLM.from_config(config_of(row))
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=noise) * row.spread)
    model.save_pretrained(folder)
    return folder
