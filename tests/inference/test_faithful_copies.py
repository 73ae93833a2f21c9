"""Traced copies of models in memory: equal to the model's current computation, or refused with a reason."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from transformers import AttentionInterface

from inference.errors import UserError
from inference.in_memory import trace
from inference.record import capture, fidelity_check
from tests.support import tinymodels
from tests.support.architectures import BERT, GROUPED
from tests.support.cases import loop_over

TEXT = "The cat was tired."


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: tinymodels.save(tmp_path_factory.mktemp(kind), kind) for kind in ("bert", "gpt2")}


@pytest.fixture(scope="module")
def wordpieces(folders: dict[str, Path]) -> Any:
    return transformers.AutoTokenizer.from_pretrained(folders["bert"])


def built(config: Any, setting: str | None = None, kind: Any = transformers.AutoModel) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        if isinstance(config, transformers.AlignTextConfig):
            model = transformers.AlignTextModel(config)
        elif isinstance(config, transformers.ClapTextConfig):
            model = transformers.ClapTextModel(config)
        else:
            model = kind.from_config(config, **({} if setting is None else {"attn_implementation": setting}))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn(parameter.shape) * 0.25)
    return model.eval()


def bert(setting: str = "sdpa", **changes: Any) -> Any:
    return built(transformers.BertConfig(**{**BERT, "vocab_size": 120, **changes}), setting)


def llama(**changes: Any) -> Any:
    return built(transformers.LlamaConfig(**{**GROUPED, "vocab_size": 120, **changes}), "sdpa")


def own_maps(model: Any, tokenizer: Any) -> Any:
    """Return the maps of a copy with eager attention, shape (layer, head, query, key)."""
    made = copy.deepcopy(model).eval()
    made.set_attn_implementation("eager")
    given = {name: tokenizer(TEXT, return_tensors="pt")[name] for name in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        return torch.stack([layer[0] for layer in made(**given, output_attentions=True).attentions]).numpy()


def maps(made: Any) -> Any:
    return np.stack([[made.weights(layer, head) for head in range(made.heads)] for layer in range(made.layers)])


@pytest.mark.parametrize(
    "config",
    [
        transformers.SplinterConfig(**{**BERT, "vocab_size": 120}),
        transformers.ClapTextConfig(**{**BERT, "vocab_size": 120, "max_position_embeddings": 64}),
        transformers.AlignTextConfig(**{**BERT, "vocab_size": 120}),
        transformers.LayoutLMConfig(**{**BERT, "vocab_size": 120}),
        transformers.MarkupLMConfig(**{**BERT, "vocab_size": 120, "max_depth": 4, "pad_token_id": 0}),
    ],
    ids=lambda config: config.model_type,
)
def test_models_without_is_causal_follow_their_masks(config: Any, wordpieces: Any) -> None:
    model = built(config)
    made = trace(model, wordpieces, TEXT)
    assert made.part == "encoder"
    np.testing.assert_allclose(maps(made), own_maps(model, wordpieces), atol=3e-6)


@pytest.mark.parametrize("setting", ["eager", "sdpa"])
def test_falcon_with_alibi_gives_its_own_computation(setting: str, wordpieces: Any) -> None:
    config = transformers.FalconConfig(**{**BERT, "vocab_size": 120, "num_kv_heads": 3, "alibi": True})
    model = built(config, setting)
    made = trace(model, wordpieces, TEXT)
    eager = own_maps(model, wordpieces)
    off = np.abs(maps(made) - eager).max()
    assert off < 3e-6 if setting == "eager" else off > 1e-3
    assert np.triu(maps(made)[0, 0], 1).max() == 0
    assert made.part == "decoder"


def scaled(model: Any) -> None:
    for layer in model.encoder.layer:
        layer.attention.self.scaling *= 3


def causal(model: Any) -> None:
    model.config.is_decoder = True
    for layer in model.encoder.layer:
        layer.attention.self.is_causal = True


def normed(model: Any) -> None:
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 0.5


def edited(model: Any) -> None:
    model.encoder.layer[0].attention.self.query.weight.data *= 3


def replaced(model: Any) -> None:
    model.encoder.layer[0].attention.self.query = torch.nn.Linear(24, 24)


def steered(model: Any) -> None:
    model.embeddings.register_forward_hook(lambda _m, _i, out: 2 * out)


@loop_over("change", [scaled, causal, normed, edited, replaced, steered])
def test_a_changed_bert_gets_new_maps(change: Callable[[Any], None], wordpieces: Any) -> None:
    model = bert()
    before = trace(model, wordpieces, TEXT)
    change(model)
    after = trace(model, wordpieces, TEXT)
    assert after.id != before.id
    np.testing.assert_allclose(maps(after), own_maps(model, wordpieces), atol=3e-6)


def windowed(model: Any) -> None:
    model.config.sliding_window = 2


def turned(model: Any) -> None:
    model.rotary_emb.inv_freq = model.rotary_emb.inv_freq / 8


def stretched(model: Any) -> None:
    model.rotary_emb.attention_scaling = 2.0


@pytest.mark.parametrize("change", [windowed, turned, stretched])
def test_a_changed_mistral_gets_new_maps(change: Callable[[Any], None], wordpieces: Any) -> None:
    model = built(transformers.MistralConfig(**{**GROUPED, "vocab_size": 120, "sliding_window": 64}), "sdpa")
    before = trace(model, wordpieces, TEXT)
    change(model)
    after = trace(model, wordpieces, TEXT)
    assert after.id != before.id
    np.testing.assert_allclose(maps(after), own_maps(model, wordpieces), atol=3e-6)


def test_a_changed_softcap_gives_new_maps(wordpieces: Any) -> None:
    sizes = {**GROUPED, "vocab_size": 120, "query_pre_attn_scalar": 6, "attn_logit_softcapping": 50.0}
    model = built(transformers.Gemma2Config(**sizes), "eager")
    before = trace(model, wordpieces, TEXT)
    for layer in model.layers:
        layer.self_attn.attn_logit_softcapping = 0.5
    after = trace(model, wordpieces, TEXT)
    assert after.id != before.id
    np.testing.assert_allclose(maps(after), own_maps(model, wordpieces), atol=3e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")
def test_adapters_are_read_as_they_are_now(wordpieces: Any) -> None:
    peft = pytest.importorskip("peft")
    lora = peft.LoraConfig(r=2, target_modules=["query", "key"], init_lora_weights=False)
    model = peft.get_peft_model(bert(), lora)
    model.add_adapter("other", lora)
    plain = bert()
    found = {"first": trace(model, wordpieces, TEXT)}
    model.set_adapter("other")
    found["other"] = trace(model, wordpieces, TEXT)
    np.testing.assert_allclose(maps(found["other"]), own_maps(model, wordpieces), atol=3e-6)
    with model.disable_adapter():
        found["none"] = trace(model, wordpieces, TEXT)
    model.set_adapter("default")
    assert trace(model, wordpieces, TEXT).id == found["first"].id
    model.merge_adapter()
    np.testing.assert_allclose(maps(trace(model, wordpieces, TEXT)), maps(found["first"]), atol=3e-6)
    np.testing.assert_allclose(maps(found["none"]), maps(trace(plain, wordpieces, TEXT)), atol=3e-6)
    assert len({made.id for made in found.values()}) == 3


def prompted(model: Any, kind: str, task: str) -> Any:
    """Return a PEFT model with an adapter of virtual tokens."""
    peft = pytest.importorskip("peft")
    sizes = {"task_type": task, "num_virtual_tokens": 4}
    configs = {
        "PREFIX_TUNING": lambda: peft.PrefixTuningConfig(**sizes),
        "PROMPT_TUNING": lambda: peft.PromptTuningConfig(**sizes),
        "P_TUNING": lambda: peft.PromptEncoderConfig(**sizes, encoder_hidden_size=8),
        "MULTITASK_PROMPT_TUNING": lambda: peft.MultitaskPromptTuningConfig(**sizes, num_tasks=2),
        "CARTRIDGE": lambda: peft.CartridgeConfig(**sizes),
        "CPT": lambda: peft.CPTConfig(
            task_type=task, cpt_token_ids=[1, 2, 3], cpt_mask=[1, 1, 1], cpt_tokens_type_mask=[1, 2, 3]
        ),
    }
    return peft.get_peft_model(model, configs[kind]()).eval()


PROMPTS = ["PREFIX_TUNING", "PROMPT_TUNING", "P_TUNING", "MULTITASK_PROMPT_TUNING", "CARTRIDGE"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*PROMPTS, "CPT"])
@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")
def test_virtual_tokens_of_a_decoder_are_refused(kind: str, folders: dict[str, Path]) -> None:
    base = transformers.AutoModelForCausalLM.from_pretrained(folders["gpt2"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders["gpt2"])
    expected = maps(trace(base, tokenizer, TEXT))
    model = prompted(base, kind, "CAUSAL_LM")
    with pytest.raises(UserError, match=rf"default.*{kind}.*model\.get_base_model\(\)"):
        trace(model, tokenizer, TEXT)
    with model.disable_adapter():
        np.testing.assert_array_equal(maps(trace(model, tokenizer, TEXT)), expected)
    with pytest.raises(UserError, match=kind):
        trace(model, tokenizer, TEXT)
    np.testing.assert_array_equal(maps(trace(model.get_base_model(), tokenizer, TEXT)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROMPTS)
@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")
def test_virtual_tokens_of_an_encoder_are_refused(kind: str, wordpieces: Any) -> None:
    base = built(transformers.BertConfig(**{**BERT, "vocab_size": 120}), "sdpa")
    model = prompted(base, kind, "FEATURE_EXTRACTION")
    with pytest.raises(UserError, match=kind):
        trace(model, wordpieces, TEXT)
    np.testing.assert_array_equal(
        maps(trace(model.get_base_model(), wordpieces, TEXT)), maps(trace(bert(), wordpieces, TEXT))
    )


def test_soft_prompts_in_a_forward_function_are_refused(wordpieces: Any) -> None:
    model = llama()
    old, prompt = model.forward, torch.randn(1, 2, model.config.hidden_size)

    def forward(input_ids: Any, **options: Any) -> Any:
        options["attention_mask"] = None
        embeddings = torch.cat([prompt, model.get_input_embeddings()(input_ids)], 1)
        return old(inputs_embeds=embeddings, **options)

    model.forward = forward
    with pytest.raises(UserError, match="self_attn"):
        trace(model, wordpieces, TEXT)


def by_lambda(module: Any) -> None:
    old = module.forward
    module.forward = lambda *a, **k: old(*a, **k)


def by_default(module: Any) -> None:
    module.forward = lambda *a, old=module.forward, **k: old(*a, **k)


def by_partial(module: Any) -> None:
    module.forward = functools.partial(module.forward)


def by_method(module: Any) -> None:
    module.forward = type(module).forward.__get__(module)


def by_list(module: Any) -> None:
    kept = [module.forward]
    module.forward = lambda *a, **k: kept[0](*a, **k)


def twice(module: Any) -> None:
    by_lambda(module)
    by_default(module)


def by_accelerate(module: Any) -> None:
    hooks = pytest.importorskip("accelerate.hooks")
    hooks.add_hook_to_module(module, hooks.ModelHook())


def by_global(module: Any) -> None:
    names = {"old": module.forward}
    exec("def forward(*a, **k):\n    return old(*a, **k)", names)
    module.forward = names["forward"]


WAYS = [by_lambda, by_default, by_partial, by_method, by_list, twice, by_accelerate, by_global]


@pytest.mark.slow
@loop_over("wrap", WAYS)
@loop_over("at", ["first", "all", "model"])
def test_a_wrapped_forward_keeps_every_layer(wrap: Callable[[Any], None], at: str, wordpieces: Any) -> None:
    model, plain = bert(), bert()
    layers = [layer.attention.self for layer in model.encoder.layer]
    for module in {"first": layers[:1], "all": layers, "model": [model]}[at]:
        wrap(module)
    made = trace(model.train(), wordpieces, TEXT)
    assert made.id == trace(plain, wordpieces, TEXT).id
    assert made.layers == 2
    assert made.has_qkv()
    assert all(module.training for module in model.modules())


@pytest.mark.parametrize("which", [(0,), (1,), (0, 1)])
def test_a_forward_that_hides_its_attention_is_named(which: tuple[int, ...], wordpieces: Any) -> None:
    model = bert()
    for at in which:
        model.encoder.layer[at].attention.self.forward = lambda hidden_states, *_a, **_k: (hidden_states, None)
    with pytest.raises(
        UserError, match=rf"forward function of encoder\.layer\.{which[0]}\.attention\.self was replaced"
    ):
        trace(model, wordpieces, TEXT)


def test_another_attention_function_is_refused(wordpieces: Any) -> None:
    def halved(module: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        return transformers.integrations.sdpa_attention.sdpa_attention_forward(module, 0.5 * query, *args, **kwargs)

    AttentionInterface.register("halved", halved)
    model = bert()
    model.set_attn_implementation("halved")
    with pytest.raises(UserError, match=r"layer\.0\.attention.*, by [0-9]"):
        trace(model, wordpieces, TEXT)


class Holder(torch.nn.Module):
    """A module with a configuration that contains a model of transformers."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.config = model.config
        self.body = torch.nn.ModuleList([model])


def sentence_model(model: Any) -> Any:
    """Return a sequence of modules as in SentenceTransformer, with the model inside the first module."""
    inner = torch.nn.Module()
    inner.auto_model = model
    return torch.nn.Sequential(inner)


def test_the_model_inside_another_module_is_named(wordpieces: Any) -> None:
    with pytest.raises(UserError, match=r"model\.body\[0\]\."):
        trace(Holder(bert()), wordpieces, TEXT)
    with pytest.raises(UserError, match=r"model\[0\]\.auto_model\."):
        trace(sentence_model(bert()), wordpieces, TEXT)
    with pytest.raises(UserError, match=r"model\.module\."):
        trace(torch.nn.DataParallel(bert()), wordpieces, TEXT)


def test_a_compiled_model_is_read(wordpieces: Any) -> None:
    assert trace(torch.compile(bert(), backend="eager"), wordpieces, TEXT).id == trace(bert(), wordpieces, TEXT).id


def test_a_model_of_characters_says_why(wordpieces: Any) -> None:
    sizes = {**{name: value for name, value in BERT.items() if name != "vocab_size"}, "max_position_embeddings": 64}
    with pytest.raises(UserError, match=r"reports|traced") as refused:
        trace(
            built(transformers.CanineConfig(**sizes, local_transformer_stride=16, downsampling_rate=4)),
            wordpieces,
            TEXT,
        )
    assert "vocab_size" not in str(refused.value)


def test_a_model_without_numbers_is_named(wordpieces: Any) -> None:
    with torch.device("meta"):
        model = transformers.BertModel(transformers.BertConfig(**BERT))
    with pytest.raises(UserError, match=r"BertModel.* meta"):
        trace(model, wordpieces, TEXT)


@pytest.mark.parametrize("positions", [3, 5, 7])
def test_a_model_of_few_positions_is_read(positions: int, wordpieces: Any) -> None:
    model = bert(max_position_embeddings=positions)
    assert len(trace(model, wordpieces, "a").tokens) == 3
    with pytest.raises(UserError, match=f"reads at most {positions}"):
        trace(model, wordpieces, TEXT * 3)


def test_the_reason_of_a_failing_model_is_said(wordpieces: Any) -> None:
    sizes = {**BERT, "attention_window": 4, "max_position_embeddings": 64, "pad_token_id": 1, "sep_token_id": 2}
    model = built(transformers.LongformerConfig(**sizes), None, transformers.AutoModelForQuestionAnswering)
    with pytest.raises(UserError, match=r"three.*sep") as refused:
        trace(model, wordpieces, TEXT)
    assert "Pass its base model instead: model.longformer." in str(refused.value)
    broken = bert()
    broken.encoder.layer[1].output.dense = torch.nn.Linear(5, 5)
    with pytest.raises(UserError, match=r"BertModel.*: .*multiplied"):
        trace(broken, wordpieces, TEXT)


def test_half_precision_is_compared_by_its_own_tolerance(wordpieces: Any) -> None:
    for dtype in (torch.bfloat16, torch.float16):
        assert trace(bert().to(dtype), wordpieces, TEXT).layers == 2


def pruned(heads: tuple[int, ...]) -> Any:
    """Return a BERT with this number of heads in each layer, as after pruning."""
    model = transformers.BertModel(transformers.BertConfig(**{**BERT, "num_hidden_layers": len(heads)}))
    size = model.config.hidden_size // model.config.num_attention_heads
    for layer, number in zip(model.encoder.layer, heads, strict=True):
        prune(layer, number, size)
    return model.eval()


def prune(layer: Any, number: int, size: int) -> None:
    """Keep the first ``number`` heads, each of ``size`` channels, of a layer like BERT's."""
    own = layer.attention.self
    for linear in (own.query, own.key, own.value):
        linear.weight = torch.nn.Parameter(linear.weight[: number * size].detach())
        linear.bias = torch.nn.Parameter(linear.bias[: number * size].detach())
        linear.out_features = number * size
    own.num_attention_heads, own.all_head_size = number, number * size
    dense = layer.attention.output.dense
    dense.weight = torch.nn.Parameter(dense.weight[:, : number * size].detach())
    dense.in_features = number * size


@pytest.mark.parametrize(("heads", "said"), [((3, 1, 2), "3, 1, 2 heads"), ((3, 0, 3), r"layer\.1\..*has no numbers")])
def test_unevenly_pruned_heads_are_refused(heads: tuple[int, ...], said: str, wordpieces: Any) -> None:
    with pytest.raises(UserError, match=said):
        trace(pruned(heads), wordpieces, TEXT)


@pytest.mark.parametrize(
    "config",
    [
        transformers.RoFormerConfig(**{**BERT, "num_hidden_layers": 3, "vocab_size": 120, "embedding_size": 24}),
        transformers.BigBirdConfig(
            **{**BERT, "num_hidden_layers": 3, "vocab_size": 120}, attention_type="original_full"
        ),
    ],
    ids=lambda config: config.model_type,
)
def test_uneven_heads_of_finished_maps_are_refused(config: Any, wordpieces: Any) -> None:
    model = built(config)
    assert trace(model, wordpieces, TEXT).heads == 3
    prune(model.encoder.layer[1], 1, size=8)
    with pytest.raises(UserError, match="3, 1, 3"):
        trace(model, wordpieces, TEXT)


@loop_over(
    ("own", "traced", "result"),
    [
        ({"a": 1.0}, {"a": 1.0, "b": 2.0}, True),
        ({"a": 1.0}, {"b": 1.0}, False),
        ({"a": 1.0, "b": 1.0}, {"a": 1.0}, False),
        ({"a": {"b": 1.0}}, {"a": {"b": 2.0}}, False),
        ({}, {}, False),
        ({}, {"a": 1.0}, False),
    ],
)
def test_outputs_equal_only_if_they_can_be_compared(own: Any, traced: Any, result: bool) -> None:
    def values(given: Any) -> Any:
        return {
            key: values(value) if isinstance(value, dict) else torch.tensor([value]) for key, value in given.items()
        }

    assert (
        fidelity_check.is_same_output(
            fidelity_check.ForwardOutputs(fidelity_check.tensors(values(own)), {}), values(traced)
        )
        is result
    )


class Renames(transformers.RoFormerModel):  # type: ignore[misc]
    """A model with other output names and values if attentions are requested."""

    def forward(self, *args: Any, output_attentions: bool = False, **options: Any) -> Any:
        found = super().forward(*args, output_attentions=output_attentions, **options)
        if not output_attentions:
            return found
        return transformers.utils.ModelOutput(states=found.last_hidden_state * 2, attentions=found.attentions)


def test_an_output_with_other_names_is_refused() -> None:
    model = Renames(transformers.RoFormerConfig(**{**BERT, "embedding_size": 24})).eval()
    with pytest.raises(UserError, match=r"last_hidden_state.*states"):
        capture.prepare(model)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")
@pytest.mark.parametrize("family", ["llama", "gpt2", "mistral"])
def test_an_adaption_prompt_is_refused_until_it_is_disabled(family: str, folders: dict[str, Path]) -> None:
    peft = pytest.importorskip("peft")
    configs = {
        "llama": lambda: transformers.LlamaConfig(**{**GROUPED, "num_key_value_heads": 4, "vocab_size": 350}),
        "mistral": lambda: transformers.MistralConfig(**{**GROUPED, "vocab_size": 350}),
        "gpt2": lambda: transformers.AutoConfig.from_pretrained(folders["gpt2"]),
    }
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders["gpt2"])
    base = built(configs[family](), "sdpa", transformers.AutoModelForCausalLM)
    expected = maps(trace(base, tokenizer, TEXT))
    adapter = peft.AdaptionPromptConfig(adapter_layers=1, adapter_len=5, task_type="CAUSAL_LM")
    model = peft.get_peft_model(base, adapter).eval()
    for gate in (parameter for name, parameter in model.named_parameters() if name.endswith("adaption_gate")):
        torch.nn.init.constant_(gate, 0.5)
    for given in (model, model.base_model, model.get_base_model()):  # All three contain the wrapped modules.
        with pytest.raises(UserError, match="disable_adapter"):
            trace(given, tokenizer, TEXT)
    with model.disable_adapter():
        np.testing.assert_array_equal(maps(trace(model, tokenizer, TEXT)), expected)
    with pytest.raises(UserError, match=r"\b5\b"):
        trace(model, tokenizer, TEXT)
