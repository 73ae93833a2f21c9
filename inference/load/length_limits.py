"""How many tokens a model reads: by its position table, and by the memory that a trace takes."""

from __future__ import annotations

from math import isqrt
from typing import Any

from inference.pictures.image_processing import vision
from inference.record.edit_hooks import HEADS
from inference.record.fidelity_check import positions

_NO_LIMIT = 10**9  # tokenizers say 10**30 when they know none
_TWO_VALUES = ("diffllama",)  # models whose heads each weigh the values of two heads


def token_limit(model: Any, tokenizer: Any, records: bool, budget: int) -> int:
    """The most tokens of one text, special ones included; ``budget`` is the memory for all traces, in bytes.

    One trace may take half of it: whatever is admitted is then kept, and the next one does not push it out at once.
    """
    positions = position_limit(model, tokenizer)
    memory = memory_limit(model, records, budget // 2)
    return max(1, memory if positions is None else min(positions, memory))


def position_limit(model: Any, tokenizer: Any) -> int | None:
    """Positions that the model's table has, or None where positions are relative and any length can be read."""
    stated = positions(model)
    if stated is None:
        return None
    trained = getattr(tokenizer, "model_max_length", None) or _NO_LIMIT
    return min(stated, int(trained)) if trained < _NO_LIMIT else stated


def patch_limit(model: Any, budget: int) -> int:
    """The most tokens of one picture, so that its trace takes half of the memory for all traces, in bytes.

    Beside queries, keys and values there is BEiT's position bias, which every layer has its own of, or all share.
    """
    config = vision(model.config)
    heads, width = config.num_attention_heads, config.hidden_size
    linear = 4 * config.num_hidden_layers * (3 * width + 3 * heads)
    own = config.num_hidden_layers if getattr(config, "use_relative_position_bias", False) else 0
    shared = 1 if getattr(config, "use_shared_relative_position_bias", False) else 0
    return max(1, _longest_within(linear, 4 * heads * (own or shared), budget // 2))


def memory_limit(model: Any, records: bool, budget: int) -> int:
    """Tokens whose trace stays within ``budget`` bytes; of encoder-decoders, tokens on either side.

    Queries, keys, values and each row's log-sum-exp, in float32 and again in float64, grow with n; finished maps, and
    the position bias of T5-like models, with n².
    """
    config = model.config.get_text_config()
    heads = _number(config, 12, "num_attention_heads")
    shared = _number(config, heads, "num_key_value_heads")
    # Not hidden_size / heads where a width is stated: Qwen 3, Gemma and T5 have wider heads than that.
    width = _number(config, 0, "head_dim") or _number(config, 768, "hidden_size") // heads
    attentions = layers = _number(config, 12, "num_hidden_layers")
    two = bool(getattr(config, "is_encoder_decoder", False))
    if two:  # a decoder's layer looks at its own text, and at the other one
        attentions += 2 * _number(config, layers, "num_decoder_layers", "decoder_layers")
    attentions -= sum(list(by_layer).count(0) for by_layer in getattr(model, HEADS, {}).values())  # layers without any
    if not records:
        return isqrt(budget // (attentions * heads * 4))
    values = 2 if getattr(config, "model_type", None) in _TWO_VALUES else 1
    linear = 4 * attentions * ((heads + (1 + values) * shared) * width + 3 * heads)
    square = 4 * heads * _biases(model, config, attentions, two)
    return _longest_within(linear, square, budget)


def _longest_within(linear: int, square: int, budget: int) -> int:
    """The largest n whose linear and square bytes stay within a budget."""
    if not square:
        return budget // linear
    return (isqrt(linear**2 + 4 * square * budget) - linear) // (2 * square)


def _biases(model: Any, config: Any, attentions: int, two: bool) -> int:
    """How many position biases a trace holds: T5 has one for all layers of a part, UMT5 one for each layer."""
    if not getattr(config, "relative_attention_num_buckets", None):
        return 0
    parts = 3 if two else 1
    tables = sum(name.endswith("relative_attention_bias") for name, _ in model.named_modules())
    return attentions if tables > parts else parts


def _number(config: Any, default: int, *names: str) -> int:
    """The first of these that the configuration states; the largest where each layer has its own."""
    for name in names:
        stated = getattr(config, name, None)
        stated = max(stated, default=0) if isinstance(stated, list | tuple) else stated
        if isinstance(stated, int) and stated > 0:
            return stated
    return default
