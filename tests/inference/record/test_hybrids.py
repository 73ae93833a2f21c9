"""Hybrid models with attention in some layers only: every layer keeps the model's own number."""

from __future__ import annotations

import re
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel

from attention.edits import Ablate, PatchHead, PatchResidual
from attention.record import NoAttention, Unavailable
from attention.trace import Trace, without_attention
from inference.errors import UserError
from inference.load.length_limits import memory_limit
from inference.record import capture, patching
from inference.record.edit_hooks import apply_edits
from inference.record.patching import DonorHook

capture.install()

SMALL = {"vocab_size": 40, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4,
         "num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip
MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_state": 8, "mamba_chunk_size": 8}
EXPERTS = {"num_experts_per_tok": 1, "num_local_experts": 2}
LINEAR = {"linear_num_key_heads": 2, "linear_num_value_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8}
HYBRIDS: dict[str, dict[str, Any]] = {
    "qwen3_next": {**LINEAR, "head_dim": 8, "layer_types": ["linear_attention", "full_attention"] * 2, "num_experts": 2,
                   "num_experts_per_tok": 1, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 8},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "num_experts": 2, "num_experts_per_tok": 1,
              "mamba_d_state": 4, "mamba_dt_rank": 4},
    "bamba": {**MAMBA, "attn_layer_indices": [1, 3]},
    "recurrent_gemma": {"block_types": ["recurrent", "attention"], "attention_window_size": 8, "lru_width": 32},
    "zamba2": {"num_key_value_heads": 4, "layers_block_type": ["mamba", "hybrid"] * 2, "hybrid_layer_ids": [1, 3],
               "num_mem_blocks": 1, "mamba_d_state": 8, "n_mamba_heads": 8, "mamba_headdim": 8, "mamba_ngroups": 1,
               "chunk_size": 8},
    "nemotron_h": {"head_dim": 8, "layers_block_type": ["mamba", "attention"] * 2, "mamba_num_heads": 8,
                   "mamba_head_dim": 8, "ssm_state_size": 8, "n_groups": 1, "chunk_size": 8},
    "granitemoehybrid": {**MAMBA, **EXPERTS, "layer_types": ["mamba", "attention"] * 2, "shared_intermediate_size": 8},
    "lfm2": {"layer_types": ["conv", "full_attention"] * 2, "block_auto_adjust_ff_dim": False},
    "minimax": {**EXPERTS, "layer_types": ["linear_attention", "full_attention"] * 2, "head_dim": 8, "block_size": 8},
    "olmo_hybrid": {**LINEAR, "layer_types": ["linear_attention", "full_attention"] * 2},
}  # fmt: skip
ATTENDING = (1, 3)
IDS = torch.arange(3, 13)[None]


@cache
def ready(name: str) -> tuple[Any, Any]:
    """Return the traced model and a copy with eager attention."""
    config = AutoConfig.for_model(name, **{**SMALL, **HYBRIDS[name]})
    plain = deepcopy(config)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModel.from_config(config, attn_implementation=capture.NAME)
        own = AutoModel.from_config(plain, attn_implementation="eager").eval()
    own.load_state_dict(model.state_dict())
    capture.prepare(model)
    return model, own


def eager_maps(own: Any, given: torch.Tensor = IDS) -> dict[int, Any]:
    """Return the maps that the attention modules of an eager pass return, by the model's layer number."""
    found: dict[int, Any] = {}
    handles = []
    for number, layer in enumerate(own.layers):
        for module in layer.modules():
            if "Attention" in type(module).__name__ and hasattr(module, "q_proj") and number in ATTENDING:
                keep = lambda _m, _args, out, number=number: found.update({number: out[1][0].numpy()})  # noqa: E731
                handles.append(module.register_forward_hook(keep))
    with torch.inference_mode():
        own(given, output_attentions=True, use_cache=False)
    for handle in handles:
        handle.remove()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", HYBRIDS)
def test_layers_have_the_model_s_own_numbers(name: str) -> None:
    model, own = ready(name)
    [parts] = capture.record_parts(model, {"input_ids": IDS})
    records, maps = parts["decoder"], eager_maps(own)
    assert len(records) == 4
    assert tuple(maps) == ATTENDING
    for number, record in enumerate(records):
        assert isinstance(record, NoAttention) == (number not in ATTENDING)
        assert (record.heads, record.queries, record.keys) == (4, 10, 10)
        for head in range(4):
            expected = maps[number][head] if number in maps else np.zeros((10, 10))
            np.testing.assert_allclose(record.weights(head), expected, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jamba", "lfm2", "zamba2", "minimax"])
def test_an_edit_changes_the_layer_that_it_names(name: str) -> None:
    model, own = ready(name)
    with torch.inference_mode(), apply_edits(model, [[Ablate(3, 2)]]):
        found = model(IDS)[0]
    attention = next(m for m in own.layers[3].modules() if hasattr(m, "q_proj") and "Attention" in type(m).__name__)
    last = attention.o_proj if hasattr(attention, "o_proj") else attention.out_proj
    channels = last.in_features // 4

    def silence(_module: Any, args: Any) -> Any:
        changed = args[0].clone()
        changed[..., 2 * channels : 3 * channels] = 0
        return (changed,)

    handle = last.register_forward_pre_hook(silence)
    with torch.inference_mode():
        expected = own(IDS, use_cache=False)[0]
    handle.remove()
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.slow
def test_an_edit_of_a_layer_without_attention_is_refused() -> None:
    model, _own = ready("lfm2")
    refused = re.escape(without_attention(2, ATTENDING))
    with pytest.raises(UserError, match=refused), apply_edits(model, [[Ablate(2, 0)]]):
        pass
    with (
        pytest.raises(UserError, match=refused),
        patching.patch_activations(model, [(PatchHead(2, 0, ((0, 0),)),)], DonorHook({})),
    ):
        pass


@pytest.mark.slow
def test_what_enters_a_layer_without_attention_is_lent() -> None:
    model, own = ready("lfm2")
    entered: list[Any] = []
    handle = own.layers[2].register_forward_pre_hook(
        lambda _m, args, named: entered.append((args or (named["hidden_states"],))[0]), with_kwargs=True
    )
    notes: Any = {}
    take = PatchResidual(2, ((0, 4),))
    with torch.inference_mode(), patching.patch_activations(model, [(take,)], DonorHook(notes)):
        model(IDS)
    with torch.inference_mode():
        own(IDS, use_cache=False)
    handle.remove()
    [noted] = notes.values()
    torch.testing.assert_close(noted, entered[0][0, [4]], atol=1e-5, rtol=1e-4)


def test_a_layer_without_attention_has_no_numbers() -> None:
    none = NoAttention(2, 3, 5)
    assert none.weights(0).shape == (3, 5)
    assert none.weights(0, slice(1, 2), np.array([0, 4])).shape == (1, 2)
    assert not none.weights(1).any()
    assert not none.row_sums(1).any()
    assert not list(none.arrays())
    with pytest.raises(Unavailable):
        none.scores(0)


@pytest.mark.parametrize("name", ["jamba", "lfm2", "nemotron_h"])
def test_layers_without_attention_take_no_memory(name: str) -> None:
    model, _ = ready(name)
    parts = capture.record_parts(model, {"input_ids": IDS})[0]
    nothing: Any = None  # Only the records are measured.
    taken = Trace("", nothing, "", None, nothing, None, parts).nbytes
    assert memory_limit(model, True, int(taken * 0.95)) < IDS.shape[1] <= memory_limit(model, True, int(taken * 1.05))
