"""The architecture of a model from its config.json: its kind, and checks that it can be traced.

Program code that a model folder names is never run. ``code_notes`` describes, for the visitor, the code that
transformers runs instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from i18n import LazyMessage, gettext_lazy
from inference.errors import UserError, as_user_error
from inference.pictures.image_processing import TEXT, WINDOWS, reads

# Upper limits for numbers in a config.json, by the end of the key. These numbers are repetition counts, so a single
# huge number could keep this machine busy for days. Every supported model is far below the limits.
_MOST = {
    re.compile(r"(layers?|heads?|blocks?|groups?|group_num|depths?|attention_types)$"): 1_000,
    re.compile(r"experts?$"): 20_000,
    re.compile(r"labels$"): 100_000,
}


@dataclass(frozen=True)
class Architecture:
    """The architecture of a model; ``writes`` is True if its language-model head generates a target text.

    ``reads`` is TEXT, PICTURES or BOTH of inference.pictures.image_processing.
    """

    name: str  # a class name, such as "BertModel"
    model_type: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    writes: bool
    layers: int
    heads: int
    reads: str = TEXT


def read(config: Mapping[str, Any], name: str) -> Architecture:
    """Return the architecture that a configuration describes; raise UserError if it cannot be traced.

    These models cannot be traced: unknown architectures, models that need downloaded program code, and models without
    attention. Models that read sound, or pictures in an unsupported way, cannot be traced either. The check needs
    transformers but builds no model.
    """
    model_type = config.get("model_type")
    known = _known_types()
    if not isinstance(model_type, str) or model_type not in known:
        if config.get("auto_map"):
            raise UserError(
                gettext_lazy(
                    "{name} needs its own program code, which never runs here. Pick a common architecture.",
                    name=name,
                ),
                way_out="embedded",
            )
        if model_type is None:
            raise UserError(
                gettext_lazy("{name} is not a model: its config.json has no model_type. Replace it.", name=name),
                way_out="embedded",
            )
        raise UserError(
            gettext_lazy(
                '{name} has the architecture "{model_type}", unknown to the installed transformers. '
                "Pick a common architecture.",
                name=name,
                model_type=str(model_type)[:60],
            ),
            way_out="embedded",
        )
    _refuse_absurd(config, name)
    with as_user_error(
        gettext_lazy("The config.json of {name} is damaged or from another version. Pick another model.", name=name)
    ):
        built = _build(config)
        heads = _count(built, "num_attention_heads", name)
        layers = _count(built, "num_hidden_layers", name)
        inputs = _main_input(built)
        kind, writes = _model_kind(built, config)
        class_name = str(next(iter(config.get("architectures") or []), None) or known[model_type])
    if not heads or model_type in _NO_ATTENTION:
        raise UserError(
            gettext_lazy(
                "{name} reports no attention. Try BERT or GPT-2.",
                name=f"{name} ({model_type})",
            ),
            way_out="embedded",
        )
    if reads(model_type) == TEXT and (inputs != "input_ids" or _compares(model_type)):
        raise _unsupported_input_error("pixel_values" if _compares(model_type) else inputs, model_type, name)
    return Architecture(class_name, model_type, kind, writes, layers, heads, reads(model_type))


def _compares(model_type: str) -> bool:
    """Return True if a model compares pictures with texts and so needs both."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES as NAMES

    return model_type in NAMES


def _unsupported_input_error(inputs: str, model_type: str, name: str) -> UserError:
    """Return the error for a model that reads neither text nor pictures as patches."""
    if model_type in WINDOWS:
        said = gettext_lazy(
            "{name} attends inside windows only. Try ViT or DINOv2.",
            name=f"{name} ({model_type})",
        )
    elif inputs == "pixel_values":
        said = gettext_lazy(
            "{name} ({model_type}) has no patches that can be located. Try ViT or DINOv2.",
            name=name,
            model_type=model_type,
        )
    else:
        said = gettext_lazy(
            "{name} ({model_type}) reads sound or video. Try BERT, GPT-2 or ViT.",
            name=name,
            model_type=model_type,
        )
    return UserError(said, way_out="embedded")


# These architectures have heads in their configuration that are not attention heads.
_NO_ATTENTION = {"mamba2", "xlstm", "fnet", "rwkv"}


def _known_types() -> Mapping[str, str]:
    """Return the bare model's class name for each model_type."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return {kind: names if isinstance(names, str) else names[0] for kind, names in MODEL_MAPPING_NAMES.items()}


def _refuse_absurd(config: Mapping[str, Any], name: str) -> None:
    """Raise UserError for a huge repetition count in the configuration or in a nested configuration."""
    for key, number in _numbers(config):
        most = next((most for pattern, most in _MOST.items() if pattern.search(key)), number)
        if number > most:
            raise UserError(
                gettext_lazy(
                    "The {file} of {name} has {key} = {number}; expected 1 to {most:,}. Pick another model.",
                    file="config.json",
                    name=name,
                    number=str(number)[:20],
                    key=key[:60],
                    most=most,
                ),
                way_out="embedded",
            )


def _numbers(config: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield every number with its key, at any depth.

    ``label2id`` is skipped, because its keys are arbitrary label names.
    """
    waiting: list[tuple[str, Any]] = [(key, value) for key, value in config.items() if key != "label2id"]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, int | float):
            yield key, value
        elif isinstance(value, Mapping):
            waiting.extend((str(inner), entry) for inner, entry in value.items())
        elif isinstance(value, list | tuple):
            waiting.extend((key, entry) for entry in value)


def _count(built: Any, what: str, name: str) -> int:
    """Return a number of layers or heads, the maximum if it differs by layer, 0 if missing.

    Raise UserError if it is not an integer from 0 to 1,000.
    """
    stated = getattr(built, what, None) or getattr(built.get_text_config(), what, None) or 0
    stated = max(stated) if isinstance(stated, list | tuple) else stated
    if type(stated) is not int or not 0 <= stated <= 1_000:
        raise UserError(
            gettext_lazy(
                "The {file} of {name} has {key} = {number}; expected 1 to {most:,}. Pick another model.",
                file="config.json",
                name=name,
                number=str(stated)[:20],
                key=what,
                most=1_000,
            ),
            way_out="embedded",
        )
    return stated


def _build(config: Mapping[str, Any]) -> Any:
    from transformers import AutoConfig

    rest = {key: value for key, value in config.items() if key not in ("model_type", "auto_map")}
    return AutoConfig.for_model(config["model_type"], **rest)


def _main_input(config: Any) -> str:
    """Return the name of the model's main input, such as "input_ids", "pixel_values" or "input_features"."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING

    found = MODEL_MAPPING.get(type(config), None)
    model = found[0] if isinstance(found, tuple | list) else found
    return str(getattr(model, "main_input_name", "input_ids"))


def _model_kind(built: Any, config: Mapping[str, Any]) -> tuple[str, bool]:
    from transformers.models.auto import modeling_auto as names

    if built.is_encoder_decoder:
        named = names.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.get(built.model_type, ())
        writers = (named,) if isinstance(named, str) else named
        return "encoder-decoder", any(name in writers for name in config.get("architectures") or [])
    causal = built.model_type in names.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    masked = built.model_type in names.MODEL_FOR_MASKED_LM_MAPPING_NAMES or built.model_type in _LOOKS_BOTH_WAYS
    return ("decoder" if getattr(built, "is_decoder", False) or (causal and not masked) else "encoder"), False


# transformers lists these models for causal language modelling, but their tokens attend to both sides.
_LOOKS_BOTH_WAYS = {"xlnet"}


_SHOWN = 60  # the longest name of a class that a message contains
_CONFIG_BYTES = 8_000_000
_FAST = "Fast"  # transformers accepts a known name with and without this ending


def code_notes(folder: Path, config: Mapping[str, Any]) -> tuple[LazyMessage, ...]:
    """Return a note for each kind of program code in a model's folder that is replaced by code of transformers."""
    tokenizer_config = _tokenizer_config(folder)
    named = named_tokenizer(config, tokenizer_config)
    unknown = named is not None and (folder / "tokenizer.json").is_file() and not is_known_tokenizer(named)
    notes = []
    if config.get("auto_map") or (tokenizer_config.get("auto_map") and not unknown):
        notes.append(
            gettext_lazy(
                "The {kind} of transformers runs instead of the model's own code; results can differ.",
                kind=str(config.get("model_type"))[:_SHOWN],
            )
        )
    if unknown:
        notes.append(
            gettext_lazy(
                "Its tokenizer {tokenizer} is unknown; tokenizer.json is used, so tokens can differ.",
                tokenizer=str(named)[:_SHOWN],
            )
        )
    return tuple(notes)


def refuse_unknown_tokenizer(folder: Path, config: Mapping[str, Any], name: str) -> None:
    """Raise UserError if a folder names an unknown tokenizer class and has no tokenizer.json to read instead."""
    named = named_tokenizer(config, _tokenizer_config(folder))
    if named is None or (folder / "tokenizer.json").is_file() or is_known_tokenizer(named):
        return
    raise UserError(
        gettext_lazy(
            "{name} has an unknown tokenizer class ({tokenizer}) and no tokenizer.json. Add it.",
            name=name,
            tokenizer=named[:_SHOWN],
        ),
        way_out="embedded",
    )


def named_tokenizer(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any]) -> str | None:
    """Return the tokenizer class named in tokenizer_config.json, else in config.json, else None.

    >>> named_tokenizer({"tokenizer_class": "A"}, {"tokenizer_class": "B"}), named_tokenizer({}, {})
    ('B', None)
    """
    named = tokenizer_config.get("tokenizer_class") or config.get("tokenizer_class")
    return named if isinstance(named, str) else None


def is_known_tokenizer(named: str) -> bool:
    """Return True if transformers has a tokenizer class named ``named``.

    The check avoids importing torch if possible.
    """
    if {named, named.removesuffix(_FAST)} & _transformers_names():
        return True
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

    return tokenizer_class_from_name(named) is not None or tokenizer_class_from_name(named + _FAST) is not None


@cache
def _transformers_names() -> frozenset[str]:
    """Return the names in transformers; it lists them without importing its modules."""
    import transformers

    return frozenset(dir(transformers))


def _tokenizer_config(folder: Path) -> dict[str, Any]:
    """Return the tokenizer's configuration; empty if it is missing or invalid, which the loader refuses."""
    file = folder / "tokenizer_config.json"
    try:
        content = json.loads(file.read_bytes()) if file.stat().st_size <= _CONFIG_BYTES else None
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
