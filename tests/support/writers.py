"""Tiny random models with language-modelling heads, of every architecture in the tables."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, MarianConfig, MarianMTModel

from inference.record import capture
from tests.support.architectures import MAPS_ONLY, RECORDED, Architecture, named
from tests.support.tinymodels import save

capture.install()
DECODERS = [row for row in (*RECORDED, *MAPS_ONLY, named("DiffLlama")) if row.kind == "decoder"]
TRANSLATORS = [row for row in (*RECORDED, *MAPS_ONLY) if row.kind == "encoder-decoder"]
WRITERS = [*DECODERS, *TRANSLATORS]


_BUILT: dict[str, Any] = {}


def build(row: Architecture, **rules: Any) -> Any:
    """Return the row's model with its head, prepared for recording; ``rules`` set its generation options."""
    if repr(row) not in _BUILT:
        _BUILT[repr(row)] = _built(row)
    model = deepcopy(_BUILT[repr(row)])
    for name, value in {"eos_token_id": 2, **rules}.items():
        setattr(model.generation_config, name, value)
    capture.prepare(model)
    return model


def _built(row: Architecture) -> Any:
    config = AutoConfig.for_model(row.model_type, **row.config)
    auto = AutoModelForSeq2SeqLM if row.kind == "encoder-decoder" else AutoModelForCausalLM
    noise = torch.Generator().manual_seed(row.seed)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(row.seed)
        model = auto.from_config(config, attn_implementation=capture.implementation(config))
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=noise) * row.spread)
    return model


def save_padded(folder: Path) -> Path:
    """Save a translator with 96 embedding rows, more than its vocabulary; it prefers the last but one."""
    model = MarianMTModel.from_pretrained(save(folder, "marian"))
    model.resize_token_embeddings(96)
    model.final_logits_bias[0, 94] = 50.0
    model.save_pretrained(folder)
    return folder


def save_separate(folder: Path, more: int = 30) -> Path:
    """Save a translator with a separate target vocabulary, ``more`` tokens larger.

    The model prefers the last of the new tokens.
    """
    save(folder, "marian")
    pieces = json.loads((folder / "vocab.json").read_text())
    end, unknown, *others, pad = pieces
    names = [end, unknown, *others[::-1], pad, *(f"▁new{at}" for at in range(more))]
    target = {piece: at for at, piece in enumerate(names)}
    (folder / "target_vocab.json").write_text(json.dumps(target))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "separate_vocabs": True}))
    config = MarianConfig.from_pretrained(
        folder, decoder_vocab_size=len(target), share_encoder_decoder_embeddings=False, tie_word_embeddings=False
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = MarianMTModel(config)
    model.final_logits_bias[0, -1] = 50.0
    model.save_pretrained(folder)
    return folder


def source(tokens: int = 7) -> tuple[int, ...]:
    """Return the token ids of a source text."""
    return tuple((5 * at + 7) % 33 + 4 for at in range(tokens))


def generated(model: Any, tokens: tuple[int, ...], **how: Any) -> list[int]:
    """Return all decoder tokens of transformers' own ``generate``."""
    ids = torch.tensor([tokens])
    how = {"num_beams": 1, "do_sample": False, **how}
    found = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), **how)
    return [int(token) for token in found[0]]


def whole(model: Any, tokens: tuple[int, ...], written: tuple[int, ...]) -> dict[str, torch.Tensor]:
    """Return the inputs of a single forward pass over the source and the generated tokens."""
    if not model.config.is_encoder_decoder:
        ids = torch.tensor([[*tokens, *written]])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    ids, start = torch.tensor([tokens]), model.generation_config.decoder_start_token_id
    target = torch.tensor([[start, *written]])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "decoder_input_ids": target}
