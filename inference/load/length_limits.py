"""Limits on the number of tokens of a text, by the model's positions and by the memory that a trace takes."""

from __future__ import annotations

from math import isqrt
from typing import Any

from inference.pictures.image_processing import vision
from inference.record.edit_hooks import HEADS
from inference.record.fidelity_check import positions

_NO_LIMIT = 10**9  # tokenizers without a limit state 10**30
_TWO_VALUES = ("diffllama",)  # models in which each head weighs the values of two heads


def token_limit(model: Any, tokenizer: Any, records: bool, budget: int) -> int:
    """Return the maximum number of tokens of a text, special tokens included.

    ``budget`` is the size of the cache of traces in bytes. A trace may take half of it, so that the next trace does not
    evict it immediately. ``records`` is True if traces contain queries, keys and values, whose size grows linearly with
    the length. If they contain attention maps only, their size grows quadratically.
    """
    positions = position_limit(model, tokenizer)
    memory = memory_limit(model, records, budget // 2)
    return max(1, memory if positions is None else min(positions, memory))


def position_limit(model: Any, tokenizer: Any) -> int | None:
    """Return the number of positions that a model supports, or None if its positions have no limit (relative)."""
    stated = positions(model)
    if stated is None:
        return None
    trained = getattr(tokenizer, "model_max_length", None) or _NO_LIMIT
    return min(stated, int(trained)) if trained < _NO_LIMIT else stated


def patch_limit(model: Any, budget: int) -> int:
    """Return the maximum number of tokens of a picture for which a trace takes at most half of ``budget`` bytes.

    ``budget`` is the size of the cache of traces. A trace contains queries, keys and values and, for BEiT, a position
    bias for each layer or for all layers together.
    """
    config = vision(model.config)
    heads, width = config.num_attention_heads, config.hidden_size
    linear = 4 * config.num_hidden_layers * (3 * width + 3 * heads)
    own = config.num_hidden_layers if getattr(config, "use_relative_position_bias", False) else 0
    shared = 1 if getattr(config, "use_shared_relative_position_bias", False) else 0
    return max(1, _longest_within(linear, 4 * heads * (own or shared), budget // 2))


def memory_limit(model: Any, records: bool, budget: int) -> int:
    """Return the maximum number of tokens for which a trace takes at most ``budget`` bytes.

    For encoder-decoders, source and target may each have this number of tokens. The sizes of queries, keys, values and
    each row's log-sum-exp grow linearly with the number of tokens. The sizes of attention maps, if a model reports only
    these, and of T5's position bias grow with its square.
    """
    config = model.config.get_text_config()
    heads = _number(config, 12, "num_attention_heads")
    shared = _number(config, heads, "num_key_value_heads")
    # A configured head size takes precedence: the heads of Qwen 3, Gemma and T5 are wider than hidden_size / heads.
    width = _number(config, 0, "head_dim") or _number(config, 768, "hidden_size") // heads
    attentions = layers = _number(config, 12, "num_hidden_layers")
    two = bool(getattr(config, "is_encoder_decoder", False))
    if two:  # a decoder layer has self-attention and cross-attention
        attentions += 2 * _number(config, layers, "num_decoder_layers", "decoder_layers")
    # Layers without attention are not recorded.
    attentions -= sum(list(by_layer).count(0) for by_layer in getattr(model, HEADS, {}).values())
    if not records:
        return isqrt(budget // (attentions * heads * 4))
    values = 2 if getattr(config, "model_type", None) in _TWO_VALUES else 1
    linear = 4 * attentions * ((heads + (1 + values) * shared) * width + 3 * heads)
    square = 4 * heads * _biases(model, config, attentions, two)
    return _longest_within(linear, square, budget)


def _longest_within(linear: int, square: int, budget: int) -> int:
    """Return the largest n with linear · n + square · n² bytes within the budget."""
    if not square:
        return budget // linear
    return (isqrt(linear**2 + 4 * square * budget) - linear) // (2 * square)


def _biases(model: Any, config: Any, attentions: int, two: bool) -> int:
    """Return the number of position biases in a trace: T5 has one per stack, UMT5 one per layer."""
    if not getattr(config, "relative_attention_num_buckets", None):
        return 0
    parts = 3 if two else 1
    tables = sum(name.endswith("relative_attention_bias") for name, _ in model.named_modules())
    return attentions if tables > parts else parts


def _number(config: Any, default: int, *names: str) -> int:
    """Return the first of these attributes in the configuration, the maximum if it differs by layer."""
    for name in names:
        stated = getattr(config, name, None)
        stated = max(stated, default=0) if isinstance(stated, list | tuple) else stated
        if isinstance(stated, int) and stated > 0:
            return stated
    return default
