"""Properties of a model that follow from its config.json only."""

from __future__ import annotations

from typing import Any

import pytest

from inference.errors import UserError
from inference.files.architecture import read
from tests.support.cases import loop_over


@loop_over(
    ("config", "kind", "writes"),
    [
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, "encoder", False),
        ({"model_type": "bert", "is_decoder": True}, "decoder", False),
        ({"model_type": "distilbert"}, "encoder", False),
        ({"model_type": "xlnet"}, "encoder", False),
        ({"model_type": "modernbert"}, "encoder", False),
        ({"model_type": "gpt2"}, "decoder", False),
        ({"model_type": "llama"}, "decoder", False),
        ({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]}, "encoder-decoder", True),
        ({"model_type": "t5", "architectures": ["T5Model"]}, "encoder-decoder", False),
        ({"model_type": "marian", "architectures": ["MarianMTModel"]}, "encoder-decoder", True),
    ],
)
def test_kinds(config: dict[str, Any], kind: str, writes: bool) -> None:
    found = read(config, "some/model")
    assert (found.kind, found.writes) == (kind, writes)
    assert found.heads > 1
    assert found.layers > 1
    assert found.name == (config.get("architectures") or [found.name])[0]


@loop_over(
    ("model_type", "reads"), [("bert", "text"), ("llava", "text"), ("dinov2", "pictures"), ("vit", "pictures"),
                              ("clip", "both"), ("siglip", "both")],
)  # fmt: skip
def test_what_a_model_reads(model_type: str, reads: str) -> None:
    found = read({"model_type": model_type}, "some/model")
    assert (found.reads, found.heads > 1) == (reads, True)


@loop_over(
    ("model_type", "said"),
    [
        ("swin", "attends inside windows"),
        ("swinv2", "attends inside windows"),
        ("vit_mae", "has no patches"),
        ("siglip2", "has no patches"),
        ("blip", "has no patches"),
        ("whisper", "reads sound or video"),
    ],
)
def test_what_sees_in_another_way_is_refused(model_type: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read({"model_type": model_type}, "some/model")


def test_labels_may_be_called_anything() -> None:
    assert read({"model_type": "bert", "label2id": {"forehead": 5000}}, "some/model").heads == 12


@loop_over(
    "config",
    [
        {"model_type": "bert", "num_hidden_layers": 100_000_000},
        {"model_type": "llama", "num_hidden_layers": 10**9},  # transformers would build a list of this length.
        {"model_type": "bert", "num_attention_heads": 1001},
        {"model_type": "bert", "num_hidden_layers": -1},
        {"model_type": "bert", "num_attention_heads": -12},
        {"model_type": "bert", "num_hidden_layers": 2.5},
        {"model_type": "bert", "num_hidden_layers": "12"},
        {"model_type": "bert", "num_hidden_layers": 1e400},
        {"model_type": "bert", "num_labels": 10**9},
        {"model_type": "gpt_neo", "attention_types": [[["global", "local"], 10**9]]},
        {"model_type": "llava", "text_config": {"model_type": "llama", "num_hidden_layers": 10**9}},
        {"model_type": "bert", "architectures": 5},
    ],
    ids=str,
)
def test_absurd_numbers_are_refused_at_once(config: dict[str, object]) -> None:
    with pytest.raises(UserError, match="some/model"):
        read(config, "some/model")
