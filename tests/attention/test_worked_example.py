"""Worked calculations of a single weight: the printed numbers belong to the pair and lead to its weight."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from attention.mask import Mask
from attention.walkthrough import format_projection, lines, number, products, weigh
from tests.support.traces import numbers, record

DECIMAL = r"-?\d+\.\d\d"


def written(rec: Any, head: int = 1, row: int = 2, at: int = 3) -> Any:
    rows = np.array([row])
    weighing = weigh(rec.query[head][rows], rec.key[head], rec, head, rows)
    return lines(rec.query[head][row], rec.key[head][at], weighing, at), weighing


def last_number(line: Any) -> float:
    return float(re.findall(DECIMAL, line)[-1])


def test_products_and_rest_make_the_sum() -> None:
    one, other = numbers(9, seed=1), numbers(9, seed=2)
    found = products(one, other)
    assert len(found.terms) + found.left == 9
    assert sum(a * b for a, b in found.terms) + found.rest == pytest.approx(float(one @ other), abs=1e-6)
    sizes = np.abs(one * other)
    assert set(found.channels) == set(np.argsort(sizes)[-3:].tolist())


def test_the_lines_lead_from_the_products_to_the_weight() -> None:
    rec = record()
    found, weighing = written(rec)
    text = " ".join(found)
    assert r"\,/\, \sqrt{4}" in text
    assert last_number(found[2]) == pytest.approx(float(weighing.dots[0, 3]), abs=0.005)
    assert last_number(found[3]) == pytest.approx(float(weighing.scaled[0, 3]), abs=0.005)
    assert last_number(found[-1]) == pytest.approx(float(rec.weights(1)[2, 3]), abs=0.005)
    power, total = (np.exp(values.astype(float)) for values in (weighing.scores[0, 3], weighing.scores[0]))
    ratio = re.search(r"= ([\d.]+) / ([\d.]+) = ", found[-1])
    assert ratio is not None
    assert [float(part) for part in ratio.groups()] == pytest.approx([float(power), float(total.sum())], rel=0.005)


def test_sums_that_are_too_large_are_written_as_their_logarithm() -> None:
    rec = record(scale=400.0)
    found, weighing = written(rec)
    exponent = re.search(rf"e\^{{({DECIMAL}) - \(?({DECIMAL})\)?}}", found[-1])
    assert exponent is not None
    scores = weighing.scores[0].astype(float)
    lse = float(np.log(np.exp(scores - scores.max()).sum()) + scores.max())
    assert float(exponent[2]) == pytest.approx(lse, abs=0.005)
    assert r"\ln" in found[-2]


def test_every_rule_of_the_layer_has_its_line() -> None:
    rec = record(softcap=1.5, bias=numbers(3, 5, 5, seed=4), scale=0.3)
    text = " ".join(written(rec)[0])
    assert r"\cdot 0.3" in text
    assert r"\mathrm{cap}" in text
    assert r"\text{bias}" in text
    assert "e^{s''}" in text
    plain = " ".join(written(record())[0])
    assert "cap" not in plain
    assert "bias" not in plain


def test_a_bias_of_nothing_is_not_mentioned() -> None:
    assert "bias" not in " ".join(written(record(bias=np.zeros((1, 5, 5), np.float32)))[0])


def test_a_masked_pair_gets_nothing() -> None:
    found, _ = written(record(mask=Mask(5, 5, causal=True)), row=2, at=3)
    assert found[-1] == r"a &= e^{-\infty} = 0 \quad \text{(masked)}"


def test_a_sink_is_in_the_sum() -> None:
    rec = record(sinks=np.array([0, 3, 0], np.float32))
    assert last_number(written(rec)[0][-1]) == pytest.approx(float(rec.weights(1)[2, 3]), abs=0.005)


@pytest.mark.parametrize("bias", [None, -0.4])
def test_one_channel_is_worked_out(bias: float | None) -> None:
    vector, weights = numbers(7, seed=1), numbers(7, seed=2)
    found = format_projection(vector, weights, bias, "q_{2}")
    assert found[0].startswith("q_{2} &= ")
    assert last_number(found[-1]) == pytest.approx(float(vector @ weights) + (bias or 0), abs=0.005)
    assert ("_{b}" in found[-1]) == (bias is not None)


def test_zero_has_no_sign() -> None:
    assert number(-1e-9) == "0.00"
