"""Sentences, table and figures of the page "Why attention", derived from its four numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attention.complexity import TABLE, ComplexitySetting, CostSizes, QuadraticFit
from i18n import use_language
from ui.pages.why_attention.descriptions import WhyAttentionOptions
from ui.pages.why_attention.page import CostSetting, row_of, summary
from ui.state.params import parse_params
from viz.figures.formulas import activation, growth, memory, operation_shares, seconds
from viz.figures.theme import DARK, LIGHT, Theme

SIZES = CostSizes(width=24, heads=3, kv_heads=3, head_width=8, value_width=8, hidden=32)


def test_the_sentence_by_hand() -> None:
    said = summary(CostSetting(ComplexitySetting(d=384, k=3, r=64), 16))
    assert re.findall(r"[\d.,]*\d", said) == [
        *("16", "384", "0.0417", "98,304", "2,359,296"),  # n, d, the ratio, n² · d and n · d²
        *("1", "16", "3", "2.52"),  # steps of self-attention, a recurrent layer and convolutions of width 3
    ]


def test_beyond_d_the_other_one_is_cheaper() -> None:
    said = summary(CostSetting(ComplexitySetting(d=64), 640))
    assert said.startswith("At n = 640 and d = 64, self-attention costs 10 times")


def test_a_large_ratio_has_no_exponent() -> None:
    assert "self-attention costs 0.000122 times" in summary(CostSetting(ComplexitySetting(d=16384), 2))


def test_at_d_both_cost_the_same() -> None:
    said = summary(CostSetting(ComplexitySetting(d=512), 512))
    assert said.startswith("At n = 512 and d = 512, self-attention costs 1 times")


def test_the_table_has_the_paper_s_formulas_and_the_values() -> None:
    rows = [list(row_of(row, CostSetting(ComplexitySetting(d=512, k=4, r=20), 100)).values()) for row in TABLE]
    assert rows == [
        ["Self-attention", "O(n² · d)", "5,120,000", "O(1)", "1", "O(1)", "1"],
        ["Recurrent", "O(n · d²)", "26,214,400", "O(n)", "100", "O(n)", "100"],
        ["Convolutional", "O(k · n · d²)", "104,857,600", "O(1)", "1", "O(log_k(n))", "3.322"],
        ["Self-attention (restricted)", "O(r · n · d)", "1,024,000", "O(1)", "1", "O(n / r)", "5"],
    ]


def test_options_live_in_the_address() -> None:
    assert parse_params(WhyAttentionOptions, {"d": "512", "n": "99"}) == (WhyAttentionOptions(d=512, n=99), [])
    assert parse_params(WhyAttentionOptions, {"d": "many"})[1] == [
        "The link's “d” is not valid: 'many'; the default is used."
    ]


# --- figures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_curves_are_told_apart_without_colour(theme: Theme) -> None:
    n = np.geomspace(1, 1000, 7)
    curves = [(row.name, row.cost_at(n, ComplexitySetting(d=8))) for row in TABLE]
    figure = growth(n, curves, theme, "<b>Cost</b>", "Operations", 40)
    assert len({trace.line.dash for trace in figure.data}) == len({trace.line.color for trace in figure.data}) == 4
    assert figure.layout.title.text == "&lt;b&gt;Cost&lt;/b&gt;"
    np.testing.assert_allclose(figure.data[0].y, n**2 * 8)
    assert [shape.x0 for shape in figure.layout.shapes] == [40]


def test_curves_that_are_all_alike_have_an_axis_too() -> None:
    n = np.geomspace(1, 100, 5)
    figure = growth(n, [("one", np.ones(5))], LIGHT, "t", "u", 3)
    low, high = figure.layout.yaxis.range
    assert low < 0 < high


def test_shares_sum_to_all() -> None:
    figure = operation_shares(SIZES, 5000, 7, LIGHT)
    np.testing.assert_allclose(sum(np.array(trace.y) for trace in figure.data), 100)
    at = np.abs(np.array(figure.data[2].x) - SIZES.pairs_meet_rest).argmin()
    assert figure.data[2].name == "pairs of tokens, n²"
    assert figure.data[2].y[at] == pytest.approx(50, abs=2)
    assert [shape.x0 for shape in figure.layout.shapes] == [7, SIZES.pairs_meet_rest]


def test_measured_points_are_drawn_as_they_are() -> None:
    n, busy = np.array([16.0, 32, 64]), np.array([0.001, 0.002, 0.005])
    figure = seconds(n, busy, QuadraticFit(0.0005, 0.00002, 0.000001), DARK)
    named = {trace.name: trace for trace in figure.data}
    np.testing.assert_allclose(named["measured here"].y, [1, 2, 5])
    assert named["c · n² alone"].y[-1] == pytest.approx(1e3 * 0.000001 * 64**2)
    assert len(seconds(n, busy, None, LIGHT).data) == 1, "three lengths or fewer have no curve"


def test_maps_grow_with_the_square() -> None:
    n = np.array([10.0, 20])
    figure = memory(n, np.array([1e6, 2e6]), np.array([3e6, 12e6]), LIGHT)
    assert figure.data[0].y[-1] == pytest.approx(12)
    np.testing.assert_allclose(figure.data[1].y, [1, 2])


def test_relu_is_not_compared_with_itself() -> None:
    inputs = np.linspace(-1, 1, 5, dtype=np.float32)
    assert len(activation(inputs, np.maximum(inputs, 0), "ReLU", LIGHT).data) == 1
    figure = activation(inputs, inputs, "<i>", LIGHT)
    assert [trace.name for trace in figure.data] == ["ReLU (arXiv:1706.03762)", "Model: &lt;i&gt;"]


def test_the_table_has_chinese_names_for_its_columns() -> None:
    with use_language("zh"):
        names = list(row_of(TABLE[0], CostSetting(ComplexitySetting(512), 100)))
        assert summary(CostSetting(ComplexitySetting(512), 512)).startswith("当 n = 512、d = 512 时")
    assert [name.strip() for name in names] == [
        "层的类型",
        "每层的复杂度",
        "取值",
        "顺序操作数",
        "取值",
        "最大路径长度",
        "取值",
    ]
