"""Tiny random models with classification heads, of many families, saved in transformers' format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inference.task_heads import CLASSIFY, TRAINED_AS
from tests.support import tinyheads
from tests.support.tinymodels import byte_level

NAMES = ("calm", "sad", "glad", "wild")
DECODERS: dict[str, tuple[str, dict[str, Any]]] = {
    "GPT-2": ("GPT2", {"n_positions": 48, "n_embd": 24, "n_layer": 2, "n_head": 3, "eos_token_id": 0}),
    "Llama": ("Llama", {**tinyheads.WIDE, "num_key_value_heads": 1, "max_position_embeddings": 48}),
}
FAMILIES = (*tinyheads.KINDS, *DECODERS)


def save(
    folder: Path, name: str = "BERT", head: str = CLASSIFY, labels: tuple[str, ...] = NAMES, **changes: Any
) -> Path:
    """Save a model of a family with a head; ``changes`` override the configuration.

    The random weights are large, so that answers differ.
    """
    import torch
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    named = {"id2label": dict(enumerate(labels)), "label2id": {label: at for at, label in enumerate(labels)}}
    if name in DECODERS:
        byte_level(folder)
        stem, sizes = DECODERS[name]
        config = getattr(transformers, f"{stem}Config")(**{"vocab_size": 350, **sizes, **named, **changes})
    else:
        kind = tinyheads.EVERY[name]
        stem = kind.classes[0].removesuffix("ForMaskedLM")
        size = tinyheads.save_tokenizer(folder, kind.tokenizer)
        given = {"pad_token_id": 0, "vocab_size": size, **kind.config, **named, **changes}
        config = transformers.AutoConfig.for_model(kind.model_type, **given)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = getattr(transformers, stem + TRAINED_AS[head])(config)
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.2)
    model.save_pretrained(folder)
    return folder
