"""Attention maps in the formats of transformers and torch, as users pass them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers as t

import headlight
from attention.external_maps import InvalidAttention
from tests.support.cases import loop_over

WEIGHTS = [[[0.75, 0.25], [0.5, 0.5]]]
NAMES = ["a", "cat"]


def gpt2() -> Any:
    torch.manual_seed(2)
    config = t.GPT2Config(
        vocab_size=20, n_positions=16, n_embd=12, n_layer=2, n_head=3, bos_token_id=0, eos_token_id=0, pad_token_id=0,
        initializer_range=0.2, tie_word_embeddings=False,
    )  # fmt: skip
    model = t.GPT2LMHeadModel(config).eval()
    model.set_attn_implementation("eager")
    return model


def written(model: Any, **how: Any) -> Any:
    return model.generate(
        torch.tensor([[1, 2, 3]]), max_new_tokens=4, min_new_tokens=4, do_sample=False, return_dict_in_generate=True,
        output_attentions=True, **how,
    )  # fmt: skip


def names_of(sequence: Any) -> list[str]:
    return [f"t{token}" for token in sequence.tolist()]


def expect_equal(shown: headlight.Shown, maps: Any) -> None:
    for layer, block in enumerate(maps):
        for head in range(shown.view.heads):
            rows = len(shown.view.queries)
            off = np.abs(shown.trace.weights(layer, head) - block[0, head, :rows, :rows].detach().numpy()).max()
            assert off < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"use_cache": False}, {"cache_implementation": "static"}], ids=str)
def test_what_generate_returns_is_one_pass(how: dict[str, Any]) -> None:
    model = gpt2()
    out = written(model, **how)
    shown = headlight.view(out.attentions, names_of(out.sequences[0]))
    assert (shown.trace.part, len(shown.view.queries)) == ("decoder", 6)
    expect_equal(shown, model(out.sequences, output_attentions=True).attentions)


@pytest.mark.slow
def test_the_beam_that_the_refusal_names_is_one_pass() -> None:
    model = gpt2()
    out = written(model, num_beams=4)
    names = names_of(out.sequences[0])
    with pytest.raises(InvalidAttention, match="beams") as refused:
        headlight.view(out.attentions, names)
    said = str(refused.value)
    code = said[said.index("[[a[b:b+1]") : said.rindex("]") + 1]
    whole = model(out.sequences, output_attentions=True).attentions
    expect_equal(headlight.view(eval(code, {"out": out}), names), whole)  # The error message suggests this code.
    assert len(set(out.beam_indices[0].tolist())) > 1
    first = headlight.view([[a[:1] for a in step] for step in out.attentions], names)
    assert np.abs(first.trace.weights(0, 0) - whole[0][0, 0, :6, :6].detach().numpy()).max() > 0.1


@pytest.mark.slow
def test_a_left_padded_row_of_gpt2_is_a_decoder() -> None:
    model = gpt2()
    ids, mask = torch.tensor([[0, 0, 4, 5, 6]]), torch.tensor([[0, 0, 1, 1, 1]])
    maps = model(ids, attention_mask=mask, output_attentions=True).attentions
    assert maps[0][0, 0, 0, 4] > 0  # Padding attends to later tokens too.
    assert headlight.view(maps, names_of(ids[0])).trace.part == "decoder"


@pytest.mark.slow
def test_streams_of_xlnet_are_not_layers() -> None:
    torch.manual_seed(0)
    model = t.XLNetModel(t.XLNetConfig(vocab_size=20, d_model=12, n_layer=1, n_head=3, d_inner=8)).eval()
    target = torch.eye(5)[None]
    maps = model(torch.arange(5)[None], target_mapping=target, output_attentions=True).attentions
    with pytest.raises(InvalidAttention, match="two streams"):
        headlight.view(maps, list("abcde"))
    assert headlight.view([h for h, g in maps], list("abcde")).view.layers == 1


@pytest.mark.slow
def test_hidden_states_and_logits_are_named() -> None:
    model = gpt2()
    out = model(torch.tensor([[1, 2, 3, 4]]), output_hidden_states=True, output_attentions=True)
    for given in (out.hidden_states, out.hidden_states[-1], out.logits):
        with pytest.raises(InvalidAttention, match=r"attentions.*eager"):
            headlight.view(given, list("abcd"))
    with pytest.raises(InvalidAttention, match=r"outputs\.attentions"):
        headlight.view(out, list("abcd"))


def test_a_tensor_without_numbers_is_refused() -> None:
    with pytest.raises(InvalidAttention, match="meta"):
        headlight.view(torch.empty(1, 2, 2, device="meta"), NAMES)


@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_is_refused_with_the_way(layout: Any) -> None:
    nested = torch.nested.nested_tensor([torch.ones(1, 2), torch.ones(2, 2)], layout=layout)
    for given in (nested, [nested], (nested, nested)):
        with pytest.raises(InvalidAttention, match=r"unbind\(\)\[0\]"):
            headlight.view(given, NAMES)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@loop_over("kind", ["quantized", "sparse", "half", "brain", "grad", "double", "transposed", "parameter"])
def test_tensors_of_every_kind_are_read(kind: str) -> None:
    plain = torch.tensor(WEIGHTS)
    kinds: dict[str, Any] = {
        "quantized": lambda: torch.quantize_per_tensor(plain, 1 / 128, 0, torch.quint8),
        "sparse": plain.to_sparse,
        "half": plain.half,
        "brain": plain.bfloat16,
        "grad": lambda: plain.clone().requires_grad_() * 1,
        "double": plain.double,
        "transposed": lambda: plain.transpose(1, 2).contiguous().transpose(1, 2),
        "parameter": lambda: torch.nn.Parameter(plain),
    }
    given = kinds[kind]()
    for maps in (given, [given]):
        np.testing.assert_array_equal(headlight.view(maps, NAMES).trace.weights(0, 0), WEIGHTS[0])


def test_complex_tensors_are_refused() -> None:
    with pytest.raises(InvalidAttention, match="real numbers"):
        headlight.view(torch.ones(1, 2, 2, dtype=torch.complex64), NAMES)
