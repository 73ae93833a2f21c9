"""Architectures that report finished maps only: supported forms, and clear errors for the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from attention.record import MapRecord
from inference.record import capture
from tests.support.architectures import SEQ2SEQ, SPARSE_BIGBIRD, T5, Architecture, build, inputs, named

capture.install()
FULL_BIGBIRD = replace(SPARSE_BIGBIRD, config={**SPARSE_BIGBIRD.config, "attention_type": "original_full"})


def prepared(row: Architecture) -> Any:
    """Build the row's model and prepare it for recording."""
    model = build(row, capture.NAME)
    capture.prepare(model)
    return model


def test_bigbird_is_shown_up_to_where_it_becomes_sparse() -> None:
    model, given = prepared(SPARSE_BIGBIRD), inputs(SPARSE_BIGBIRD, (14,))
    with torch.inference_mode():
        expected = build(FULL_BIGBIRD, "eager")(**given, output_attentions=True).attentions
    for record, maps in zip(capture.record_parts(model, given)[0]["encoder"], expected, strict=True):
        assert isinstance(record, MapRecord)
        np.testing.assert_allclose(record.maps, maps[0].numpy(), atol=1e-6)
    with pytest.raises(ValueError, match=r"beyond 14 .* 15\b"):
        capture.record_parts(model, inputs(SPARSE_BIGBIRD, (15,)))


def test_sparse_bigbird_s_own_maps_would_mislead() -> None:
    """Sparse BigBird is refused because its reported rows do not sum to one."""
    with torch.inference_mode():
        maps = build(SPARSE_BIGBIRD, "eager")(**inputs(SPARSE_BIGBIRD, (20,)), output_attentions=True).attentions
    assert maps[0].sum(-1).min() < 0.9


def test_maps_that_take_too_much_memory_are_refused() -> None:
    row = named("MPNet")
    model = prepared(row)
    needed = 2 * 3 * 7**2 * 4  # The factors are layers, heads, tokens squared and bytes.
    capture.record(model, inputs(row, (7,)), largest=needed)
    with pytest.raises(ValueError, match=r"7 tokens .*MPNetModel"):
        capture.record(model, inputs(row, (7,)), largest=needed - 1)


@pytest.mark.parametrize(
    ("name", "config", "words"),
    [
        ("mamba", {"hidden_size": 24, "num_hidden_layers": 2, "vocab_size": 40}, "MambaModel reports no attention"),
        ("fnet", {"hidden_size": 24, "num_hidden_layers": 2, "vocab_size": 40}, "FNetModel reports no attention"),
        ("longt5", T5, "LongT5Model reports attention of its encoder"),
        ("pegasus_x", {**SEQ2SEQ, "block_size": 4}, "PegasusXModel reports attention of its encoder"),
        (
            "swin",
            {"image_size": 32, "embed_dim": 12, "depths": [2, 2], "num_heads": [2, 3], "window_size": 4},
            "SwinModel attends inside windows only",
        ),
    ],
)
def test_models_without_maps_of_the_whole_are_refused(name: str, config: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        prepared(Architecture(name, name, "", config))


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^Linear came"):
        capture.prepare(torch.nn.Linear(3, 3))


def test_a_model_that_cannot_run_is_refused() -> None:
    model = build(named("BERT"), capture.NAME)
    model.encoder.layer[1].output.dense = torch.nn.Linear(5, 5)
    with pytest.raises(ValueError, match=r"^BertModel failed"):
        capture.prepare(model)


def test_a_model_that_is_not_prepared_is_refused() -> None:
    with pytest.raises(ValueError, match=r"capture\.prepare"):
        capture.record_parts(build(named("BERT"), capture.NAME), inputs(named("BERT")))
