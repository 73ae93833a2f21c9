"""Parts and roles of the stages of a pass, derived from the running modules and the inputs of each stage."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import Any

import pytest

from inference.record import capture
from inference.runners.whole_pass import taken_apart
from inference.tasks.whole_pass import Stage
from tests.support.architectures import MAPS_ONLY, RECORDED, build, inputs, named
from tests.support.cases import loop_over

capture.install()
POST = ["attention", "residual", "norm", "feed-forward", "residual", "norm"]
PRE = ["norm", "attention", "residual", "norm", "feed-forward", "residual"]
BOTH = ["norm", "attention", "norm", "residual", "norm", "feed-forward", "norm", "residual"]
LAYERS = {
    "BERT": POST, "ALBERT": POST, "DistilBERT": POST, "BART": POST, "GPT-2": PRE, "Llama": PRE, "OPT": PRE,
    "T5": PRE, "gpt-oss": PRE, "Gemma 2": BOTH,
    "GPT-NeoX": ["norm", "attention", "norm", "feed-forward", "residual"],  # Parallel blocks have a single sum.
}  # fmt: skip


@cache
def stages(name: str) -> tuple[Stage, ...]:
    row = named(name)
    model = build(row, capture.NAME)
    capture.prepare(model)
    return taken_apart(model, row.kind, inputs(row))[1]


def parts(found: Any) -> list[str]:
    return [part for part, _ in groupby(stage.part for stage in found)]


@loop_over("layer", [0, 1])
@loop_over("name", LAYERS)
def test_the_parts_of_a_layer_come_in_the_order_in_which_they_run(name: Any, layer: int) -> None:
    side = stages(name)[0].side
    assert parts(stage for stage in stages(name) if stage.layer == layer and stage.side == side) == LAYERS[name]


def test_before_and_after_the_layers() -> None:
    outside = [stage for stage in stages("BERT") if stage.layer is None]
    assert parts(outside) == ["embeddings", "pooler"]
    tables = [stage.role for stage in outside if stage.formula == "embedding"]
    assert tables == ["token embeddings", "segment embeddings", "position embeddings"]
    assert parts(stage for stage in stages("GPT-2") if stage.layer is None) == ["embeddings", "norm"]


def test_a_translator_has_two_sides() -> None:
    found = stages("Marian")
    assert [side for side, _ in groupby(stage.side for stage in found)] == ["encoder", "decoder"]
    assert parts(stage for stage in found if stage.side == "decoder" and stage.layer == 1) == [
        "attention", "residual", "norm", "cross-attention", "residual", "norm", "feed-forward", "residual", "norm",
    ]  # fmt: skip
    assert parts(stage for stage in stages("T5") if stage.layer is None) == ["embeddings", "norm", "embeddings", "norm"]
    crossing = {stage.role: stage for stage in found if stage.part == "cross-attention" and stage.layer == 0}
    last = max(stage.number for stage in found if stage.side == "encoder")
    assert crossing["keys"].reads == crossing["values"].reads == (last,)
    assert crossing["queries"].reads != (last,)


def test_roles_inside_a_part() -> None:
    def roles(name: str, part: str) -> list[str]:
        return [stage.role for stage in stages(name) if stage.part == part and stage.layer == 0 and stage.role]

    assert roles("BERT", "attention") == ["queries", "keys", "values", "weighted values", "output"]
    assert roles("GPT-2", "attention") == ["queries, keys, values", "weighted values", "output"]
    assert roles("BERT", "feed-forward") == ["hidden", "after the activation", "output"]
    assert roles("Llama", "feed-forward") == ["hidden", "hidden", "after the activation", "output"]


def test_a_shared_layer_has_the_weights_of_its_own_file_at_each_turn() -> None:
    by_layer = [[stage.weights for stage in stages("ALBERT") if stage.layer == layer] for layer in (0, 1)]
    assert by_layer[0] == by_layer[1]
    assert any("full_layer_layer_norm" in name for weights in by_layer[0] for name in weights)


@pytest.mark.slow
@loop_over("name", [row.name for row in (*RECORDED[:20], *MAPS_ONLY[:4])])
def test_stages_read_what_came_before_them(name: Any) -> None:
    seen: set[int] = set()
    for stage in stages(name):
        assert set(stage.reads) <= seen
        assert stage.reads or stage.weights
        assert stage.lines[-1].startswith(f"v{stage.number} = ")
        seen.add(stage.number)
