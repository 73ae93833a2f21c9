"""The heads that a question may need: which class has them, and whether a checkpoint holds their weights.

A library that is asked for a head which the checkpoint lacks makes one up at random, and its answers look real. So a
missing head is seen in the names of the checkpoint's tensors before anything is loaded, and refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference.errors import Refusal

if TYPE_CHECKING:
    from inference.load.architecture import Architecture
    from inference.settings import Settings

BARE, MASKED, NEXT_SENTENCE, CAUSAL = "", "masked", "next sentence", "causal"
WRITES = "writes"  # writes a text from a source; the model that is traced has this head already, where there is one
RANDOM = "random weights"  # the bare architecture with weights that were never trained (inference.load.untrained_twin)
TOKENIZER = "tokenizer"  # no model at all: what its tokenizer does can be asked, and nothing else

WHAT = {
    MASKED: "no head that guesses masked words",
    NEXT_SENTENCE: "no head that judges whether one text follows another",
    CAUSAL: "no head that continues a text",
    WRITES: "no head that writes one text from another",
}
KINDS = {MASKED: "encoder", NEXT_SENTENCE: "encoder", CAUSAL: "decoder", WRITES: "encoder-decoder"}
# How the tensors of these heads are called, for lists of models; what decides is ``lacking``.
_MARKS = {
    MASKED: (
        "cls.predictions.",
        "lm_head.",
        "vocab_transform.",
        "generator_predictions.",
        "predictions.",
        "lm_predictions.",
        "head.dense.",
        "pred_layer.",
        "mlm_head.",
    ),
    NEXT_SENTENCE: ("cls.seq_relationship.", "sop_classifier."),
}
_OLD = {".gamma": ".weight", ".beta": ".bias"}  # names of a norm's weights in checkpoints of 2018, still read


def auto_class(head: str, writes: bool, model_type: str = "") -> Any:
    """The class that loads a model with a head; ``writes``: the bare model is one that generates a target text."""
    import transformers

    if head in (BARE, RANDOM):
        return transformers.AutoModelForSeq2SeqLM if writes else transformers.AutoModel
    if head == NEXT_SENTENCE and model_type == "albert":  # judges the order of two texts (arXiv:1909.11942)
        return transformers.AutoModelForPreTraining
    return {
        MASKED: transformers.AutoModelForMaskedLM,
        NEXT_SENTENCE: transformers.AutoModelForNextSentencePrediction,
        CAUSAL: transformers.AutoModelForCausalLM,
    }[head]


def check(head: str, shape: Architecture, config: Any, weights: Iterable[Path], name: str, settings: Settings) -> None:
    """Raises Refusal when a checkpoint has nothing of a head, with the models that have one; before it is loaded.

    ``config`` is transformers' own for the checkpoint, ``weights`` its safetensors files; of a GGUF file the names are
    not known beforehand. Whether a head of which something is there is whole, is seen afterwards (``made_up``).
    """
    if head in (BARE, RANDOM):
        return
    auto = auto_class(head, shape.writes, shape.model_type)
    if shape.kind != KINDS[head] or type(config) not in auto._model_mapping:
        raise refusal(head, name, settings)
    there = tensors(file for file in weights if file.suffix == ".safetensors")
    own = _own(_sketched(auto, config))
    if there and own and set(lacking(auto, config, there)) == set(own):
        raise refusal(head, name, settings)


def made_up(head: str, model: Any, missing: Iterable[str]) -> list[str]:
    """Those of a loaded model's missing weights that its head cannot do without, sorted.

    The pooler is the bare model's, but the judgement about two texts is computed from it.
    """
    base = f"{model.base_model_prefix}."
    judges = head == NEXT_SENTENCE
    return sorted(key for key in missing if not key.startswith(base) or (judges and ".pooler." in key))


def tensors(weights: Iterable[Path]) -> frozenset[str]:
    """Names of the tensors in safetensors files, by their headers alone."""
    from safetensors import safe_open

    names: set[str] = set()
    for file in weights:
        with safe_open(file, framework="numpy") as opened:
            names.update(opened.keys())
    return frozenset(names)


def lacking(auto: Any, config: Any, names: Collection[str]) -> list[str]:
    """The weights that a head has beside the bare model and that are not among a checkpoint's tensors.

    >>> import transformers
    >>> config = transformers.BertConfig(num_hidden_layers=1)
    >>> lacking(transformers.AutoModelForNextSentencePrediction, config, ["cls.seq_relationship.weight"])
    ['cls.seq_relationship.bias']
    """
    model = _sketched(auto, config)
    there = {_renamed(name) for name in names} | _as_loaded(model, names)
    return sorted(set(_own(model)) - there)


def stated(names: Collection[str], kind: str) -> tuple[str, ...]:
    """The heads that a model's tensors look like; for lists of models, where nothing can be built to compare.

    >>> stated(["bert.pooler.dense.weight", "cls.predictions.bias"], "encoder")
    ('masked',)
    """
    if kind in ("decoder", "encoder-decoder"):
        return (CAUSAL,) if kind == "decoder" else (WRITES,)
    if kind != "encoder":
        return ()
    return tuple(head for head, marks in _MARKS.items() if any(name.startswith(marks) for name in names))


def refusal(head: str, name: str, settings: Settings) -> Refusal:
    """The sentence about a model without a head, with the models that have one."""
    from inference.catalogue.listing import catalogue
    from inference.files import smollm

    cards = [card for card in catalogue(settings) if head in card.heads]
    here = [card.title for card in cards if card.downloaded]
    there = [card.id for card in cards if not card.downloaded]
    ways = [f"On this machine {_listed(here)} would do."] if here else []
    ways += [f"On the hub {_listed(there[:4])} would do."] if there else []
    ways += [f"Without the hub: {smollm.HOW}."] if head == CAUSAL and not smollm.here() else []
    sentence = " ".join([f"{name} has {WHAT[head]}.", *ways])
    return Refusal(sentence, way_out="head", details={"head": head, "models": [card.id for card in cards]})


def _sketched(auto: Any, config: Any) -> Any:
    """The model with a head, without its weights."""
    import torch

    with torch.device("meta"):
        return auto.from_config(config, trust_remote_code=False)


def _own(model: Any) -> list[str]:
    """The weights of a head that belong to it alone: neither the bare model's nor tied to one of these."""
    base = f"{model.base_model_prefix}."
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    return [key for key, _ in model.named_parameters() if not key.startswith(base) and key not in tied]


def _as_loaded(model: Any, names: Collection[str]) -> set[str]:
    """A checkpoint's names as transformers changes them for that model; GPT-NeoX's head has another in files."""
    from transformers.conversion_mapping import get_model_conversion_mapping
    from transformers.core_model_loading import WeightRenaming

    changes = [change for change in get_model_conversion_mapping(model) if isinstance(change, WeightRenaming)]
    return {change.rename_source_key(name)[0] for change in changes for name in names}


def _renamed(tensor: str) -> str:
    for old, new in _OLD.items():
        if tensor.endswith(old):
            return tensor.removesuffix(old) + new
    return tensor


def _listed(names: list[str]) -> str:
    """Names as a sentence lists them.

    >>> _listed(["a", "b", "c"])
    'a, b or c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
