"""How many tokens a model reads: by its position table, and by the memory that a trace takes."""

from __future__ import annotations

from math import isqrt
from typing import Any

_NO_LIMIT = 10**9  # tokenizers say 10**30 when they know none


def token_limit(model: Any, tokenizer: Any, records: bool, budget: int) -> int:
    """The most tokens of one text, special ones included; ``budget`` is the memory for one trace, in bytes."""
    positions = position_limit(model, tokenizer)
    memory = memory_limit(model, records, budget)
    return max(1, memory if positions is None else min(positions, memory))


def position_limit(model: Any, tokenizer: Any) -> int | None:
    """Positions that the model's table has, or None where positions are relative and any length can be read.

    RoBERTa-like tables waste their first rows on padding: 514 rows read 512 tokens.
    """
    config = model.config.get_text_config()
    stated = getattr(config, "max_position_embeddings", None)
    if not isinstance(stated, int) or stated <= 0:
        return None
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and isinstance(padding, int):
            stated = min(stated, int(module.num_embeddings) - padding - 1)
    trained = getattr(tokenizer, "model_max_length", None) or _NO_LIMIT
    return min(stated, int(trained)) if trained < _NO_LIMIT else stated


def memory_limit(model: Any, records: bool, budget: int) -> int:
    """Tokens whose trace stays within ``budget`` bytes.

    Queries, keys and values grow with n; finished maps, and the position bias of T5-like models, with n².
    """
    config = model.config.get_text_config()
    layers = int(getattr(config, "num_hidden_layers", None) or 12)
    heads = getattr(config, "num_attention_heads", None) or 12
    heads = int(max(heads)) if isinstance(heads, list | tuple) else int(heads)
    if not records:
        return isqrt(budget // (layers * heads * 4))
    linear = 3 * layers * int(getattr(config, "hidden_size", None) or 768) * 4
    square = heads * 4 if getattr(config, "relative_attention_num_buckets", None) else 0  # one bias for all layers
    if not square:
        return budget // linear
    return (isqrt(linear**2 + 4 * square * budget) - linear) // (2 * square)
