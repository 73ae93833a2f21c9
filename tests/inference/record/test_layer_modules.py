"""The layers of a model, and their inputs."""

from __future__ import annotations

from inference.record.records import block_of


def test_blocks_are_found_by_their_numbers() -> None:
    assert block_of("h.3.attn") == "h.3"
    assert block_of("encoder.albert_layer_groups.0.albert_layers.0.attention") == "encoder.albert_layer_groups.0"
