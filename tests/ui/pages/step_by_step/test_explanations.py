"""Explanations of a layer that match its architecture."""

from __future__ import annotations

import numpy as np
import pytest

from attention.mask import Mask
from attention.record import Record
from attention.walkthrough import Norm, ProjectionParameters, Rotary, weigh
from tests.attention.test_walkthrough import wiring
from tests.support.asking import asked, notes
from tests.support.cases import loop_over
from tests.support.traces import numbers, record
from ui.pages.step_by_step import explanations as explanations
from ui.pages.step_by_step.weight import STAGES

ROWS = np.array([2])


def said(rec: Record) -> str:
    return explanations.rules(rec, weigh(rec.query[0][ROWS], rec.key[0], rec, 0, ROWS))


def formula(rec: Record) -> str:
    return explanations.score_formula(rec, weigh(rec.query[0][ROWS], rec.key[0], rec, 0, ROWS))


def test_the_scale_is_the_layer_s_own() -> None:
    assert "divided by √4" in said(record())
    assert r"\frac{q_i \cdot k_j}{\sqrt{4}}" in formula(record())
    assert "by 1; 1/√4 is 0.5" in said(record(scale=1.0))
    assert r"s_{ij} &= q_i \cdot k_j \\" in formula(record(scale=1.0))
    assert "by 0.25; 1/√4 is 0.5" in said(record(scale=0.25))
    assert r"0.25\; q_i" in formula(record(scale=0.25))


def test_soft_caps_biases_and_sinks_are_named_where_they_are() -> None:
    rich = record(softcap=30.0, bias=numbers(1, 5, 5), sinks=numbers(3))
    for word in ("soft cap, 30 · tanh", "bias that depends", "takes its share"):
        assert word in said(rich)
        assert word not in said(record())
    assert r"30 \tanh" in formula(rich)
    assert "b_{ij}" in formula(rich)
    assert "bias" not in said(record(bias=np.zeros((1, 5, 5), np.float32)))
    assert r"e^{t} +" in formula(rich)
    assert r"e^{t} +" not in formula(record())


@loop_over(
    ("mask", "words"),
    [
        (Mask(5, 5), "No mask"),
        (Mask(5, 6), "No mask"),
        (Mask(5, 5, causal=True), "causal mask"),
        (Mask(5, 5, causal=True, left=2), "2 tokens back and 0 ahead"),
        (Mask(5, 5, left=2, right=3), "2 tokens back and 3 ahead"),
        (Mask(5, 5, allowed=np.eye(5, dtype=bool)), "Masked pairs"),
    ],
)
def test_the_mask_is_told_as_it_is(mask: Mask, words: str) -> None:
    assert words in explanations.mask(record(5, mask.keys, mask=mask))


def test_an_encoder_is_not_called_a_decoder() -> None:
    assert "decoder" not in said(record()).lower()


def test_norms_stand_where_the_layer_has_them() -> None:
    pre, post = wiring(before=Norm("rms", 1e-6)), wiring(closing=Norm("layer", 1e-5), ends="norm")
    assert "pre-norm" in explanations.describe_input(pre, "encoder")
    assert "pre-norm" not in explanations.describe_input(post, "encoder")
    assert "post-norm" in explanations.describe_output(post)
    assert "post-norm" not in explanations.describe_output(pre)
    assert "normalised" not in explanations.describe_output(pre)
    assert "output is normalised" in explanations.describe_output(wiring(after=Norm("rms", 1e-6)))
    assert r"\mathrm{Norm}(x + a)" in explanations.leaving_formula(post)
    assert explanations.leaving_formula(pre).endswith(r"y &= x + a\end{aligned}")
    assert r"\mathrm{Norm}(a)" in explanations.leaving_formula(wiring(after=Norm("rms", 1e-6)))


def test_a_way_that_ends_early_says_so() -> None:
    assert "is unknown" in explanations.describe_output(wiring(ends="output"))
    beside = explanations.describe_output(wiring(ends="beside"))
    assert "parallel feed-forward" in beside
    assert "y &=" not in explanations.leaving_formula(wiring(ends="beside"))


def test_the_origin_of_the_input_is_that_of_the_stack() -> None:
    assert "previous layer" in explanations.describe_input(wiring(), "decoder")
    assert "encoder's output" in explanations.describe_input(wiring(), "cross")
    pre = wiring(before=Norm("rms", 1e-6))
    assert "is normalised first" in explanations.describe_input(pre, "cross")
    assert "is normalised first" in explanations.describe_input(pre, "decoder")


def test_shared_keys_rotary_positions_and_norms_are_named_where_they_are() -> None:
    shared = ProjectionParameters(numbers(7, 1, 4))
    assert "3 query heads share 1" in explanations.projections(wiring(key=shared, value=shared))
    assert "share" not in explanations.projections(wiring())
    assert "7 × 4" in explanations.projections(wiring())
    query = ProjectionParameters(
        numbers(7, 3, 4), None, Norm("rms", 1e-6, wide=True), Rotary(np.array([1.0], np.float32))
    )
    text = explanations.projections(wiring(query=query))
    assert "normalised" in text
    assert "2 of 4 channels are" in text


def test_the_projections_have_the_biases_and_sources_of_the_layer() -> None:
    plain = explanations.projection_formula(wiring(), "encoder")
    assert "q_i &= x_i W_Q + b_Q" in plain
    bare = ProjectionParameters(numbers(7, 3, 4))
    cross = explanations.projection_formula(wiring(key=bare, before=Norm("layer", 1e-5)), "cross")
    assert r"q_i &= \hat{x}_i W_Q + b_Q" in cross
    assert r"k_j &= m_j W_K \\" in cross
    assert "v_j &= m_j W_V + b_V" in cross


def test_a_norm_s_formula_has_what_the_norm_has() -> None:
    weight = np.ones(4, np.float32)
    assert explanations.norm_formula(Norm("layer", 1e-5, weight, weight)).endswith(r"\odot \gamma + \beta")
    assert explanations.norm_formula(Norm("layer", 1e-5, weight)).endswith(r"\odot \gamma")
    assert r"\gamma" not in explanations.norm_formula(Norm("rms", 1e-6))


@pytest.mark.slow
def test_a_weight_is_told_in_chinese() -> None:
    page = asked("step_by_step", lang="zh", layer=3, head=1)
    assert any("头 3-1" in note and "注意力" in note for note in notes(page))


def test_a_link_opens_its_stage_and_next_goes_on() -> None:
    page = asked("step_by_step", layer=3, head=1, stage="residual")
    assert [title.value for title in page.header] == []
    (further,) = (button for button in page.button if button.key == "stage_next")
    further.click().run()
    assert page.query_params["stage"] == "check"
    assert [button.disabled for button in page.button if button.key == "stage_next"] == [True]
    whole = asked("step_by_step", layer=3, head=1, stage="all")
    assert len(whole.header) == len(STAGES)
