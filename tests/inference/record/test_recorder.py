"""The recorder of a user's model: weights equal eager attention's, and the model stays as it was."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import (
    AttentionInterface,
    AttentionMaskInterface,
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
)
from transformers.masking_utils import flash_attention_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from inference.errors import UserError
from inference.record.recorder import Recorder
from inference.record.recording import AttentionRecording
from tests.support.architectures import EVERY_RECORDED, MAPS_ONLY, RECORDED, Architecture, build, inputs, named
from tests.support.cases import loop_over

THREE = [named(name) for name in ("BERT", "Llama", "BART")]
WRITERS = [row for row in RECORDED if row.kind in ("decoder", "encoder-decoder")]
# Eager attention rounds scores of up to 20 and weights to 8 bits.
TOLERANCES = {torch.float32: 2e-5, torch.bfloat16: 6e-2, torch.float16: 1e-2}


@contextmanager
def recording(model: Any, **options: Any) -> Iterator[AttentionRecording]:
    recorder = Recorder(model, **options)
    with recorder.recording():
        yield AttentionRecording(recorder.store)


def implementation_of(row: Architecture) -> str:
    """Return "sdpa", or "eager" if the architecture does not support it."""
    try:
        build(row, "sdpa")
    except ValueError:
        return "eager"
    return "sdpa"


def own(row: Architecture) -> Any:
    return build(row, implementation_of(row))


def hooks_of(model: Any) -> list[int]:
    return [len(vars(module)[name]) for module in model.modules() for name in ("_forward_hooks", "_forward_pre_hooks")]


def replaced_names() -> list[str]:
    owners = {"get_interface": ALL_ATTENTION_FUNCTIONS, "__getitem__": type(ALL_ATTENTION_FUNCTIONS)}
    return [name for name, owner in owners.items() if name in vars(owner)]


def reported(output: Any) -> dict[str, Sequence[Tensor]]:
    names = {"encoder_attentions": "encoder", "decoder_attentions": "decoder", "cross_attentions": "cross"}
    found = {stack: output.get(name) for name, stack in names.items() if output.get(name)}
    return found | ({"layers": output["attentions"]} if output.get("attentions") else {})


def assert_equal_eager(row: Architecture, given: dict[str, Tensor], dtype: torch.dtype) -> None:
    """Compare each stack with eager attention, except for the queries that are padding."""
    given = {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in given.items()}
    model = own(row).to(dtype)
    with torch.inference_mode():
        expected = reported(build(row, "eager").to(dtype)(**given, output_attentions=True))
        with recording(model) as found:
            model(**given)
    for stack, maps in expected.items():
        layers = found.layers if stack == "layers" else found.call.stacks[stack]
        assert len(layers) == len(maps)
        for layer, eager in zip(layers, maps, strict=True):
            weights, real = layer.weights(), real_rows(given, stack, row.kind, eager.shape[2])
            assert weights.shape == eager.shape
            far = ((weights - eager.float()).abs() * real).max()
            assert far <= TOLERANCES[dtype], (stack, layer.path, float(far))


def real_rows(given: Mapping[str, Tensor], stack: str, kind: str, queries: int) -> Tensor:
    name = "decoder_attention_mask" if stack in ("decoder", "cross") and kind != "cross" else "attention_mask"
    mask = given.get(name)
    if mask is None or mask.shape[1] != queries:
        return torch.ones(1, 1, queries, 1)
    return mask[:, None, :, None].float()


def assert_every_form(row: Architecture) -> None:
    assert_equal_eager(row, inputs(row), torch.float32)
    for half in (torch.bfloat16, torch.float16):
        assert_equal_eager(row, inputs(row), half)
    for side in ("right", "left"):
        assert_equal_eager(row, inputs(row, (7, 5), side), torch.float32)


@pytest.mark.slow
@loop_over("row", THREE, ids=[row.name for row in THREE])
def test_weights_equal_eager_attention(row: Architecture) -> None:
    assert_every_form(row)


@pytest.mark.slow
@loop_over("row", EVERY_RECORDED, ids=[row.name for row in EVERY_RECORDED])
def test_weights_equal_eager_in_every_architecture(row: Architecture) -> None:
    assert_every_form(row)


def writer(row: Architecture, implementation: str) -> Any:
    config = AutoConfig.for_model(row.model_type, **row.config)
    auto = AutoModelForSeq2SeqLM if row.kind == "encoder-decoder" else AutoModelForCausalLM
    noise = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        model = auto.from_config(config, attn_implementation=implementation)
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=noise) * row.spread)
    return model.eval()


def assert_equal_while_writing(row: Architecture) -> None:
    text = torch.tensor([[7, 12, 17, 22, 27]])
    options: dict[str, Any] = {
        "min_new_tokens": 4, "max_new_tokens": 4, "do_sample": False, "pad_token_id": 0, "eos_token_id": 3,
    }  # fmt: skip
    steps = writer(row, "eager").generate(text, return_dict_in_generate=True, output_attentions=True, **options)
    model = writer(row, implementation_of(row))
    with recording(model) as found:
        written = model.generate(text, **options)
    torch.testing.assert_close(written, steps.sequences)
    names = {"decoder": "decoder_attentions", "cross": "cross_attentions"} if "decoder_attentions" in steps else {}
    for stack, name in (names or {"layers": "attentions"}).items():
        assert len(found.calls) == len(steps[name])
        for call, maps in zip(found.calls, steps[name], strict=True):
            layers = call.layers if stack == "layers" else call.stacks[stack]
            for layer, eager in zip(layers, maps, strict=True):
                torch.testing.assert_close(layer.weights(), eager[..., : layer.shape[3]], rtol=0, atol=2e-5)


@pytest.mark.slow
@loop_over("row", THREE[1:], ids=[row.name for row in THREE[1:]])
def test_steps_of_generation_equal_eager(row: Architecture) -> None:
    assert_equal_while_writing(row)


@pytest.mark.slow
@loop_over("row", WRITERS, ids=[row.name for row in WRITERS])
def test_steps_of_generation_equal_eager_in_every_architecture(row: Architecture) -> None:
    assert_equal_while_writing(row)


def flash(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **given: Any) -> Any:
    """Compute attention with the arguments of a flash kernel: padding (sample, key) and a window, but no mask."""
    queries, keys = query.shape[2], key.shape[2]
    allowed = torch.ones(queries, keys, dtype=torch.bool)
    if module.is_causal:
        allowed = allowed.tril(keys - queries)
    if given.get("sliding_window"):
        allowed = allowed.triu(keys - queries - given["sliding_window"] + 1)
    pairs = allowed[None, None] if mask is None else allowed & mask[:, None, None].bool()
    output = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, pairs, scale=given.get("scaling"), enable_gqa=True
    )
    return output.transpose(1, 2), None


@loop_over("name", ["BERT", "Llama", "Mistral"])
def test_calls_of_flash_kernels_are_recorded(name: str) -> None:
    AttentionInterface.register("test_flash", flash)
    AttentionMaskInterface.register("test_flash", flash_attention_mask)
    row = named(name)
    given = inputs(row, (7, 5))
    model = own(row)
    model.config._attn_implementation = "test_flash"  # noqa: SLF001  # the public method would load a kernel
    with torch.inference_mode(), recording(model) as found:
        model(**given)
        expected = build(row, "eager")(**given, output_attentions=True).attentions
    for layer, eager in zip(found.layers, expected, strict=True):
        far = (layer.weights() - eager).abs() * real_rows(given, "layers", row.kind, 7)
        assert far.max() <= TOLERANCES[torch.float32]


def ids(tokens: int = 5, samples: int = 1) -> Tensor:
    return (torch.arange(tokens * samples).reshape(samples, tokens) * 5 + 7) % 33 + 4


def test_the_model_and_its_output_stay_the_same() -> None:
    model = own(named("BERT"))
    before, hooks = copy.deepcopy(model.state_dict()), hooks_of(model)
    plain = model(ids()).last_hidden_state
    with recording(model):
        recorded = model(ids()).last_hidden_state
    assert torch.equal(plain, recorded)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert hooks_of(model) == hooks
    assert replaced_names() == []


def test_an_error_in_the_block_leaves_nothing_behind() -> None:
    model = own(named("BERT"))
    with pytest.raises(IndexError), recording(model) as found:
        model(torch.tensor([[1000]]))
    assert len(found.calls) == 0
    assert replaced_names() == []
    assert not any(hooks_of(model))


def test_gradients_are_those_of_a_plain_pass() -> None:
    model = own(named("Llama"))
    model(ids()).last_hidden_state.sum().backward()
    plain = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    with recording(model) as found:
        output = model(ids()).last_hidden_state
    output.sum().backward()
    assert all(torch.equal(grad, parameter.grad) for grad, parameter in zip(plain, model.parameters(), strict=True))
    assert not found.layers[0].weights().requires_grad


def test_training_records_the_weights_before_dropout() -> None:
    model = own(named("BERT")).train()
    with recording(model) as found:
        model(ids())
    torch.testing.assert_close(found.layers[0].weights().sum(-1), torch.ones(1, 3, 5))


def test_layers_need_exactly_a_single_call() -> None:
    model = own(named("BERT"))
    with recording(model) as found:
        pass
    with pytest.raises(ValueError, match="0"):
        _ = found.layers
    with recording(model) as found:
        for _ in range(3):
            model(ids())
    with pytest.raises(ValueError, match="3"):
        _ = found.layers
    assert found.calls[2].layers[1].weights().shape == (1, 3, 5, 5)


def test_memory_is_bounded() -> None:
    model = own(named("BERT"))
    with recording(model, keep="last") as found:
        for tokens in (4, 5, 6):
            model(ids(tokens))
    assert found.layers[0].shape == (1, 3, 6, 6)
    with pytest.raises(IndexError, match="2 to 2"):
        found.calls[0]
    one = found.nbytes
    with recording(model, max_bytes=2 * one) as found:
        for _ in range(4):
            model(ids(6))
    assert found.nbytes <= 2 * one
    assert [call.layers[0].shape[2] for call in found.calls] == [6, 6]
    with pytest.raises(UserError, match=f"{one - 1:,}"), recording(model, max_bytes=one - 1):
        model(ids(6))


def test_steps_share_the_keys_of_a_cache() -> None:
    model = writer(named("Llama"), "sdpa")
    with recording(model) as found:
        model.generate(ids(), max_new_tokens=20, min_new_tokens=20, do_sample=False, pad_token_id=0)
    keys = 24 * 2 * 6 * 4 * 2  # tokens × key-value heads × channels × bytes × layers
    assert found.nbytes < 4 * keys


def test_recordings_nest_and_threads_do_not_mix() -> None:
    first, second = own(named("BERT")), own(named("Llama"))
    with recording(first) as outer, recording(second) as inner, recording(first) as same:
        first(ids())
        second(ids(6))
        thread = Thread(target=lambda: first(ids(4)))
        thread.start()
        thread.join()
    assert [len(found.calls) for found in (outer, inner, same)] == [1, 1, 1]
    assert torch.equal(outer.layers[0].weights(), same.layers[0].weights())
    assert inner.layers[0].shape[2] == 6


@pytest.mark.slow
def test_a_compiled_model_is_recorded() -> None:
    model = own(named("BERT"))
    compiled: Any = torch.compile(model, backend="eager")
    plain = compiled(ids()).last_hidden_state
    with recording(compiled) as found:
        recorded = compiled(ids()).last_hidden_state
    assert len(found.calls) == 1
    torch.testing.assert_close(plain, recorded)


@pytest.mark.slow
@loop_over("row", MAPS_ONLY, ids=[row.name for row in MAPS_ONLY])
def test_models_with_their_own_attention_are_refused(row: Architecture) -> None:
    """Newer versions of transformers may have changed a model, which then has to equal eager attention."""
    model, refused = build(row, "eager"), ""
    try:
        with recording(model):
            model(**inputs(row))
    except UserError as error:
        refused = str(error)
    if refused:
        assert type(model).__name__ in refused
    else:
        assert_every_form(row)


def test_other_modules_are_refused() -> None:
    for given in (torch.nn.Linear(2, 2), "bert", None):
        with pytest.raises(UserError, match=type(given).__name__), recording(given):
            pass
    for options in ({"keep": "first"}, {"max_bytes": 0}, {"max_bytes": 1.5}):
        with pytest.raises(ValueError, match=next(iter(options))):
            Recorder(own(named("BERT")), **options)


def test_indices_select_and_drop_axes() -> None:
    model = own(named("Llama"))
    with recording(model, values=True) as found:
        model(ids(samples=2))
    layer = found.layers[1]
    whole = layer.weights()
    torch.testing.assert_close(layer.weights(head=3, sample=1), whole[1, 3])
    torch.testing.assert_close(layer.weights(head=[0, 3], query=-1), whole[:, [0, 3], -1])
    torch.testing.assert_close(layer.weights(1, 0, query=slice(1, 3), key=2), whole[0, 1, 1:3, 2])
    torch.testing.assert_close(layer.tile(slice(2, 5), slice(0, 2), 1, 0), whole[0, 1, 2:5, :2])
    values, keys = layer.top(2, head=2, sample=0)
    torch.testing.assert_close(values, whole[0, 2].gather(1, keys))
    torch.testing.assert_close(layer.entropy(2, 0), torch.special.entr(whole[0, 2]).sum(-1))
    products = layer.query(2, 0) @ layer.key(2, 0).T * layer.scale
    torch.testing.assert_close(layer.scores(2, 0), products.masked_fill(~layer.visible_pairs()[0], -torch.inf))
    assert layer.value(0, 0).shape == (5, 6)
    for choice in ({"head": 4}, {"sample": -3}, {"query": [0, 5]}, {"key": 9}):
        with pytest.raises(IndexError, match=next(iter(choice))):
            layer.weights(**choice)


def test_queries_without_keys_have_rows_of_zeros() -> None:
    row = named("GPT-2")
    given = inputs(row, (7, 5), "left")
    with recording(model := own(row)) as found:
        model(**given)
    weights = found.layers[0].weights(sample=1)
    assert not weights[:, :2].any()
    torch.testing.assert_close(weights[:, 2:].sum(-1), torch.ones(3, 5))
