"""Models in memory, traced through a shell over their weights: the same maps, and an unchanged model."""

from __future__ import annotations

import copy
import gc
import weakref
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attention.record import Record
from inference import in_memory
from inference.errors import UserError
from inference.in_memory import trace
from tests.support import tinymodels
from tests.support.cases import loop_over

TEXT = "The cat was tired."
FAMILIES = ["bert", "roberta", "gpt2", "llama", "t5", "deberta"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: tinymodels.save(tmp_path_factory.mktemp(kind), kind) for kind in FAMILIES}


def opened(folder: Path, setting: str) -> tuple[Any, Any]:
    """Return a tiny model in the middle of training, with some gradients, and its tokenizer."""
    config = transformers.AutoConfig.from_pretrained(folder)
    auto = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModel
    model = auto.from_pretrained(folder, attn_implementation=setting).train()
    for at, parameter in enumerate(model.parameters()):
        parameter.requires_grad_(at % 3 > 0)
        parameter.grad = torch.full_like(parameter, 0.5) if at % 3 == 1 else None
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def state(model: Any) -> Any:
    """Return everything that a trace could change: attributes, modes, hooks, settings, values and gradients."""
    modules = [
        (path, type(m), m.training, sorted(vars(m)), [len(v) for k, v in sorted(vars(m).items()) if "hooks" in k])
        for path, m in model.named_modules()
    ]
    tensors = [*model.named_parameters(), *model.named_buffers()]
    numbers = [(name, id(t), t.data_ptr(), t.requires_grad, t._version) for name, t in tensors]  # noqa: SLF001  # counts changes in place
    values = {name: t.detach().clone() for name, t in tensors}
    gradients = {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}
    settings = copy.deepcopy({**vars(model.config), "asked": model.config._attn_implementation})  # noqa: SLF001  # no public way to ask
    return modules, numbers, settings, values, gradients, torch.get_rng_state()


def same(before: Any, after: Any) -> None:
    assert after[0] == before[0]
    assert after[1] == before[1]
    assert str(after[2]) == str(before[2])
    for now, then in zip(after[3:5], before[3:5], strict=True):
        assert now.keys() == then.keys()
        for name, value in then.items():
            assert (now[name] is None) == (value is None)
            assert value is None or torch.equal(now[name], value), name
    assert torch.equal(after[5], before[5])


@pytest.mark.slow
@loop_over(
    ("kind", "setting"),
    [*product(FAMILIES[:-1], ("eager", "sdpa")), ("deberta", "eager")],  # DeBERTa has eager attention only.
)
def test_a_model_is_as_before_bit_for_bit(kind: str, setting: str, folders: dict[str, Path]) -> None:
    model, tokenizer = opened(folders[kind], setting)
    before = state(model)
    made = trace(model, tokenizer, TEXT)
    same(before, state(model))
    assert made.has_qkv() == (kind != "deberta")
    assert made.id == trace(model, tokenizer, TEXT).id


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2", "llama", "deberta"])
def test_maps_are_the_model_s_own(kind: str, folders: dict[str, Path]) -> None:
    model, tokenizer = opened(folders[kind], "eager")
    made = trace(model, tokenizer, TEXT)
    with torch.inference_mode():
        maps = model.eval()(**tokenizer(TEXT, return_tensors="pt"), output_attentions=True).attentions
    assert made.part == ("decoder" if kind in ("gpt2", "llama") else "encoder")
    for layer, block in enumerate(maps):
        for head in range(made.heads):
            np.testing.assert_allclose(made.weights(layer, head), block[0, head], atol=2e-6)


def test_what_trains_on_is_read_as_it_is_now(folders: dict[str, Path]) -> None:
    model, tokenizer = opened(folders["bert"], "sdpa")
    before = trace(model, tokenizer, TEXT)
    kept = in_memory.prepared[model][1]
    with torch.no_grad():
        model.get_input_embeddings().weight.add_(torch.linspace(0, 1, 24))
    after = trace(model, tokenizer, TEXT)
    assert in_memory.prepared[model][1] is not kept  # The changed model is checked again.
    assert after.id != before.id
    kept = in_memory.prepared[model][1]
    assert trace(model, tokenizer, TEXT).id == after.id
    assert in_memory.prepared[model][1] is kept
    model.double()
    trace(model, tokenizer, TEXT)
    assert in_memory.prepared[model][1] is not kept


def test_gradients_still_flow(folders: dict[str, Path]) -> None:
    model, tokenizer = opened(folders["bert"], "sdpa")
    trace(model, tokenizer, TEXT)
    model.zero_grad()
    model(**tokenizer(TEXT, return_tensors="pt"))[0].sum().backward()
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def test_what_was_prepared_goes_with_the_model(folders: dict[str, Path]) -> None:
    model, tokenizer = opened(folders["gpt2"], "sdpa")
    trace(model, tokenizer, TEXT)
    made, its = weakref.ref(in_memory.prepared[model][1]), weakref.ref(model)
    del model
    gc.collect()
    assert its() is None
    gc.collect()
    assert made() is None


def test_a_hook_is_a_part_of_the_model(folders: dict[str, Path]) -> None:
    model, tokenizer = opened(folders["bert"], "sdpa")
    before = trace(model, tokenizer, TEXT)
    model.encoder.layer[0].register_forward_hook(lambda _m, _i, out: torch.zeros_like(out))
    after = trace(model, tokenizer, TEXT)
    assert isinstance(after.records()[1], Record)
    np.testing.assert_array_equal(after.weights(0, 0), before.weights(0, 0))
    np.testing.assert_allclose(after.weights(1, 0), 1 / len(after.tokens), atol=1e-6)


def test_what_cannot_be_read_is_refused(folders: dict[str, Path]) -> None:
    model, tokenizer = opened(folders["gpt2"], "sdpa")
    wrong: list[tuple[Any, str]] = [
        ((object(), tokenizer, TEXT), "object came, but a model of the transformers library"),
        ((torch.nn.Linear(2, 2), tokenizer, TEXT), "Linear came, but a model"),
        ((model, None, TEXT), "NoneType came as the tokenizer"),
        ((model, tokenizer, ["a", "b"]), "not list"),
        ((model, tokenizer, "a", "b"), "reads one text"),
        ((model, tokenizer, "cat " * 60), "tokens; .* reads at most 48"),
    ]
    for given, said in wrong:
        with pytest.raises(UserError, match=said):
            trace(*given)
