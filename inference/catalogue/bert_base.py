"""The shape of the BERT that papers call base, which this app is not shipped with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EncoderSize:
    """Sizes of an encoder; ``width`` is of one token's vector between layers."""

    layers: int
    heads: int
    width: int


def bert_base() -> EncoderSize:
    """BERT-base (arXiv:1810.04805, section 3), as transformers' own configuration of a BERT has it by default."""
    from transformers import BertConfig

    config = BertConfig()
    return EncoderSize(config.num_hidden_layers, config.num_attention_heads, config.hidden_size)
