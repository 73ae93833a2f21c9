"""The baseline networks: parameter counts, visible positions, and separate ablation of each part."""

from __future__ import annotations

import math

import pytest
import torch

from training.architecture_baselines import models
from training.architecture_baselines.models import Transformer, TransformerLayer, build, numbers, sinusoids
from training.architecture_baselines.training import TASKS
from training.jobs.baseline_runs import MODELS, PARTS, REACH, BaselineRequest

LONG = 20


def seen(name: str, *, masked: bool, place: int) -> list[int]:
    """Return the positions whose vectors have a non-zero gradient for the scores at ``place``."""
    torch.manual_seed(0)
    network = build(BaselineRequest("order", name), 11, masked=masked)
    vectors = network.vectors(torch.arange(LONG)[None] % 11).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(network.read(vectors)[0, place].square().sum(), vectors)
    return [at for at, row in enumerate(gradient[0]) if row.abs().sum() > 0]


@pytest.mark.parametrize("task", TASKS)
def test_all_three_have_about_as_many_numbers(task: str) -> None:
    sizes = [numbers(build(BaselineRequest(task, name), TASKS[task].tokens, masked=True)) for name in MODELS]
    assert max(sizes) < 1.13 * min(sizes)


def test_nothing_looks_ahead_and_a_convolution_sees_its_reach_alone() -> None:
    assert seen("lstm", masked=True, place=17) == list(range(18))
    assert seen("transformer", masked=True, place=17) == list(range(18))
    assert seen("convolution", masked=True, place=17) == list(range(18 - REACH, 18))


def test_without_the_mask_the_transformer_sees_all() -> None:
    assert seen("transformer", masked=False, place=3) == list(range(LONG))


def layer(off: str) -> TransformerLayer:
    torch.manual_seed(5)
    return TransformerLayer(masked=False, off=off)


def attention(part: TransformerLayer, states: torch.Tensor, *, heads: int, scale: float) -> torch.Tensor:
    """Return the output of multi-head attention, computed head by head from the weights."""
    queries, keys, values = part.asked(states).split(models.WIDE, dim=-1)
    wide = models.WIDE // heads
    mixed = []
    for head in range(heads):
        own = slice(head * wide, (head + 1) * wide)
        weights = (scale * queries[..., own] @ keys[..., own].transpose(-1, -2)).softmax(-1)
        mixed.append(weights @ values[..., own])
    out: torch.Tensor = part.out(torch.cat(mixed, -1))
    return out


@pytest.mark.parametrize(
    ("off", "heads", "scale"), [("", 4, 1 / math.sqrt(8)), ("heads", 1, 1 / math.sqrt(32)), ("scaling", 4, 1.0)]
)
def test_attention_is_what_its_formula_says_with_heads_and_scaling_on_and_off(
    off: str, heads: int, scale: float
) -> None:
    part, states = layer(off), torch.randn(2, 7, models.WIDE)
    torch.testing.assert_close(part.attend(states), attention(part, states, heads=heads, scale=scale))


def test_residuals_and_norms_are_what_is_left_out() -> None:
    states = torch.randn(2, 7, models.WIDE)
    whole, bare, unscaled = layer(""), layer("residuals"), layer("norm")
    inner = states + whole.attend(whole.norms[0](states))
    torch.testing.assert_close(whole(states), inner + whole.further(whole.norms[1](inner)))
    inner = bare.attend(bare.norms[0](states))
    torch.testing.assert_close(bare(states), bare.further(bare.norms[1](inner)))
    inner = states + unscaled.attend(states)
    torch.testing.assert_close(unscaled(states), inner + unscaled.further(inner))


def test_without_positions_another_order_gives_the_last_token_the_same_answer() -> None:
    torch.manual_seed(0)
    bare, whole = (Transformer(11, masked=False, off=off) for off in ("positions", ""))
    ids, mixed = torch.tensor([[1, 2, 3, 4, 5, 6]]), torch.tensor([[4, 2, 5, 1, 3, 6]])
    torch.testing.assert_close(bare(ids)[:, -1], bare(mixed)[:, -1])
    assert (whole(ids)[:, -1] - whole(mixed)[:, -1]).abs().max() > 1e-3


@pytest.mark.parametrize("off", PARTS)
def test_a_part_that_is_off_takes_no_other_numbers_with_it(off: str) -> None:
    whole, bare = (Transformer(11, masked=True, off=part) for part in ("", off))
    norms = sum(p.numel() for name, p in whole.named_parameters() if "norm" in name)
    assert numbers(whole) - numbers(bare) == (norms if off == "norm" else 0)


def test_waves_by_hand() -> None:
    assert sinusoids(3)[2, :2].tolist() == pytest.approx([math.sin(2), math.cos(2)])
    assert sinusoids(3)[1, -1].item() == pytest.approx(math.cos(10_000 ** (-30 / 32)))
