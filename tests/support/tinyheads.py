"""Tiny random models with heads for masked words and sentence pairs, with their families' kinds of tokenizer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.tinymodels import byte_level, unigram, wordpiece

WIDE = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
LONG = {"max_position_embeddings": 40}
# RoBERTa-like models do not use the first rows of the position table, up to the padding token's id.
LONGER = {"max_position_embeddings": 42, "pad_token_id": 1, "type_vocab_size": 1}


@dataclass(frozen=True)
class Kind:
    """A row of the table: model classes of transformers and their configuration."""

    model_type: str
    classes: tuple[str, ...]  # Masked words; then pairs, then both, if there are such classes.
    tokenizer: str  # The kind is "wordpiece", "bytes" or "unigram".
    config: dict[str, Any] = field(default_factory=dict)


KINDS = {
    "BERT": Kind(
        "bert",
        ("BertForMaskedLM", "BertForNextSentencePrediction", "BertForPreTraining"),
        "wordpiece",
        {**WIDE, **LONG},
    ),
    "RoBERTa": Kind("roberta", ("RobertaForMaskedLM",), "bytes", {**WIDE, **LONGER}),
    "XLM-RoBERTa": Kind("xlm-roberta", ("XLMRobertaForMaskedLM",), "unigram", {**WIDE, **LONGER, "pad_token_id": 0}),
    "CamemBERT": Kind("camembert", ("CamembertForMaskedLM",), "unigram", {**WIDE, **LONGER, "pad_token_id": 0}),
    "DistilBERT": Kind(
        "distilbert",
        ("DistilBertForMaskedLM",),
        "wordpiece",
        {"dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 20, **LONG},
    ),
    "ALBERT": Kind(
        "albert", ("AlbertForMaskedLM", "AlbertForPreTraining"), "unigram", {**WIDE, **LONG, "embedding_size": 16}
    ),
    "ELECTRA": Kind("electra", ("ElectraForMaskedLM",), "wordpiece", {**WIDE, **LONG, "embedding_size": 16}),
    "ERNIE": Kind("ernie", ("ErnieForMaskedLM", "ErnieForNextSentencePrediction"), "wordpiece", {**WIDE, **LONG}),
    "ModernBERT": Kind(
        "modernbert",
        ("ModernBertForMaskedLM",),
        "bytes",
        {**WIDE, **LONG, "num_hidden_layers": 3, "local_attention": 4, "global_attn_every_n_layers": 3},
    ),
    "MPNet": Kind("mpnet", ("MPNetForMaskedLM",), "wordpiece", {**WIDE, "max_position_embeddings": 42}),
    "DeBERTa v2": Kind(
        "deberta-v2",
        ("DebertaV2ForMaskedLM",),
        "unigram",
        {**WIDE, **LONG, "relative_attention": True, "pos_att_type": "c2p|p2c", "position_buckets": 4},
    ),
    "ESM": Kind(
        "esm",
        ("EsmForMaskedLM",),
        "wordpiece",
        {**WIDE, "max_position_embeddings": 42, "pad_token_id": 0, "mask_token_id": 4, "token_dropout": True},
    ),
    "MobileBERT": Kind(
        "mobilebert",
        ("MobileBertForMaskedLM", "MobileBertForNextSentencePrediction"),
        "wordpiece",
        {**WIDE, **LONG, "embedding_size": 16, "intra_bottleneck_size": 24, "num_feedforward_networks": 1},
    ),
    "NomicBERT": Kind("nomic_bert", ("NomicBertForMaskedLM",), "wordpiece", {**WIDE, **LONG, "pad_token_id": 0}),
}  # fmt: skip
# This class for pairs is rare in use and therefore not in every test.
EVERY = {
    **KINDS,
    "Megatron-BERT": Kind(
        "megatron-bert",
        ("MegatronBertForMaskedLM", "MegatronBertForNextSentencePrediction"),
        "wordpiece",
        {**WIDE, **LONG},
    ),
}
PAIRS = tuple(name for name, kind in EVERY.items() if len(kind.classes) > 1)


def save(folder: Path, name: str, head: int = 0, spread: float = 0.2, **changes: Any) -> Path:
    """Save the model of a row; ``head`` selects its class.

    ``head`` 0 is the class for masked words, 1 the class for pairs, 2 the class for both. ``spread`` is the
    standard deviation of noise that is added to the random weights, so that answers differ; ``changes`` override
    the configuration.
    """
    import torch
    import transformers

    kind = EVERY[name]
    folder.mkdir(parents=True, exist_ok=True)
    size = save_tokenizer(folder, kind.tokenizer)
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        kind.model_type, **{"pad_token_id": 0, "vocab_size": size, **kind.config, **changes}
    )
    model = getattr(transformers, kind.classes[head])(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * spread)
    model.save_pretrained(folder)
    return folder


def save_tokenizer(folder: Path, kind: str) -> int:
    """Save a tokenizer with a mask token; return the size of its vocabulary."""
    from tokenizers import AddedToken
    from transformers import AutoTokenizer

    {"wordpiece": wordpiece, "bytes": lambda place: byte_level(place, roberta=True), "unigram": unigram}[kind](folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if tokenizer.mask_token is None:
        # The mask token includes the space before it, as RoBERTa's does: a word's first token contains that space.
        tokenizer.add_special_tokens({"mask_token": AddedToken("<mask>", lstrip=True, special=True)})
        tokenizer.save_pretrained(folder)
    return len(tokenizer)
