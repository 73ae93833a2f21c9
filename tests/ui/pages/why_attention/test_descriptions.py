"""Sentences about the trained baselines, derived from arbitrary numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import pytest

from i18n import use_language
from training.jobs.baseline_runs import MODELS, PARTS, TASKS, BaselineRequest, BaselineRun, RecordedRuns, shares
from ui.pages.why_attention import descriptions
from ui.pages.why_attention.recorded_runs import load_recorded
from ui.pages.why_attention.train_one import sentence

# Each key is (network, ablated part); each value is (near, far).
Shares = Mapping[tuple[str, str], tuple[float, float]]


def run(ask: BaselineRequest, near: float, far: float) -> BaselineRun:
    """Return a run with these accuracies at 4 and at 20 tokens."""
    return BaselineRun(
        **asdict(ask), numbers=20_000, seconds=2.6, chance=0.5, losses=((800, 0.1),), accuracy=((4, near), (20, far)),
        before=(0.5, 1.0, 0.25), after=(0.0, 0.0, 4.0),
    )  # fmt: skip


def recorded(shares: Shares) -> RecordedRuns:
    """Return all runs with two seeds, the second slightly worse; accuracies default to 0.9 and 0.8."""
    asked = [(model, "") for model in MODELS] + [("transformer", off) for off in PARTS]
    runs = [
        run(BaselineRequest(task, *one, seed), *(part - 0.02 * seed for part in shares.get(one, (0.9, 0.8))))
        for task in TASKS
        for one in asked
        for seed in (0, 1)
    ]
    times = {
        "lstm": ((16, 2.0), (64, 8.0)),
        "convolution": ((16, 1.0), (64, 4.0)),
        "transformer": ((16, 1.0), (64, 16.0)),
    }
    return RecordedRuns(tuple(runs), times)


SAME: Shares = {}


def test_means_are_told_within_and_beyond_what_was_trained() -> None:
    assert descriptions.accuracy(recorded({("lstm", ""): (0.7, 0.6)}), "order") == (
        "Answers right at distances up to 16 (trained): LSTM 0.69, convolutions 0.89, Transformer 0.89; "
        "beyond: LSTM 0.59, convolutions 0.79, Transformer 0.79. Guessing: 0.500."
    )


@pytest.mark.parametrize(("far", "verdict"), [(0.51, "0.000 above guessing"), (0.81, "0.300 above guessing")])
def test_what_lies_beyond_a_convolution_s_reach_is_guessed_or_not(far: float, verdict: str) -> None:
    assert descriptions.describe_reach(recorded({("convolution", ""): (0.9, far)}), "order").endswith(
        f"it answers {far - 0.01:.3f}, {verdict}."
    )


def test_who_does_better_and_whether_with_every_seed() -> None:
    said = descriptions.describe_winners(recorded({("lstm", ""): (0.93, 0.95)}))
    assert said.startswith(
        "The LSTM is better at copying up to 16 (0.92 against 0.89), copying beyond 16 (0.94 against"
    )
    assert "Transformer" not in said
    assert descriptions.describe_winners(recorded({("lstm", ""): (0.88, 0.3)})) == (
        "The Transformer is better at copying beyond 16 (0.79 against 0.29), associative recall beyond 16 "
        "(0.79 against 0.29), word order beyond 16 (0.79 against 0.29) and odd or even beyond 16 (0.79 against 0.29)."
    )
    assert descriptions.describe_winners(recorded(SAME)) == "Neither is better at any task."


def test_where_the_gradient_is() -> None:
    before, after = (descriptions.describe_gradients(recorded(SAME), "order", when) for when in ("before", "after"))
    assert "LSTM: largest at distance 1; at the first token 0.25 of that; convolutions" in before
    assert before.startswith("Before training")
    assert "Transformer: largest at distance 2; at the first token 1 of that." in after


def test_how_the_time_grows() -> None:
    assert descriptions.describe_growth(recorded(SAME)) == (
        "From 16 to 64 tokens (× 4), the time grows: LSTM × 4, convolutions × 4, Transformer × 16."
    )


def test_which_parts_are_missed() -> None:
    shares = {("transformer", "norm"): (0.5, 0.8), ("transformer", "positions"): (0.4, 0.9)}
    assert descriptions.describe_ablation(recorded(shares), "recall") == (
        "At distances up to 16, as trained, the whole Transformer answers 0.89; worse with no positions 0.39 and "
        "no layer norm 0.49. "
        "At distances beyond 16, the whole Transformer answers 0.79; better with no positions 0.89."
    )
    assert descriptions.describe_ablation(recorded(SAME), "recall").endswith("0.79; no ablation is better or worse.")


def test_a_run_here_is_held_against_the_recorded_ones() -> None:
    kept = recorded(SAME).runs_of("order", "lstm")
    other = sentence(run(BaselineRequest("order", "lstm", seed=7), 0.5, 0.25), kept)
    assert other == (
        "LSTM, 20,000 parameters, seed 7, 800 steps in 2.6 s: 0.50 right at trained distances, 0.25 beyond; "
        "recorded seeds 0.89 and 0.79."
    )
    same = sentence(run(BaselineRequest("order", "lstm", seed=1), 0.88, 0.5), kept)
    assert same.endswith("The recorded run with this seed differs by at most 0.28 at any distance.")


def test_every_seed_is_a_row() -> None:
    np.testing.assert_allclose(shares(recorded(SAME).runs_of("order", "lstm")), [[0.9, 0.8], [0.88, 0.78]])


def test_parts_whose_seeds_overlap_are_neither_better_nor_worse() -> None:
    low, high = np.array([[0.933, 0.980, 0.929], [0.971, 0.988, 0.955]], np.float32)  # all higher, but overlapping
    assert descriptions.clear_sign(high, low) == descriptions.clear_sign(low, high) == 0
    assert descriptions.clear_sign(high + 0.03, low) == 1
    assert descriptions.clear_sign(low, high + 0.03) == -1
    said = descriptions.describe_ablation(load_recorded(), "recall")
    assert said.endswith("answers 0.95; better with no positions 1.00.")


def test_the_criterion_and_its_chance_level_are_stated() -> None:
    assert descriptions.describe_clear() == (
        "Better, worse: means differ by ≥ 0.02 and seeds' ranges are separate (chance: 1 in 10, uncorrected)."
    )


def test_what_the_runs_say_is_chinese() -> None:
    found = load_recorded()
    with use_language("zh"):
        assert descriptions.describe_winners(found).startswith("LSTM 更擅长：“奇偶”距离不超过 16 时（1.00 比 0.85）和")
        assert "更差的有：没有位置 " in descriptions.describe_ablation(found, "parity")
        assert "文本第一个词元处是最大值的 0 倍；" in descriptions.describe_gradients(found, "recall", "before")
        runs = found.runs_of("recall", "transformer", "norm")
        assert sentence(runs[1], runs).startswith("Transformer（条件：无层归一化），")
        assert sentence(runs[1], runs).endswith("其中一次用的正是这个种子；在任何距离上，两者相差都不超过 0.00。")
