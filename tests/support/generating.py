"""Tiny causal language models for the browser tests of the Generate page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.serving import Served
from tests.support.tinymodels import byte_level, save


@pytest.fixture(scope="session")
def writer(served: Served) -> Served:
    """Return the app with the models "gpt2", "llama" (grouped-query attention) and "deep"."""
    root = served.place("writers")
    for name in ("gpt2", "llama"):
        save(root / name, name)
    deep(root / "deep")
    return replace(served, root=root)


def deep(folder: Path) -> None:
    """Save a model that needs some time for each token and never predicts the end of the text."""
    import torch
    import transformers as t

    torch.manual_seed(0)
    byte_level(folder)
    config = t.GPT2Config(
        vocab_size=350, n_positions=256, n_embd=24, n_layer=96, n_head=3, bos_token_id=349, eos_token_id=349
    )
    t.GPT2LMHeadModel(config).save_pretrained(folder)
