"""Table 1 of arXiv:1706.03762 against graph searches, and operation counts against torch's counter."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention.complexity import TABLE, ComplexitySetting, CostSizes, QuadraticFit, fit
from tests.support.anatomies import built
from tests.support.architectures import build, named
from tests.support.cases import loop_over
from ui.pages.block.cost import sizes_of

ATTENTION, RECURRENT, CONVOLUTION, RESTRICTED = TABLE
BASE = CostSizes(width=768, heads=12, kv_heads=12, head_width=64, value_width=64, hidden=3072)


def at(formula: Any, n: Any, setting: Any) -> float:
    return float(formula(np.array([float(n)]), setting)[0])


# --- Table 1 of the paper ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "cost", "steps", "path"),
    [
        (ATTENTION, 100 * 100 * 512, 1, 1),
        (RECURRENT, 100 * 512 * 512, 100, 100),
        (CONVOLUTION, 4 * 100 * 512 * 512, 1, np.log(100) / np.log(4)),
        (RESTRICTED, 20 * 100 * 512, 1, 5),
    ],
    ids=[row.name for row in TABLE],
)
def test_the_table_by_hand(row: Any, cost: int, steps: int, path: Any) -> None:
    setting = ComplexitySetting(d=512, k=4, r=20)
    assert at(row.cost_at, 100, setting) == cost
    assert at(row.steps_at, 100, setting) == steps
    assert at(row.path_at, 100, setting) == pytest.approx(path)


def test_attention_is_cheaper_than_recurrence_while_n_is_below_d() -> None:
    setting = ComplexitySetting(d=384)
    for n in (1, 383, 384, 385, 10_000):
        attention, recurrent = at(ATTENTION.cost_at, n, setting), at(RECURRENT.cost_at, n, setting)
        assert np.sign(attention - recurrent) == np.sign(n - 384)


def test_restricted_attention_of_a_short_text_is_attention() -> None:
    setting = ComplexitySetting(d=64, r=50)
    assert at(RESTRICTED.cost_at, 30, setting) == at(ATTENTION.cost_at, 30, setting)
    assert at(RESTRICTED.path_at, 30, setting) == at(ATTENTION.path_at, 30, setting) == 1


def farthest(n: Any, neighbours: Any) -> float:
    """Return the largest number of steps from token 0 to any token.

    ``neighbours(token, step)`` are the tokens that are reachable from ``token`` in the next step.
    """
    steps = {0: 0}
    waiting = deque([0])
    while waiting:
        token = waiting.popleft()
        for other in neighbours(token, steps[token]):
            if 0 <= other < n and other not in steps:
                steps[other] = steps[token] + 1
                waiting.append(other)
    return max(steps.values())


@pytest.mark.parametrize("n", [9, 27, 81])
def test_paths_are_those_of_graphs(n: int) -> None:
    setting = ComplexitySetting(d=8, k=3, r=4)
    assert farthest(n, lambda *_: range(n)) == at(ATTENTION.path_at, n, setting)
    # The longest path leads from the first token to the last; the formula omits the constant.
    assert farthest(n, lambda token, _step: (token + 1,)) == at(RECURRENT.path_at, n, setting) - 1
    dilated = farthest(n, lambda token, step: [token + hop * 3**step for hop in range(3)])
    assert dilated == round(at(CONVOLUTION.path_at, n, setting))
    windows = farthest(n, lambda token, _step: range(token - 4, token + 5))
    assert windows == np.ceil((n - 1) / 4)
    assert abs(windows - at(RESTRICTED.path_at, n, setting)) <= 1


# --- operations of a real layer ----------------------------------------------------------------------------------


def test_bert_base_by_hand() -> None:
    n = np.array([10.0])
    assert BASE.projections(n)[0] == 2 * 10 * 4 * 768 * 768
    assert BASE.feed_forward(n)[0] == 2 * 10 * 2 * 768 * 3072
    assert BASE.pairs(n)[0] == 4 * 10 * 10 * 768
    assert BASE.map_bytes(n)[0] == 12 * 10 * 10 * 4
    assert BASE.pairs_meet_feed_forward == 3072
    assert BASE.pairs_meet_rest == 3072 + 2 * 768


def test_sharing_keys_and_gating_by_hand() -> None:
    sizes = CostSizes(width=24, heads=4, kv_heads=2, head_width=6, value_width=6, hidden=32, gated=True, experts_used=2)
    one = np.ones(1)
    assert sizes.projections(one)[0] == 2 * 24 * (24 + 2 * 12 + 24)
    assert sizes.feed_forward(one)[0] == 2 * 24 * 32 * 3 * 2
    assert sizes.pairs(one)[0] == 4 * 24


@pytest.mark.slow
@loop_over("name", ["BERT", "Llama", "Qwen 3", "GPT-2", "GPT-NeoX", "DeBERTa v2", "ModernBERT"])
def test_operations_are_those_that_torch_counts(name: str) -> None:
    """The counted layers have the computed operations; DeBERTa v2 has more for its relative positions."""
    model = build(named(name), "eager").requires_grad_(False)  # the counter knows no fused attention of a CPU
    stack = built(name).stacks[0]
    sizes, counted = sizes_of(stack), {}
    for tokens in (8, 16):
        ids = torch.arange(tokens).unsqueeze(0) % 30 + 4
        with FlopCounterMode(display=False) as counter, torch.inference_mode():
            model(input_ids=ids, attention_mask=torch.ones_like(ids))
        mine = [counts for path, counts in counter.get_flop_counts().items() if is_layer(path, stack.layers)]
        counted[tokens] = sum(sum(counts.values()) for counts in mine)
    for tokens, flops in counted.items():
        n = np.array([float(tokens)])
        expected = stack.layers * float((sizes.projections(n) + sizes.pairs(n) + sizes.feed_forward(n))[0])
        if name == "DeBERTa v2":  # DeBERTa v2 also multiplies queries and keys by relative positions.
            assert flops > expected
        else:
            assert flops == expected


def is_layer(path: str, layers: Any) -> Any:
    """Return True if a path of the counter is a whole layer, such as "BertModel.encoder.layer.0"."""
    *above, last = path.split(".")
    return last.isdigit() and int(last) < layers and above[-1] in ("layer", "layers", "h")


# --- Fitted curves -----------------------------------------------------------------------------------------------


def test_a_curve_is_found_again() -> None:
    n = np.array([16.0, 23, 32, 64, 128, 512])
    found = fit(n, 4 + 0.25 * n + 0.002 * n**2)
    assert (found.a, found.b, found.c) == pytest.approx((4, 0.25, 0.002))
    assert found.meet == pytest.approx(125)
    np.testing.assert_allclose(found.values_at(n), 4 + 0.25 * n + 0.002 * n**2)


@pytest.mark.parametrize("truth", [(0, 1, 0), (3, 0, 0), (0, 0, 2), (5, 0, 1)])
def test_what_is_not_there_is_zero(truth: Any) -> None:
    n = np.array([10.0, 20, 40, 80])
    found = fit(n, truth[0] + truth[1] * n + truth[2] * n**2)
    assert (found.a, found.b, found.c) == pytest.approx(truth, abs=1e-9)
    assert found.meet is None


def test_no_part_is_below_zero() -> None:
    n = np.array([10.0, 20, 40, 80])
    found = fit(n, np.sqrt(n))  # A square root is concave.
    assert min(found.a, found.b, found.c) >= 0


def test_two_lengths_make_no_curve() -> None:
    with pytest.raises(ValueError, match=r"2 lengths.*least 3"):
        fit(np.array([1.0, 2.0, 2.0]), np.ones(3))


def test_parts_that_are_not_both_there_do_not_meet() -> None:
    assert QuadraticFit(1, 2, 0).meet is None
    assert QuadraticFit(1, 0, 2).meet is None
    assert QuadraticFit(1, 6, 2).meet == 3
