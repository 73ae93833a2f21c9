"""The steps of attention as matrices: values, formulas and the explanation of each cell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import pytest

from attention.toy_example import ToyAttention, ToyExample, ToyRules, attend, compute_example
from i18n import translate, use_language
from tests.support.asking import plain_numbers
from tests.support.cases import loop_over
from ui.pages.by_hand import steps as matrix_steps
from ui.pages.by_hand.descriptions import describe_nearest, gradient, scaled_versions, what_is_left
from ui.pages.by_hand.example import apply_table_edits, example_of, resize
from ui.pages.by_hand.steps import (
    MatrixStep,
    cell_of,
    figure,
    mix_heads,
    next_word_steps,
    open_cell,
    residual_steps,
    size_note,
    sum_of,
)
from viz.components.matrices.matrices import MatrixSpec

SMALL = resize(example_of("tutorial"), 3, 4, 4)  # SMALL has three tokens and four columns.
SENTENCE = example_of("sentence")  # SENTENCE has four tokens, three columns, width four and five words.


def worked(heads: int = 2, causal: bool = False) -> ToyAttention:
    return attend(SMALL.x, SMALL.w_q, SMALL.w_k, SMALL.w_v, heads, causal)


def way(**rules: bool) -> ToyExample:
    return compute_example(SENTENCE, ToyRules(heads=2, **rules))


def every(found: ToyExample, head: int, scaled: bool) -> list[MatrixStep]:
    """Return all the steps of the page."""
    compared = matrix_steps.compare(SENTENCE, found.worked, head, (2, 1), scaled)
    before = [*matrix_steps.enter(SENTENCE, found), *matrix_steps.project(SENTENCE, found, head), *compared]
    mixed = [
        *matrix_steps.mix(SENTENCE, found.worked, head, 2),
        *mix_heads(SENTENCE, found),
        *residual_steps(SENTENCE, found),
    ]
    return [*before, *mixed, *next_word_steps(SENTENCE, found), *gradient(SENTENCE, found.worked, head, 2)]


def names(found: Sequence[MatrixStep] | Sequence[MatrixSpec]) -> list[str]:
    return [one.sheet.name if isinstance(one, MatrixStep) else one.name for one in found]


def test_projections_are_the_products_that_their_names_say() -> None:
    found = compute_example(SMALL, ToyRules(heads=2))
    q, k, v = (step.sheet for step in matrix_steps.project(SMALL, found, 1))
    assert [q.name, k.name, v.name] == ["Q = X·W_Q", "K = X·W_K", "V = X·W_V"]
    for sheet, matrix in ((q, SMALL.w_q), (k, SMALL.w_k), (v, SMALL.w_v)):
        np.testing.assert_allclose(sheet.values, SMALL.x @ matrix)
        assert sheet.marked_columns == (2, 3), "the columns of the second of two heads"
        sizes = {size_note(rows, columns) for rows, columns in (sheet.values.shape, (len(sheet.rows), 2))}
        assert set(re.findall(r"\d+ \w+ × \d+", sheet.note)) == sizes, "those of the whole matrix and of the head"
        assert sheet.rows == SMALL.tokens
    assert matrix_steps.project(SMALL, compute_example(SMALL, ToyRules()), 0)[1].sheet.marked_columns == ()


def test_each_step_follows_from_the_one_before() -> None:
    steps = [step.sheet for step in matrix_steps.compare(SMALL, worked(causal=True), 1, (2, 0), True)]
    dots, scaled, masked, powers, sums, weights = steps
    q, k = SMALL.x @ SMALL.w_q, SMALL.x @ SMALL.w_k
    np.testing.assert_allclose(dots.values, q[:, 2:] @ k[:, 2:].T)
    np.testing.assert_allclose(scaled.values, dots.values / math.sqrt(2))
    np.testing.assert_array_equal(np.isinf(masked.values), np.triu(np.ones((3, 3)), 1) == 1)
    np.testing.assert_allclose(powers.values, np.exp(masked.values))
    np.testing.assert_allclose(sums.values, powers.values.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(weights.values, powers.values / sums.values)
    assert (weights.palette, weights.limit) == ("sequential", 1.0)
    for sheet in (dots, scaled, masked, powers, weights):
        assert (sheet.marked_rows, sheet.marked_columns) == ((2,), (0,))
    assert sums.marked_rows == (2,)


def test_what_is_not_done_is_not_shown() -> None:
    plain = ["Q·Kᵀ", "e^s", "Sum", "A = softmax"]
    assert names(matrix_steps.compare(SMALL, worked(1), 0, (0, 0), True)) == [plain[0], "Q·Kᵀ / √4", *plain[1:]]
    assert names(matrix_steps.compare(SMALL, worked(1), 0, (0, 0), False)) == plain
    assert names(matrix_steps.enter(SENTENCE, way())) == ["X"]
    assert names(matrix_steps.enter(SENTENCE, way(positions=True))) == ["X", "P", "X + P"]
    assert residual_steps(SENTENCE, way(layer=False)) == []
    assert [names(next_word_steps(SENTENCE, way(layer=layer)))[0] for layer in (True, False)] == ["Y·Eᵀ", "O·Eᵀ"]


def test_powers_that_are_too_large_are_taken_less_the_largest() -> None:
    large = attend(100 * SMALL.x, SMALL.w_q, SMALL.w_k, SMALL.w_v)
    powers = matrix_steps.compare(SMALL, large, 0, (0, 0), True)[2]
    assert powers.sheet.name == "e^(s − max)"
    assert powers.sheet.values.max() == 1
    row, column = (int(at) for at in np.unravel_index(powers.sheet.values.argmax(), powers.sheet.values.shape))
    top = figure(float(large.scaled[0, row, column]))
    assert powers.how(row, column) == f"e^({top} − {top})"


def test_what_comes_out_is_the_values_mixed() -> None:
    own, result = (step.sheet for step in matrix_steps.mix(SMALL, worked(), 1, 2))
    np.testing.assert_allclose(own.values, worked().weights[1] @ (SMALL.x @ SMALL.w_v)[:, 2:])
    np.testing.assert_allclose(result.values[:, 2:], own.values)
    assert result.columns == ("0·1", "0·2", "1·1", "1·2")
    assert names(matrix_steps.mix(SMALL, worked(1), 0, 0)) == ["A·V"]


def counted_out(text: str) -> float:
    """Return the value of a written formula, evaluated by Python."""
    plain = re.sub(r"√([0-9]+)", r"√(\1)", plain_numbers(text))
    for sign, other in (("×", "*"), ("√", "sqrt"), ("e^(", "exp("), ("10000^", "10000**")):
        plain = plain.replace(sign, other)
    assert re.fullmatch(r"[a-z0-9+*/(),. -]+", plain), text
    functions = {name: getattr(math, name) for name in ("sqrt", "exp", "sin", "cos")}
    # The pattern above admits only arithmetic.
    return float(eval(plain, {"__builtins__": {}, "max": max, **functions}))


@loop_over("head", [0, 1])
@loop_over("rules", [{}, {"positions": True}, {"layer": False}, {"causal": True, "positions": True}, {"scaled": False}])
def test_every_cells_sum_makes_its_number(rules: dict[str, bool], head: int) -> None:
    """Formulas have two decimals, which bounds their accuracy."""
    steps = every(way(**rules), head, rules.get("scaled", True))
    assert len({step.key for step in steps}) == len(steps)
    for step in steps:
        for (row, column), value in np.ndenumerate(step.sheet.values):
            how = step.how(row, column)
            if step.key in ("x", "masked") or "∞" in how:
                assert step.key != "es" or value == 0
                continue
            assert counted_out(how) == pytest.approx(float(value), rel=0.03, abs=0.04), (step.sheet.name, row, column)
            if np.isfinite(value):
                assert sum_of(step, row, column).startswith(step.sheet.name)


def test_a_masked_cell_says_why() -> None:
    masked = next(step for step in every(way(causal=True), 0, True) if step.key == "masked")
    assert sum_of(masked, 0, 2) == "masked, “the” and “slept”: masked = (−∞)."
    powers = next(step for step in every(way(causal=True), 0, True) if step.key == "es")
    assert sum_of(powers, 0, 2).endswith("e^((−∞)) = 0.00.")


def test_a_sum_is_written_out() -> None:
    q = matrix_steps.project(SENTENCE, way(), 0)[0]
    assert sum_of(q, 1, 0) == "Q = X·W_Q, “cat” and “1”: 1.00 × 0.50 + 0.30 × 3.00 + 0.10 × 0.00 = 1.40."
    assert sum_of(matrix_steps.enter(SENTENCE, way())[0], 0, 0) == "X, “the” and “1”: 0.20, as typed."


@loop_over("name", ["", "q", "q-9-0", "q-0-4", "z-0-0", "<b>-0-0", "q-0-0-0", "q-10-0"])
def test_a_link_to_no_cell_opens_none(name: str) -> None:
    assert cell_of(name, matrix_steps.project(SENTENCE, way(), 0)) is None


def test_a_cell_that_is_opened_is_framed() -> None:
    steps = matrix_steps.project(SENTENCE, way(), 0)
    place = cell_of("k-2-1", steps)
    assert place == (1, 2, 1)
    q, k, _ = open_cell(steps, place)
    assert (k.marked_rows, k.marked_columns) == ((2,), (1,))
    assert q == steps[0].sheet


def test_the_worked_line_is_true_in_every_figure() -> None:
    line = matrix_steps.worked_line(SMALL, worked(1), 0, (1, 2))
    dots = "“je” to “ai”: q·k = 0.30 × 0.10 + (−0.20) × (−0.10) + 0.70 × 0.50 + 0.10 × 0.20 = 0.42"
    assert line == f"{dots}, / √4 = 0.21, softmax → 0.37."
    plain = attend(SMALL.x, SMALL.w_q, SMALL.w_k, SMALL.w_v, scaled=False)
    assert matrix_steps.worked_line(SMALL, plain, 0, (1, 2), False).startswith(f"{dots}, softmax → 0.4")


@pytest.mark.parametrize("head", [0, 1])
def test_each_head_s_line_has_its_own_figures(head: int) -> None:
    line = matrix_steps.worked_line(SMALL, worked(), head, (0, 1))
    found = re.search(r"q·k = (.*) = (\S+), /", line)
    assert found
    terms, total = found.groups()
    assert terms.count("×") == 2
    assert counted_out(terms) == pytest.approx(counted_out(total), abs=0.005)


def test_a_hidden_pair_is_said_to_be_hidden() -> None:
    line = matrix_steps.worked_line(SMALL, worked(causal=True), 0, (0, 2))
    assert line.endswith("masked: −∞, softmax → 0.")


def test_what_is_printed_stands_beside_both_that_are_true() -> None:
    small = example_of("tutorial")
    alone = attend(small.x, small.w_q, small.w_k, small.w_v)
    printed, over, plain = scaled_versions(np.array([[0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.4, 0.3]]), small, alone)
    assert [printed.name, over.name, plain.name] == ["Printed", "True, d_k = 4", "True, d_k = 1"]
    np.testing.assert_allclose(over.values, alone.weights[0, :2])
    np.testing.assert_allclose(
        plain.values, attend(small.x, small.w_q, small.w_k, small.w_v, scaled=False).weights[0, :2]
    )
    assert printed.rows == ("french", "je")


def test_with_four_heads_of_one_column_each_stands_beside_what_is_printed() -> None:
    """Four heads at width four have d_k = 1."""
    small = example_of("tutorial")
    four = attend(small.x, small.w_q, small.w_k, small.w_v, 4)
    given = np.array([[0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.4, 0.3]])
    _, *heads = scaled_versions(given, small, four)
    assert [sheet.name for sheet in heads] == [f"True, head {head}" for head in range(4)]
    apart = [float(np.abs(sheet.values - given).max()) for sheet in heads]
    said = f"head {int(np.argmin(apart))} is closest to the tutorial: up to "
    assert describe_nearest(given, four) == f"Of 4 heads with d_k = 1, {said}{min(apart):.2f} apart."
    assert min(apart) > 0.1


def test_larger_scores_leave_less_of_the_gradient_and_the_masked_ones_have_none() -> None:
    found = way(causal=True)
    first, second, third = gradient(SENTENCE, found.worked, 1, 2)
    assert first.sheet.rows == first.sheet.columns == SENTENCE.tokens[:3]
    np.testing.assert_allclose(first.sheet.values.sum(axis=1), 0, atol=1e-12)
    traces = [np.trace(step.sheet.values) for step in (first, second, third)]
    assert traces[0] > traces[1] > traces[2]
    said = what_is_left(SENTENCE, found.worked, 1, 2)
    assert said.endswith(f"{traces[0]:.3f} (s = q·k / √2), {traces[1]:.3f} (s = q·k), {traces[2]:.3f} (s = 8 q·k).")


def test_the_matrices_are_named_in_chinese() -> None:
    small = example_of("sentence")
    found = compute_example(small, ToyRules(heads=2, causal=True, positions=True))
    with use_language("zh"):
        steps = [*matrix_steps.enter(small, found), *matrix_steps.project(small, found, 1)]
        steps += matrix_steps.compare(small, found.worked, 1, (2, 1), True) + matrix_steps.mix(
            small, found.worked, 1, 2
        )
        steps += mix_heads(small, found) + residual_steps(small, found) + next_word_steps(small, found)
        steps += gradient(small, found.worked, 1, 2)
        notes = {step.key: step.sheet.note for step in steps}
        assert sum_of(steps[0], 0, 0) == "X，“the”与“1”：0.20，按输入原样。"
    assert notes["q"] == "2 个头共 4 个词元 × 4；框出的是头 1：4 个词元 × 2"
    assert notes["dot"] == "头 1"
    assert not any(re.search("[a-z]{3}", note) for note in notes.values())


def test_what_cannot_be_read_and_what_has_no_name_yet() -> None:
    small = example_of("lookup")
    problems = apply_table_edits(small, {"x": {0: {"2": "two"}}})[1]
    with use_language("zh"):
        assert translate(problems[0]).startswith("X，第 1 行，第 2 列：“two”不是数字")
        assert resize(small, 4, 3, 3).tokens[-1] == "词元 4"
