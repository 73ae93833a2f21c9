"""A tiny model folder with attention only in layers 1 and 3 of 4."""

from __future__ import annotations

from pathlib import Path

from tests.support.tinymodels import byte_level

ATTENDING = (1, 3)
HEADS = 4


def hybrid(folder: Path) -> None:
    """Save a Jamba with random weights and a byte-level tokenizer."""
    import torch
    import transformers as t

    byte_level(folder)
    torch.manual_seed(0)
    config = t.JambaConfig(
        vocab_size=350, hidden_size=32, intermediate_size=32, num_hidden_layers=4, num_attention_heads=HEADS,
        num_key_value_heads=2, attn_layer_period=2, attn_layer_offset=1, num_experts=2, num_experts_per_tok=1,
        mamba_d_state=4, mamba_dt_rank=4, max_position_embeddings=256,
        pad_token_id=349, bos_token_id=349, eos_token_id=349,
    )  # fmt: skip
    t.JambaForCausalLM(config).save_pretrained(folder)
