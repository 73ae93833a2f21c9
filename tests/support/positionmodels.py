"""Tiny random models for each kind of position encoding, with weights large enough for attention to differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers as t

from tests.support import tinymodels

WIDE = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 20}


def save(folder: Path, kind: str) -> Path:
    """Save a model of a kind from tinymodels (bert, roberta, t5, marian, gpt2 or llama), or of another kind.

    The other kinds are distilbert, modernbert, windowed (a ModernBERT with short windows) and bloom.
    """
    if kind == "distilbert":
        tinymodels.wordpiece(folder)
        sizes = {"dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 20, "max_position_embeddings": 40}
        model = t.DistilBertModel(t.DistilBertConfig(vocab_size=120, **sizes))
    elif kind in ("modernbert", "windowed"):
        tinymodels.byte_level(folder, roberta=True)
        window = 60 if kind == "modernbert" else 6
        sizes = {**WIDE, "local_attention": window, "global_attn_every_n_layers": 3, "max_position_embeddings": 64}
        model = t.ModernBertModel(t.ModernBertConfig(vocab_size=350, pad_token_id=1, **sizes))
    elif kind == "bloom":
        tinymodels.byte_level(folder)
        model = t.BloomModel(t.BloomConfig(vocab_size=350, hidden_size=24, n_layer=2, n_head=3))
    else:
        model = _class(kind).from_pretrained(tinymodels.save(folder, kind))
    _spread(model, 0.1 if kind == "t5" else 0.25).save_pretrained(folder)
    return folder


def _class(kind: str) -> Any:
    classes = {"gpt2": t.AutoModelForCausalLM, "llama": t.AutoModelForCausalLM, "t5": t.AutoModelForSeq2SeqLM}
    return classes.get(kind, t.AutoModel)


def _spread(model: Any, width: float) -> Any:
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not name.endswith("embed_positions.weight"):  # Marian's positions are fixed sinusoids.
                parameter.add_(torch.randn(parameter.shape, generator=noise) * width)
    return model
