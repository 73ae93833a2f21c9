"""Where a model's writing begins and ends, as its own settings state it."""

from __future__ import annotations

from typing import Any

from inference.loaded_model import LoadedModel


def start_token(model: Any) -> int:
    """What the decoder is given before it has written anything: as ``generate`` decides it, where it does."""
    asked = ((getattr(model, "generation_config", None), ("decoder_start_token_id", "bos_token_id")),
             (model.config, ("decoder_start_token_id", "bos_token_id", "pad_token_id")))  # fmt: skip
    stated = (getattr(setting, name, None) for setting, names in asked for name in names)
    return next((token for token in stated if isinstance(token, int)), 0)


def limit_of(loaded: LoadedModel) -> int:
    """Tokens at which the model's writing ends, start token included: its own rule, and what it can read.

    A rule that is no whole number above 0, as a damaged file may state it, is none.
    """
    settings = loaded.model.generation_config
    new, own = settings.max_new_tokens, settings.max_length
    own = new + 1 if isinstance(new, int) else own
    return min(own, loaded.limit) if isinstance(own, int) and own > 0 else loaded.limit


def end_tokens(model: Any) -> frozenset[int]:
    """Tokens that end what a model writes; what a damaged file states in their place is left out."""
    stated = getattr(model, "generation_config", model.config).eos_token_id
    return frozenset(token for token in (stated if isinstance(stated, list) else [stated]) if isinstance(token, int))
