"""What a config.json says about a model, before any weight is read: its kind, and whether it can be traced at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inference.errors import Refusal, refusing


@dataclass(frozen=True)
class Architecture:
    """A model's shape. ``writes``: it has the language-model head that generates a target text."""

    name: str  # class name, such as "BertModel"
    model_type: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    writes: bool
    layers: int
    heads: int


def read(config: Mapping[str, Any], name: str) -> Architecture:
    """The architecture of the model called ``name``; raises Refusal for one that cannot be traced.

    Refused: unknown architectures, those whose program code would have to be downloaded, those without attention and
    those that read pictures or sound. Needs transformers, but builds no model.
    """
    model_type = config.get("model_type")
    known = _known_types()
    if not isinstance(model_type, str) or model_type not in known:
        if config.get("auto_map"):
            raise Refusal(
                f"{name} needs program code that comes with it, and this app never runs downloaded code. Pick a model"
                " of a common architecture.",
                way_out="embedded",
            )
        raise Refusal(
            f'{name} has the architecture "{str(model_type)[:60]}", which the installed transformers does not know.'
            " Pick a model of a common architecture.",
            way_out="embedded",
        )
    with refusing(f"The config.json of {name} is broken or from another program version. Pick another model."):
        built = _build(config)
        text = built.get_text_config()
        heads = getattr(built, "num_attention_heads", None) or getattr(text, "num_attention_heads", None)
        layers = getattr(built, "num_hidden_layers", None) or getattr(text, "num_hidden_layers", None) or 0
        inputs = _main_input(built)
    heads = max(heads) if isinstance(heads, list | tuple) and heads else heads
    if not heads or model_type in _NO_ATTENTION:
        raise Refusal(
            f"{name} ({model_type}) has no attention to look at. Pick a Transformer, such as BERT or GPT-2.",
            way_out="embedded",
        )
    if inputs != "input_ids":
        raise Refusal(
            f"{name} ({model_type}) reads pictures or sound, not text. Pick a text model, such as BERT or GPT-2.",
            way_out="embedded",
        )
    kind, writes = _kind(built, config)
    class_name = next(iter(config.get("architectures") or []), None) or known[model_type]
    return Architecture(str(class_name), model_type, kind, writes, int(layers), int(heads))


# They name heads in their configuration, but mean something else by them.
_NO_ATTENTION = {"mamba2", "xlstm", "fnet", "rwkv"}


def _known_types() -> Mapping[str, str]:
    """model_type -> class of the bare model."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return {kind: names if isinstance(names, str) else names[0] for kind, names in MODEL_MAPPING_NAMES.items()}


def _build(config: Mapping[str, Any]) -> Any:
    from transformers import AutoConfig

    rest = {key: value for key, value in config.items() if key not in ("model_type", "auto_map")}
    return AutoConfig.for_model(config["model_type"], **rest)


def _main_input(config: Any) -> str:
    """Name of what the model reads: "input_ids", "pixel_values", "input_features" …"""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING

    found = MODEL_MAPPING.get(type(config), None)
    model = found[0] if isinstance(found, tuple | list) else found
    return str(getattr(model, "main_input_name", "input_ids"))


def _kind(built: Any, config: Mapping[str, Any]) -> tuple[str, bool]:
    from transformers.models.auto import modeling_auto as names

    if built.is_encoder_decoder:
        named = names.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.get(built.model_type, ())
        writers = (named,) if isinstance(named, str) else named
        return "encoder-decoder", any(name in writers for name in config.get("architectures") or [])
    causal = built.model_type in names.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    masked = built.model_type in names.MODEL_FOR_MASKED_LM_MAPPING_NAMES or built.model_type in _LOOKS_BOTH_WAYS
    return ("decoder" if getattr(built, "is_decoder", False) or (causal and not masked) else "encoder"), False


# Listed by transformers for causal language modelling, yet each token sees both sides.
_LOOKS_BOTH_WAYS = {"xlnet"}
