"""The parts of a model, derived from the values of a pass; every parameter is counted a single time."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

from inference import LocalBackend
from inference.errors import UserError
from inference.record import capture
from inference.runners.anatomy import dissect
from inference.tasks.anatomy import (
    FORWARD,
    HEAD,
    INTO,
    NORMS,
    ORDER,
    OTHER,
    OUT,
    OUTER_NORMS,
    POOLER,
    POSITIONS,
    SEGMENTS,
    TOKENS,
    Anatomy,
    Flow,
    LayerStep,
    crossing,
)
from tests.support.anatomies import NAMES, built, taken_apart
from tests.support.architectures import BERT, MAPS_ONLY, RECORDED, SEQ2SEQ, Architecture, build
from tests.support.cases import loop_over
from tests.support.present import present

EVERY = [*RECORDED, *MAPS_ONLY]
POST, PRE, BOTH = "post", "pre", "both"
PLACEMENTS = {
    "BERT": POST, "RoBERTa": POST, "DistilBERT": POST, "ALBERT": POST, "ELECTRA": POST, "NomicBERT": POST,
    "DeBERTa v2": POST, "XLNet": POST, "Marian": POST, "BART": POST, "GPT-2": PRE, "Llama": PRE, "OPT": PRE,
    "ModernBERT": PRE, "ESM": PRE, "T5": PRE, "mBART": PRE, "Pegasus": PRE, "BLOOM": PRE, "GPT-J": PRE,
    "gpt-oss": PRE, "Gemma 2": BOTH, "Gemma 3": BOTH,
}  # fmt: skip


# --- All architectures -------------------------------------------------------------------------------------------


@pytest.mark.slow
@loop_over("row", EVERY, ids=[row.name for row in EVERY])
def test_every_parameter_is_in_one_part(row: Any) -> None:
    capture.install()
    model = build(row, capture.NAME)
    found = built(row.name)
    assert found.parameter_count == found.total == model.num_parameters()
    names = [tensor.name for part in found.parts for tensor in part.tensors]
    assert len(names) == len(set(names))
    assert {part.name for part in found.parts} <= set(ORDER)


@loop_over("name", NAMES)
def test_what_parameters_are_for_is_known(name: Any) -> None:
    other = [tensor.name for part in built(name).parts if part.name == OTHER for tensor in part.tensors]
    assert set(other) <= {"mask_emb", "contact_head.regression.weight", "contact_head.regression.bias"}
    for part in built(name).parts:
        assert part.layers in (0, 1, *(stack.own for stack in built(name).stacks))


@loop_over("name", NAMES)
def test_connections_are_found_in_the_numbers(name: Any) -> None:
    for stack in built(name).stacks:
        assert stack.flow.followed == (name != "XLNet"), "XLNet's output matrix is no module"
        assert 0 <= stack.flow.leaves < len(stack.flow.steps)
        kinds = [step.kind for step in stack.flow.steps]
        assert kinds.count("attention") == kinds.count("feed-forward") == 1
        assert all(source < at for at, step in enumerate(stack.flow.steps) for source in step.sources)
        assert all((step.kind == "add") == (len(step.sources) > 1) for step in stack.flow.steps)


@loop_over(("name", "placement"), PLACEMENTS.items())
def test_where_the_norms_stand_is_measured(name: Any, placement: Any) -> None:
    assert {stack.flow.placement for stack in built(name).stacks} == {placement}


@loop_over("name", NAMES)
def test_only_some_run_both_parts_side_by_side(name: Any) -> None:
    assert {stack.flow.parallel for stack in built(name).stacks} == {name in ("GPT-NeoX", "GPT-J", "Falcon")}


@loop_over("name", NAMES)
def test_who_looks_back_only_is_measured(name: Any) -> None:
    for stack in built(name).stacks:
        assert stack.causal == (stack.part == "decoder" or name == "CLIP, text")


@loop_over("name", NAMES)
def test_sizes_are_those_of_the_table(name: Any) -> None:
    for stack in built(name).stacks:
        heads, kv_heads, width = (4, 2, 6) if name in GROUPED_HEADS else (3, 1 if name == "Falcon" else 3, 8)
        assert (stack.attention.heads, stack.attention.kv_heads, stack.attention.width) == (heads, kv_heads, width)
        assert (stack.cross is not None) == (stack.part == "decoder" and built(name).kind == "encoder-decoder")
        assert stack.feed_forward is not None
        assert stack.feed_forward.inputs == built(name).width == 24
        wide = name.startswith("GPT-2") or name in ("BLOOM", "Falcon", "GPT-J", "MPT")
        assert stack.feed_forward.hidden == (96 if wide else 32)


GROUPED_HEADS = {
    "EuroBERT", "Llama", "Mistral", "Gemma", "Gemma 2", "Gemma 3", "Qwen 2", "Qwen 3", "Phi 3", "gpt-oss",
}  # fmt: skip


# --- Activation functions identified by their values -------------------------------------------------------------


@loop_over(
    ("name", "function", "gated"),
    [
        ("BERT", "GELU", False),
        ("GPT-2", "GELU (tanh approximation)", False),
        ("CLIP, text", "GELU (sigmoid approximation)", False),
        ("T5", "ReLU", False),
        ("OPT", "ReLU", False),
        ("mT5", "GELU (tanh approximation)", True),
        ("Llama", "SiLU", True),
        ("ModernBERT", "GELU", True),
        ("Phi 3", "SiLU", True),
    ],
)
def test_the_activation_is_what_the_module_computes(name: str, function: str, gated: bool) -> None:
    for stack in built(name).stacks:
        forward = present(stack.feed_forward)
        assert forward.activation.name == function
        assert forward.gated == gated
        assert not forward.activation.outputs.flags.writeable


def test_an_activation_that_is_no_module_is_taken_from_the_configuration() -> None:
    activation = present(built("gpt-oss").stacks[0].feed_forward).activation
    assert (activation.name, activation.stated, activation.inputs.size) == ("", "silu", 0)


def test_t5_calls_a_norm_layernorm_that_is_none() -> None:
    stack = built("T5").stacks[0]
    assert (stack.norm_class, stack.norm) == ("T5LayerNorm", "RMSNorm")
    assert built("BERT").stacks[0].norm == built("GPT-2").stacks[0].norm == "LayerNorm"


# --- Special cases -------------------------------------------------------------------------------------------------


def test_albert_uses_one_layer_again_and_again() -> None:
    stack = built("ALBERT").stacks[0]
    assert (stack.layers, stack.own, stack.alike) == (2, 1, 2)
    assert {part.layers for part in built("ALBERT").parts} == {0, 1}


def test_modernbert_s_first_layer_differs() -> None:
    stack = built("ModernBERT").stacks[0]
    assert (stack.layers, stack.alike) == (3, 2)
    assert (stack.window, stack.windowed) == (4, 2)


def test_experts_are_counted() -> None:
    forward = present(built("gpt-oss").stacks[0].feed_forward)
    assert (forward.experts, forward.experts_used) == (2, 1)


@pytest.mark.parametrize("name", ["Qwen 3", "Gemma 3", "Llama", "BERT"])
def test_norms_of_queries_and_keys_are_no_norms_of_the_layer(name: str) -> None:
    stack = built(name).stacks[0]
    assert stack.inner_norms == (name in ("Qwen 3", "Gemma 3"))
    assert [step.kind for step in stack.flow.steps].count("norm") == (4 if name == "Gemma 3" else 2)


@loop_over(
    ("name", "kinds"),
    [
        ("BERT", ("learned",)),
        ("Marian", ("sinusoidal",)),
        ("M2M100", ("sinusoidal",)),
        ("Llama", ("rotary",)),
        ("RoFormer", ("rotary",)),
        ("T5", ("relative",)),
        ("BLOOM", ("alibi",)),
        ("MPNet", ("learned", "relative")),
    ],
)
def test_how_positions_come_in(name: str, kinds: Any) -> None:
    assert built(name).positions == kinds


def test_what_stands_around_the_layers_is_in_order() -> None:
    bert, electra, t5 = built("BERT").stacks[0], built("ELECTRA").stacks[0], built("T5").stacks
    assert bert.before.parts == (TOKENS, SEGMENTS, POSITIONS, OUTER_NORMS)
    assert bert.after.parts == (POOLER,)
    assert electra.before.parts[-2:] == (OUTER_NORMS, "projection of the embeddings")
    assert [stack.before.parts for stack in t5] == [(TOKENS,), (TOKENS,)]
    assert [stack.after.parts for stack in t5] == [(OUTER_NORMS,), (OUTER_NORMS,)]
    assert [stack.after.norm for stack in (bert, *t5)] == ["", "RMSNorm", "RMSNorm"]
    assert electra.before.norm == "LayerNorm", "which reads 16 numbers, not 24"


def test_a_table_that_is_used_three_times_counts_once() -> None:
    found = built("BART")
    assert ("shared.weight", "decoder.embed_tokens.weight") in found.tied
    [tokens] = [part for part in found.parts if part.name == TOKENS]
    assert (tokens.where, tokens.count) == ("", 40 * 24)


def test_a_model_without_layers_is_refused() -> None:
    class Flat(torch.nn.Module):
        pass

    model = transformers.BertModel(transformers.BertConfig(**BERT))
    capture.install()
    capture.prepare(model)
    model.encoder.layer = torch.nn.ModuleList()
    with pytest.raises(UserError, match=r"BertModel.* apart"):
        dissect(model, "encoder", False, 8)


# --- by hand -------------------------------------------------------------------------------------------------------


def test_a_small_bert_by_hand() -> None:
    parts = {part.name: part for part in built("BERT").parts}
    counts = {name: part.count for name, part in parts.items()}
    assert counts == {
        TOKENS: 40 * 24,
        POSITIONS: 512 * 24,
        SEGMENTS: 2 * 24,
        INTO: 2 * 3 * (24 * 24 + 24),
        OUT: 2 * (24 * 24 + 24),
        FORWARD: 2 * (24 * 32 + 32 + 32 * 24 + 24),
        NORMS: 2 * 2 * 2 * 24,
        OUTER_NORMS: 2 * 24,
        POOLER: 24 * 24 + 24,
    }
    assert [tensor.shape for tensor in parts[OUT].tensors] == [(24, 24), (24,)]


@pytest.mark.slow
def test_bert_base_by_hand() -> None:
    size = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
    row = Architecture("BERT base", "bert", "encoder", {**size, "vocab_size": 30522}, spread=0.0)
    found = taken_apart(row)
    assert found.total == 109_482_240
    assert {part.name: part.count for part in found.parts} == {
        TOKENS: 23_440_896,  # 30,522 · 768
        POSITIONS: 393_216,  # 512 · 768
        SEGMENTS: 1_536,
        INTO: 21_261_312,  # 12 · 3 · (768² + 768)
        OUT: 7_087_104,  # 12 · (768² + 768)
        FORWARD: 56_669_184,  # 12 · (2 · 768 · 3,072 + 3,072 + 768)
        NORMS: 36_864,  # 12 · 2 · 2 · 768
        OUTER_NORMS: 1_536,
        POOLER: 590_592,
    }
    stack = found.stacks[0]
    assert (stack.flow.placement, stack.attention.width, present(stack.feed_forward).hidden) == ("post", 64, 3072)


def test_an_encoder_decoder_s_cross_attention_by_hand() -> None:
    counts = {(part.where, part.name): part.count for part in built("T5").parts}
    assert counts["decoder", crossing(INTO)] == 2 * 3 * 24 * 24
    assert counts["decoder", crossing(OUT)] == 2 * 24 * 24
    assert ("encoder", crossing(INTO)) not in counts


def test_a_head_and_tables_that_are_not_tied_count_by_themselves() -> None:
    config = transformers.BartConfig(**{**SEQ2SEQ, "tie_word_embeddings": False})
    capture.install()
    model = transformers.AutoModelForSeq2SeqLM.from_config(config, attn_implementation=capture.NAME).eval()
    found = dissect(model, "encoder-decoder", capture.prepare(model), 8)
    counts = {(part.where, part.name): part.count for part in found.parts}
    assert counts["", HEAD] == 40 * 24
    assert counts["encoder", TOKENS] == counts["decoder", TOKENS] == 40 * 24
    assert found.stacks[1].after.parts == (HEAD,)
    assert found.parameter_count == found.total


# --- placements from steps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "leaves", "placement", "parallel"),
    [
        ([("norm", -1), ("attention", 0), ("add", -1, 1), ("norm", 2), ("feed-forward", 3), ("add", 2, 4)], 5,
         "pre", False),
        ([("attention", -1), ("norm", 0), ("add", -1, 1), ("feed-forward", 2), ("norm", 3), ("add", 2, 4)], 5,
         "branch", False),
        ([("norm", -1), ("attention", 0), ("feed-forward", 0), ("add", -1, 1, 2)], 3, "pre", True),
        ([("attention", -1), ("add", -1, 0), ("feed-forward", 1), ("add", 1, 2)], 3, "none", False),
        ([("norm", -1), ("attention", 0), ("add", -1, 1), ("norm", 2), ("feed-forward", 3), ("add", 3, 4)], 5,
         "mixed", False),
    ],
)  # fmt: skip
def test_placements_by_hand(steps: Any, leaves: int, placement: str, parallel: bool) -> None:
    flow = Flow(tuple(LayerStep(kind, tuple(sources)) for kind, *sources in steps), leaves, True)
    assert (flow.placement, flow.parallel) == (placement, parallel)


# --- the embedded model --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_embedded_model_is_known() -> None:
    found = LocalBackend().inspect(Anatomy())
    [stack] = found.stacks
    assert (found.kind, found.width, found.vocabulary, stack.layers) == ("encoder", 384, 30522, 6)
    assert (stack.attention.heads, stack.attention.width, present(stack.feed_forward).hidden) == (12, 32, 1536)
    assert (stack.flow.placement, present(stack.feed_forward).activation.name, stack.causal) == ("post", "GELU", False)
    assert found.parameter_count == found.total == 22_713_216
    assert found.tops == (), "it was trained to compare sentences, and has no head"
