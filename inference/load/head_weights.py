"""The class for each head, and checks that a checkpoint contains the weights of a head.

If a head is missing from the checkpoint, transformers initialises it at random, and its predictions look real. So
a missing head is detected from the tensor names before anything is loaded, and refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.catalogue.listing import refusal
from inference.errors import UserError
from inference.files.architecture import Architecture
from inference.files.checkpoint import tensors
from inference.pictures.image_processing import PICTURES
from inference.settings import Settings
from inference.task_heads import BARE, CAUSAL, CLASSIFY, KINDS, MASKED, NEXT_SENTENCE, RANDOM, SEES, TAG, TRAINED_AS
from inference.text import tokenizer

_OLD = {".gamma": ".weight", ".beta": ".bias"}  # names of a norm's weights in checkpoints of 2018


def auto_class(head: str, writes: bool, model_type: str = "") -> Any:
    """Return the class that loads a head; ``writes`` is True if the bare model generates a target text."""
    import transformers

    if head in (BARE, RANDOM):
        return transformers.AutoModelForSeq2SeqLM if writes else transformers.AutoModel
    if head == NEXT_SENTENCE and model_type == "albert":  # ALBERT predicts the order of two texts (arXiv:1909.11942)
        return transformers.AutoModelForPreTraining
    return {
        MASKED: transformers.AutoModelForMaskedLM,
        NEXT_SENTENCE: transformers.AutoModelForNextSentencePrediction,
        CAUSAL: transformers.AutoModelForCausalLM,
        CLASSIFY: transformers.AutoModelForSequenceClassification,
        TAG: transformers.AutoModelForTokenClassification,
        SEES: transformers.AutoModelForImageClassification,
    }[head]


def check(head: str, shape: Architecture, config: Any, weights: Iterable[Path], name: str, settings: Settings) -> None:  # noqa: PLR0913  # the model's properties, and those that the error names
    """Raise UserError, which lists models with the head, if a checkpoint has none of a head's weights.

    ``config`` is the configuration of transformers, and ``weights`` are the safetensors files; the tensor names of
    a GGUF file are unknown before loading. ``made_up`` detects a partly missing head after loading.
    """
    if head in (BARE, RANDOM):
        return
    if shape.reads == PICTURES and head != SEES:
        raise tokenizer.refuse_without_tokenizer(name)
    if head == SEES and shape.reads != PICTURES:
        raise refusal(head, name, settings)
    if head in TRAINED_AS:
        _check_trained_as(head, shape, config, name, settings)
    auto = auto_class(head, shape.writes, shape.model_type)
    if shape.kind not in KINDS[head] or type(config) not in auto._model_mapping:  # noqa: SLF001  # there is no public list of the supported configurations
        raise refusal(head, name, settings)
    there = tensors(file for file in weights if file.suffix == ".safetensors")
    own = _head_only_weights(_build_on_meta(auto, config))
    if there and own and set(missing_weights(auto, config, there)) == set(own):
        raise refusal(head, name, settings)


def _check_trained_as(head: str, shape: Architecture, config: Any, name: str, settings: Settings) -> None:
    """Raise UserError if the configuration does not name a class with a head for labels."""
    named = getattr(config, "architectures", None) or ()
    if not any(str(one).endswith(TRAINED_AS[head]) for one in named):
        raise refusal(head, name, settings)
    if shape.kind == "encoder-decoder":
        raise UserError(
            gettext_lazy(
                "{name} reads one text and writes another; labels are told of encoders and decoders here.", name=name
            )
        )


def in_batches(head: str, model: Any) -> None:
    """Allow a decoder with a classification head to read batches of samples of equal length.

    It classifies at the last token that is not padding, and refuses batches if its configuration has no padding
    token. With an id that no token has, it reads all tokens, as for a single text.
    """
    inner = model.config.get_text_config()
    if head == CLASSIFY and getattr(inner, "pad_token_id", None) is None:
        inner.pad_token_id = -1


def made_up(head: str, model: Any, missing: Iterable[str]) -> list[str]:
    """Return the missing weights, sorted, that the head of a loaded model needs.

    The pooler belongs to the bare model, but classification heads are computed from its output.
    """
    base = f"{model.base_model_prefix}."
    judges = head in (NEXT_SENTENCE, CLASSIFY, SEES)
    return sorted(key for key in missing if not key.startswith(base) or (judges and ".pooler." in key))


def missing_weights(auto: Any, config: Any, names: Collection[str]) -> list[str]:
    """Return the weights that a head adds to the bare model and that a checkpoint's tensor names lack.

    >>> import transformers
    >>> config = transformers.BertConfig(num_hidden_layers=1)
    >>> missing_weights(transformers.AutoModelForNextSentencePrediction, config, ["cls.seq_relationship.weight"])
    ['cls.seq_relationship.bias']
    """
    model = _build_on_meta(auto, config)
    there = {_rename_tensor(name) for name in names} | _as_loaded(model, names)
    return sorted(set(_head_only_weights(model)) - there)


def _build_on_meta(auto: Any, config: Any) -> Any:
    """Build the model with a head on the meta device, without weights."""
    import torch

    with torch.device("meta"):
        return auto.from_config(config, trust_remote_code=False)


def _head_only_weights(model: Any) -> list[str]:
    """Return the names of a head's own weights, which neither belong to the bare model nor are tied."""
    base = f"{model.base_model_prefix}."
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    return [key for key, _ in model.named_parameters() if not key.startswith(base) and key not in tied]


def _as_loaded(model: Any, names: Collection[str]) -> set[str]:
    """Return a checkpoint's tensor names after transformers' renaming, as for GPT-NeoX's head."""
    from transformers.conversion_mapping import get_model_conversion_mapping
    from transformers.core_model_loading import WeightRenaming

    changes = [change for change in get_model_conversion_mapping(model) if isinstance(change, WeightRenaming)]
    return {change.rename_source_key(name)[0] for change in changes for name in names}


def _rename_tensor(tensor: str) -> str:
    for old, new in _OLD.items():
        if tensor.endswith(old):
            return tensor.removesuffix(old) + new
    return tensor
