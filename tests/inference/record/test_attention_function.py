"""The attention function, recording or not, against plain attention for every kind of call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from attention.record import Record
from inference.record import records
from inference.record.attention_call import compact_tensors
from inference.record.attention_function import attend, keep_weights, record_attention
from tests.support.cases import loop_over
from tests.support.present import present

WHOLE = slice(None)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 2


def some(*shape: int) -> Any:
    """Return a mask that hides about a third of the pairs, but never the first key of a row."""
    mask = numbers(*shape, seed=7) > -1
    mask[..., 0] = True
    return mask


def additive(mask: Any) -> Tensor:
    return torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(torch.float32).min)


# Each case is (queries, keys, kv_heads, arguments), with 2 texts, 4 heads and 6 channels.
CASES = {
    "plain": (5, 7, 4, {}),
    "causal": (5, 5, 4, {"is_causal": True}),
    "one query": (1, 7, 4, {"is_causal": True}),
    "shared keys": (5, 5, 2, {"is_causal": True}),
    "cache of fixed size": (5, 7, 2, {"is_causal": True}),
    "cache of fixed size, bias": (5, 7, 2, {"is_causal": True, "position_bias": numbers(1, 4, 5, 7)}),
    "mask": (5, 7, 4, {"attention_mask": some(2, 1, 5, 7)}),
    "mask for all texts": (5, 7, 2, {"attention_mask": some(1, 1, 5, 7)}),
    "mask by head": (5, 7, 4, {"attention_mask": some(2, 4, 5, 7)}),
    "mask for all queries": (5, 7, 4, {"attention_mask": some(2, 1, 1, 7)}),
    "additive mask": (5, 7, 4, {"attention_mask": additive(some(2, 1, 5, 7))}),
    "additive numbers": (5, 7, 4, {"attention_mask": numbers(2, 4, 5, 7, seed=3)}),
    "bias": (5, 7, 4, {"position_bias": numbers(1, 4, 5, 7)}),
    "bias, causal": (5, 5, 4, {"position_bias": numbers(1, 4, 5, 5), "is_causal": True}),
    "bias and mask": (5, 7, 2, {"position_bias": numbers(2, 4, 5, 7), "attention_mask": some(2, 1, 5, 7)}),
    "bias and numbers": (
        5,
        7,
        4,
        {"position_bias": numbers(1, 4, 5, 7), "attention_mask": numbers(2, 1, 5, 7, seed=3)},
    ),
    "scale": (5, 7, 4, {"scaling": 0.7}),
}


class Module(torch.nn.Module):
    """A stand-in for both a model and its attention module."""

    def __init__(self, groups: Any, causal: Any) -> None:
        super().__init__()
        self.num_key_value_groups, self.is_causal = groups, causal
        self.config = type("Config", (), {"is_encoder_decoder": False})


def arguments(case: Any) -> Any:
    row: Any = CASES[case]
    queries, keys, kv_heads, given = row
    extra = dict(given)
    module = Module(4 // kv_heads, extra.pop("is_causal", False))
    vectors = numbers(2, 4, queries, 6), numbers(2, kv_heads, keys, 6, seed=1), numbers(2, kv_heads, keys, 6, seed=2)
    return (module, *vectors, extra.pop("attention_mask", None)), extra


@loop_over("case", CASES)
def test_a_recorded_answer_is_plain_attention_s(case: Any) -> None:
    given, extra = arguments(case)
    expected, _ = sdpa_attention_forward(*given, **extra)
    with record_attention():
        noted, weights = attend(*given, **extra)
    assert weights is None
    torch.testing.assert_close(noted, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(attend(*given, **extra)[0], expected, atol=0, rtol=0)


@loop_over("case", CASES)
def test_the_answer_follows_from_the_record(case: Any) -> None:
    """Recorded weights times recorded values equal the output of attention."""
    given, extra = arguments(case)
    with record_attention() as tape:
        output, _ = attend(*given, **extra)
    for sample, parts in enumerate(records.parts(given[0], tape.calls, {"input_ids": torch.zeros(2, 1)}, (None, None))):
        [[record]] = parts.values()
        assert isinstance(record, Record)
        for head in range(record.heads):
            np.testing.assert_allclose(
                record.weights(head) @ record.value[record.kv_head(head)], output[sample, :, head].numpy(), atol=1e-5
            )


@loop_over("extra", [{"softcap": 1.5}, {"s_aux": numbers(4, seed=5)}], ids=["soft cap", "sinks"])
@loop_over("mask", [None, some(2, 1, 5, 5), additive(some(2, 1, 5, 5))], ids=["causal", "bool", "additive"])
def test_soft_caps_and_sinks_follow_from_the_record(extra: Any, mask: Any) -> None:
    given = (Module(2, True), numbers(2, 4, 5, 6), numbers(2, 2, 5, 6, seed=1), numbers(2, 2, 5, 6, seed=2), mask)
    idle, _ = attend(*given, **extra)
    with record_attention() as tape:
        output, _ = attend(*given, **extra)
    torch.testing.assert_close(output, idle, atol=0, rtol=0)
    [[record]] = records.parts(given[0], tape.calls, {"input_ids": torch.zeros(2, 1)}, (None, None))[1].values()
    assert isinstance(record, Record)
    np.testing.assert_allclose(record.weights(3) @ record.value[1], output[1, :, 3].numpy(), atol=1e-5)


@loop_over(
    "extra",
    [{"softcap": 1.5}, {"s_aux": numbers(4, seed=5)}, {"softcap": 1.5, "position_bias": numbers(1, 4, 5, 5)}],
    ids=["soft cap", "sinks", "soft cap, bias"],
)
@loop_over("mask", [None, some(2, 1, 5, 5), additive(some(2, 1, 5, 5))], ids=["causal", "bool", "additive"])
def test_soft_caps_and_sinks_have_gradients(extra: Any, mask: Any) -> None:
    """Gradients agree with finite differences, within the precision of float32."""
    vectors = [numbers(2, heads, 5, 6, seed=heads + at).requires_grad_() for at, heads in enumerate((4, 2, 2))]

    def total(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        output: Tensor = attend(Module(2, True), query, key, value, mask, **extra)[0]
        return (output * numbers(2, 5, 4, 6, seed=9)).sum()

    for vector, gradient in zip(vectors, torch.autograd.grad(total(*vectors), vectors), strict=True):
        step = numbers(*vector.shape, seed=11) * 5e-3
        with torch.no_grad():
            there, back = (
                total(*(other + sign * step if other is vector else other for other in vectors)) for sign in (1, -1)
            )
        torch.testing.assert_close((gradient * step).sum(), (there - back) / 2, atol=2e-3, rtol=2e-2)


@pytest.mark.parametrize("extra", [{"softcap": 1.5}, {"s_aux": numbers(4, seed=5)}], ids=["soft cap", "sinks"])
def test_a_row_with_every_key_hidden_passes_no_gradient_on(extra: Any) -> None:
    mask = torch.ones(2, 1, 5, 5, dtype=torch.bool)
    mask[1, 0, 2] = False
    query = numbers(2, 4, 5, 6).requires_grad_()
    output, _ = attend(Module(2, True), query, numbers(2, 2, 5, 6, seed=1), numbers(2, 2, 5, 6, seed=2), mask, **extra)
    [gradient] = torch.autograd.grad(output.square().sum(), query)
    assert gradient.isfinite().all()
    assert (gradient[1, :, 2] == 0).all()
    assert (gradient[0, :, 2] != 0).any()


def test_a_row_with_every_key_hidden_is_zero() -> None:
    mask = torch.ones(2, 1, 5, 5, dtype=torch.bool)
    mask[1, 0, 2] = False
    query, key, value = numbers(3, 2, 4, 5, 6)
    for softcap in (None, 1.5):
        with record_attention() as tape:
            output, _ = attend(Module(1, False), query, key, value, mask, softcap=softcap)
        assert (output[1, 2] == 0).all()
        assert (present(tape.calls[0].lse)[1, :, 2] == 0).all()
        [[record]] = records.parts(Module(1, False), tape.calls, {"input_ids": mask}, (None, None))[1].values()
        assert (record.weights(0)[2] == 0).all()
        assert np.isfinite(record.weights(0)).all()


def test_vectors_laid_out_oddly_are_no_trap() -> None:
    """The fused kernel assumes contiguous channels and gives wrong results for other layouts."""
    query = numbers(2, 4, 6, 5).transpose(2, 3)
    rest = numbers(2, 4, 5, 6, seed=1), numbers(2, 4, 5, 6, seed=2)
    with record_attention() as tape:
        output, _ = attend(Module(1, False), query, *rest, None)
    expected, _ = sdpa_attention_forward(Module(1, False), query.contiguous(), *rest, None)
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-5)
    assert tape.calls[0].lse is None


def test_without_the_private_kernel_everything_is_recorded_but_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.record.attention_function.FLASH", None)
    given, extra = arguments("bias and mask")
    with record_attention() as tape:
        output, _ = attend(*given, **extra)
    torch.testing.assert_close(output, sdpa_attention_forward(*given, **extra)[0], atol=1e-5, rtol=1e-5)
    assert tape.calls[0].lse is None


@pytest.mark.parametrize("seed", range(3))
def test_large_scores_stay_exact(seed: int) -> None:
    """Real models reach scores of 270, where the last digit of a float32 score changes its weight by 3e-5."""
    query, key, value = numbers(3, 1, 4, 96, 32, seed=seed) * 3
    # Each token attends to itself, as in a first layer.
    key = key + query
    with record_attention() as tape:
        attend(Module(1, False), query, key, value, None)
    [[record]] = records.parts(Module(1, False), tape.calls, {"input_ids": torch.zeros(1, 1)}, (None, None))[0].values()
    scores = (query.double() @ key.double().transpose(2, 3) / 32**0.5)[0]
    largest = scores.abs().max().item()
    assert largest > 270
    for head, exact in enumerate(scores.softmax(-1).numpy()):
        np.testing.assert_allclose(record.weights(head), exact, atol=1e-7)
        np.testing.assert_allclose(record.weights(head).sum(axis=1), 1, rtol=0, atol=1e-6)
        # Long texts use the log-sum-exp of the forward pass, exact to a few last digits of a score.
        np.testing.assert_allclose(
            record.quick().weights(head, slice(None), slice(3, 5)),
            exact[:, 3:5],
            atol=4 * np.spacing(np.float32(largest)),
        )


def test_views_are_copied_when_they_pin_what_they_do_not_show() -> None:
    fused = numbers(2, 5, 3, 4, 6)
    three = fused.unbind(2)
    assert all(one is other for one, other in zip(compact_tensors(*three), three, strict=True)), (
        "together they are the whole"
    )
    [alone] = compact_tensors(three[0])
    assert alone.untyped_storage().nbytes() == alone.nbytes


def test_an_error_ends_the_recording() -> None:
    with pytest.raises(RuntimeError, match="inside"), record_attention() as tape:
        raise RuntimeError("inside")
    attend(*arguments("plain")[0])
    assert not tape.calls


def test_the_same_queries_and_keys_are_one_attention() -> None:
    query, key, first, second = (numbers(1, 2, 5, 6, seed=seed) for seed in range(4))
    with record_attention() as tape:
        outputs = [attend(Module(1, True), query, key, value, None)[0] for value in (first, second)]
    [call] = tape.calls
    assert call.lse is not None
    weights = ((query @ key.mT * call.scale).masked_fill(torch.ones(5, 5).tril() == 0, -torch.inf)).softmax(-1)
    torch.testing.assert_close((weights @ call.value).transpose(1, 2), torch.cat(outputs, -1))


def test_equal_copies_and_other_masks_are_attentions_of_their_own() -> None:
    query, key, value = (numbers(1, 2, 5, 6, seed=seed) for seed in range(3))
    with record_attention() as tape:
        attend(Module(1, False), query, key, value, None)
        attend(Module(1, False), query.clone(), key.clone(), value, None)  # Shared modules may get equal values.
        attend(Module(1, False), query, key, value, None)
        attend(Module(1, False), query, key, value, some(1, 1, 5, 5))
    assert len(tape.calls) == 4


def test_weights_used_twice_get_the_sum_of_both_gradients() -> None:
    query, key, first, second = (numbers(1, 2, 5, 6, seed=seed) for seed in range(4))
    with keep_weights() as kept:
        one, other = (attend(Module(1, False), query, key, value, None)[0].sum() for value in (first, second))
    [weighed] = kept
    [gradient] = torch.autograd.grad(one + 3 * other, [weighed.weights])
    torch.testing.assert_close(gradient, (first + 3 * second).sum(-1)[:, :, None].expand_as(gradient))
