"""What a config.json says about a model, before any weight is read: its kind, and whether it can be traced at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.pictures.image_processing import TEXT, WINDOWS, reads

# The most that a config.json may state under names that end so. Something is repeated that often, so that a single
# number could keep this machine busy for days; no model that could be read here comes near.
_MOST = {
    re.compile(r"(layers?|heads?|blocks?|groups?|group_num|depths?|attention_types)$"): 1_000,
    re.compile(r"experts?$"): 20_000,
    re.compile(r"labels$"): 100_000,
}


@dataclass(frozen=True)
class Architecture:
    """A model's shape. ``writes``: it has the language-model head that generates a target text.

    ``reads`` is one of inference.pictures.image_processing: text, pictures, or both.
    """

    name: str  # class name, such as "BertModel"
    model_type: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    writes: bool
    layers: int
    heads: int
    reads: str = TEXT


def read(config: Mapping[str, Any], name: str) -> Architecture:
    """The architecture of the model called ``name``; raises Refusal for one that cannot be traced.

    Refused: unknown architectures, those whose program code would have to be downloaded, those without attention and
    those that read sound, or pictures in a way that is not known here. Needs transformers, but builds no model.
    """
    model_type = config.get("model_type")
    known = _known_types()
    if not isinstance(model_type, str) or model_type not in known:
        if config.get("auto_map"):
            raise UserError(
                gettext_lazy(
                    "{name} needs program code that comes with it, and Headlight never runs downloaded code. Pick a"
                    " model of a common architecture.",
                    name=name,
                ),
                way_out="embedded",
            )
        if model_type is None:
            raise UserError(
                gettext_lazy(
                    "{name} is not a model: its config.json states no model_type. Fetch or save it again.", name=name
                ),
                way_out="embedded",
            )
        raise UserError(
            gettext_lazy(
                '{name} has the architecture "{model_type}", which the installed transformers does not know.'
                " Pick a model of a common architecture.",
                name=name,
                model_type=str(model_type)[:60],
            ),
            way_out="embedded",
        )
    _refuse_absurd(config, name)
    with as_user_error(
        gettext_lazy(
            "The config.json of {name} is broken or from another program version. Pick another model.", name=name
        )
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
                "{name} ({model_type}) has no attention to look at. Pick a Transformer, such as BERT or GPT-2.",
                name=name,
                model_type=model_type,
            ),
            way_out="embedded",
        )
    if reads(model_type) == TEXT and (inputs != "input_ids" or _compares(model_type)):
        raise _unsupported_input_error("pixel_values" if _compares(model_type) else inputs, model_type, name)
    return Architecture(class_name, model_type, kind, writes, layers, heads, reads(model_type))


def _compares(model_type: str) -> bool:
    """Whether a model compares pictures with texts, and so reads neither alone."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES as NAMES

    return model_type in NAMES


def _unsupported_input_error(inputs: str, model_type: str, name: str) -> UserError:
    """Why a model is refused that reads neither text nor pictures in patches."""
    if model_type in WINDOWS:
        said = gettext_lazy(
            "{name} ({model_type}) attends inside windows of a picture, which give no map of the whole picture. Pick a"
            " model that attends to all of it, such as ViT or DINOv2.",
            name=name,
            model_type=model_type,
        )
    elif inputs == "pixel_values":
        said = gettext_lazy(
            "{name} ({model_type}) reads pictures in a way of its own, so that nobody here knows which patch is where."
            " Pick a model such as ViT, DINOv2 or CLIP.",
            name=name,
            model_type=model_type,
        )
    else:
        said = gettext_lazy(
            "{name} ({model_type}) reads sound or moving pictures. Pick a model that reads text or pictures, such as"
            " BERT, GPT-2 or ViT.",
            name=name,
            model_type=model_type,
        )
    return UserError(said, way_out="embedded")


# They name heads in their configuration, but mean something else by them.
_NO_ATTENTION = {"mamba2", "xlstm", "fnet", "rwkv"}


def _known_types() -> Mapping[str, str]:
    """model_type -> class of the bare model."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return {kind: names if isinstance(names, str) else names[0] for kind, names in MODEL_MAPPING_NAMES.items()}


def _refuse_absurd(config: Mapping[str, Any], name: str) -> None:
    """Raises Refusal for a number that would be repeated without end, in the configuration or in one inside it."""
    for key, number in _numbers(config):
        most = next((most for pattern, most in _MOST.items() if pattern.search(key)), number)
        if number > most:
            raise UserError(
                gettext_lazy(
                    "The config.json of {name} states {number} as {key}; Headlight opens models with at most"
                    " {most:,}. Pick another model.",
                    name=name,
                    number=str(number)[:20],
                    key=key[:60],
                    most=most,
                ),
                way_out="embedded",
            )


def _numbers(config: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Every number with the name it stands under, however deep; not those of labels, whose names are anybody's."""
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
    """A number of layers or heads, the largest where each layer has its own, 0 where none is stated; raises Refusal."""
    stated = getattr(built, what, None) or getattr(built.get_text_config(), what, None) or 0
    stated = max(stated) if isinstance(stated, list | tuple) else stated
    if type(stated) is not int or not 0 <= stated <= 1_000:
        raise UserError(
            gettext_lazy(
                "The config.json of {name} states {stated} as {what}, which is no number from 1 to 1,000. Pick"
                " another model.",
                name=name,
                stated=str(stated)[:20],
                what=what,
            ),
            way_out="embedded",
        )
    return stated


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


def _model_kind(built: Any, config: Mapping[str, Any]) -> tuple[str, bool]:
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
