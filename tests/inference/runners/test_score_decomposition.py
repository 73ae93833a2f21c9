"""Terms of an attention score, compared with the score, with changed weights, and with a pass by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attention.head_names import parse_head
from attention.score_terms import head_source
from inference import LocalBackend, TraceRequest, UserError
from inference.anatomy.contributions import SourcePaths
from inference.anatomy.pass_graph import record_graph
from inference.anatomy.source_rules import SourceRules
from inference.files import checkpoint
from inference.files.embedded import SMOLLM
from inference.record import capture
from inference.record.edit_hooks import heads_of
from inference.runners.score_decomposition import explain
from inference.settings import Settings
from inference.tasks.score_decomposition import RANDOM, ScoreRequest
from tests.support.architectures import EVERY_RECORDED, MAPS_ONLY, Architecture, build, inputs, named
from tests.support.cases import loop_over
from tests.support.present import present

capture.install()
THREE = [named(name) for name in ("BERT", "Llama", "T5")]
ANIMAL = "The animal didn't cross the street because it was too tired."
BACKEND = LocalBackend()


def prepared(row: Architecture) -> Any:
    capture.prepare(model := build(row, capture.NAME))
    return model


def assert_terms_sum(row: Architecture) -> None:
    model = prepared(row)
    for part, heads in heads_of(model).items():
        for layer, many in enumerate(heads):
            asked = ScoreRequest(part=part, layer=layer, head=many - 1, query_token=4, key_token=3, checks=1)
            found = explain(model, inputs(row), asked)
            assert found.error <= 1e-4 * max(1, abs(found.score)), (part, layer)
            excess = found.score - found.mean_over_keys
            assert found.terms.excess_terms.sum() == pytest.approx(excess, abs=1e-4 * max(1, abs(excess)))


@pytest.mark.slow
@loop_over("row", THREE, ids=[row.name for row in THREE])
def test_terms_sum_to_the_score(row: Architecture) -> None:
    assert_terms_sum(row)


@pytest.mark.slow
@loop_over("row", EVERY_RECORDED, ids=[row.name for row in EVERY_RECORDED])
def test_terms_sum_to_the_score_in_every_architecture(row: Architecture) -> None:
    assert_terms_sum(row)


@pytest.mark.slow
@loop_over("row", THREE, ids=[row.name for row in THREE])
def test_earlier_heads_and_blocks_are_the_sources(row: Architecture) -> None:
    model = prepared(row)
    part = next(iter(heads_of(model)))
    heads = heads_of(model)[part][0]
    found = explain(model, inputs(row), ScoreRequest(part=part, layer=1, head=0, query_token=4, key_token=3, checks=0))
    assert found.checks == ()
    expected = {head_source(part, 0, head) for head in range(heads)} | {"ffn 0", "token"}
    assert expected <= set(found.terms.key_sources) <= expected | {"position", "segment", "bias", "relative position"}


def test_a_head_without_output_has_zero_terms() -> None:
    row = named("BERT")
    model = prepared(row)
    with torch.no_grad():
        model.encoder.layer[0].attention.output.dense.weight[:, 8:16] = 0  # of head 1
    terms = explain(model, inputs(row), ScoreRequest(layer=1, query_token=4, key_token=3)).terms
    assert not terms.values[terms.query_sources.index("head 0-1")].any()
    assert terms.values[terms.query_sources.index("head 0-0")].any()


def test_swapped_heads_swap_their_terms() -> None:
    row, order = named("BERT"), [*range(8, 16), *range(8), *range(16, 24)]
    model = prepared(row)
    before = explain(model, inputs(row), ScoreRequest(layer=1, query_token=4, key_token=3)).terms
    attention = model.encoder.layer[0].attention
    with torch.no_grad():
        for linear in (attention.self.query, attention.self.key, attention.self.value):
            linear.weight.copy_(linear.weight[order].clone())
            linear.bias.copy_(linear.bias[order].clone())
        attention.output.dense.weight.copy_(attention.output.dense.weight[:, order].clone())
    after = explain(model, inputs(row), ScoreRequest(layer=1, query_token=4, key_token=3)).terms
    swap = {"head 0-0": "head 0-1", "head 0-1": "head 0-0"}
    for source in before.key_sources:
        assert after.of_key(swap.get(source, source)) == pytest.approx(before.of_key(source), abs=1e-5)
    assert before.of_key("head 0-0") != pytest.approx(before.of_key("head 0-1"), abs=1e-3)


def test_replay_without_a_change_is_the_recorded_value() -> None:
    for name in ("BERT", "Qwen 3", "T5"):
        row = named(name)
        model = prepared(row)
        graph = record_graph(model, inputs(row))
        paths = SourcePaths(graph, SourceRules(model, graph))
        for node in graph.attentions:
            entries = paths.layer_inputs(node.query)
            again = paths.replay(node.query, {id(entry): graph.array(entry) for entry in entries})
            np.testing.assert_allclose(again, graph.array(node.query), rtol=1e-4, atol=1e-4, err_msg=name)


def test_measured_fall_is_that_of_a_pass_by_hand() -> None:
    row = named("GPT-2")
    model, given = prepared(row), inputs(row)
    found = explain(model, given, ScoreRequest(layer=1, head=2, query_token=4, key_token=3, checks=99))
    block = model.h[1]
    with torch.no_grad():
        stream = model(**given, output_hidden_states=True).hidden_states[1]
        without = stream - model.wte(given["input_ids"])
        query, other = (block.attn.c_attn(block.ln_1(x))[0, 4, 16:24] for x in (stream, without))
        keys = block.attn.c_attn(block.ln_1(stream))[0, :5, 40:48]
        rows = [(keys @ one / 8**0.5).numpy() for one in (query, other)]
    fall = (rows[0][3] - rows[0].mean()) - (rows[1][3] - rows[1].mean())
    [check] = [check for check in found.checks if (check.side, check.source) == ("query", "token")]
    assert check.measured == pytest.approx(fall, abs=1e-4)
    assert check.predicted == pytest.approx(found.terms.of_query("token"))


def test_each_side_has_a_random_control() -> None:
    row = named("BERT")
    checks = explain(prepared(row), inputs(row), ScoreRequest(layer=1, query_token=4, key_token=3, checks=2)).checks
    assert Counter(check.side for check in checks) == {"query": 3, "key": 3}
    assert [check.source for check in checks if check.source == RANDOM] == [RANDOM] * 2


def place(text: str, word: str, pair: str | None = None) -> int:
    return BACKEND.trace(TraceRequest(text=text, pair=pair)).source.pieces.index(word)


@pytest.mark.slow
def test_minilm_finds_the_animal_by_its_own_token() -> None:
    query, key = place(ANIMAL, "it"), place(ANIMAL, "animal")
    found = BACKEND.inspect(ScoreRequest(text=ANIMAL, layer=3, head=1, query_token=query, key_token=key))
    terms = found.terms
    assert max(terms.key_sources, key=terms.of_key) == "token"
    assert max(terms.query_sources, key=terms.of_query) == "ffn 2"
    assert terms.of_key("token") == pytest.approx(1.51, abs=0.01)  # measured apart, in float64
    wide = ANIMAL.replace("tired", "wide")
    other = BACKEND.inspect(ScoreRequest(text=wide, layer=3, head=1, query_token=query, key_token=key)).terms
    assert terms.of_query("ffn 2") > 2 * other.of_query("ffn 2")


@pytest.mark.slow
def test_segments_are_a_source_of_a_pair() -> None:
    text, pair = "Who slept?", "The cat slept."
    query = place(text, "cat", pair)
    found = BACKEND.inspect(ScoreRequest(text=text, pair=pair, layer=2, head=3, query_token=query, key_token=1))
    assert found.error < 1e-4
    assert "segment" in found.terms.query_sources


@loop_over(
    ("asked", "number"),
    [
        (ScoreRequest(layer=2, query_token=4, key_token=3), "2-0"),
        (ScoreRequest(head=9, query_token=4, key_token=3), "0-9"),
        (ScoreRequest(query_token=40, key_token=3), "40"),
        (ScoreRequest(query_token=4, key_token=-1), "−1"),
        (ScoreRequest(query_token=2, key_token=6), "6"),
    ],
)
def test_missing_places_and_masked_keys_are_refused(asked: ScoreRequest, number: str) -> None:
    row = named("Llama")
    with pytest.raises(UserError, match=number):
        explain(prepared(row), inputs(row), asked)


def test_a_model_with_its_own_attention_is_refused() -> None:
    row = next(row for row in MAPS_ONLY if row.name == "BLOOM")
    with pytest.raises(UserError, match="Bloom"):
        explain(prepared(row), inputs(row), ScoreRequest(query_token=4, key_token=3))


@pytest.mark.slow
@pytest.mark.skipif(not SMOLLM.is_installed() or not checkpoint.can_read_gguf(), reason="SmolLM2 is not installed")
def test_smollm_induction_head_reads_the_previous_token_head(tmp_path: Path) -> None:
    backend = LocalBackend(Settings(cache=tmp_path, offline=True))
    text = "The plane landed near Vermont before noon. Later, the plane landed near"
    trace = backend.trace(TraceRequest(model=SMOLLM.name, text=text))
    key, query = trace.source.pieces.index("near") + 1, len(trace.source) - 1
    asked = ScoreRequest(SMOLLM.name, text=text, layer=18, head=6, query_token=query, key_token=key)
    found = backend.inspect(asked)
    terms = found.terms
    source = max(terms.key_sources, key=terms.of_key)
    layer, head = present(parse_head(source))
    assert trace.weights(layer, head)[key, key - 1] > 0.5
    [check] = [check for check in found.checks if (check.side, check.source) == ("key", source)]
    assert not check.differs
    assert check.measured > 0.5 * (found.score - found.mean_over_keys)
