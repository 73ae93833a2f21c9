"""What a config.json alone tells."""

from __future__ import annotations

import pytest

from inference.architecture import read


@pytest.mark.parametrize(
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
def test_kinds(config: dict[str, object], kind: str, writes: bool) -> None:
    found = read(config, "some/model")
    assert (found.kind, found.writes) == (kind, writes)
    assert found.heads > 1
    assert found.layers > 1
    assert found.name == (config.get("architectures") or [found.name])[0]
