"""Steps after attention on the small example as matrices: W_O, the rest of the layer, the next word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attention.toy_example import EPSILON, Numbers, ToyExample
from i18n import _
from ui.pages.by_hand.attention_matrices import number_columns, softmax_steps
from ui.pages.by_hand.example import Example
from ui.pages.by_hand.figures import figure, format_four_digits, format_sum
from ui.pages.by_hand.steps import MatrixStep, product
from viz.components.matrices.matrices import MatrixSpec


def mix_heads(example: Example, found: ToyExample) -> list[MatrixStep]:
    """Return the step that multiplies the concatenated heads by W_O."""
    common = _column_labels(example, found.joined)
    name = "A·V·W_O" if found.worked.heads == 1 else "Concat(heads)·W_O"
    note = _(
        "{tokens} tokens × {columns}",
        tokens=len(example.tokens),
        columns=found.joined.shape[1],
    )
    return [
        MatrixStep("o", MatrixSpec(name, found.joined, note=note, **common), product(found.worked.result, example.w_o))
    ]


def residual_steps(example: Example, found: ToyExample) -> list[MatrixStep]:
    """Return the steps after W_O: residual sum, LayerNorm, feed-forward, residual sum and LayerNorm.

    The list is empty if the rest of the layer is off.
    """
    layer = found.layer
    if layer is None:
        return []
    common, inside = _column_labels(example, layer.added), _column_labels(example, layer.hidden)
    normed = _("each row normalised")
    return [
        MatrixStep(
            "add",
            MatrixSpec(_("X + attention"), layer.added, note=_("the residual sum"), **common),
            _sum(found.x, found.joined),
        ),
        MatrixStep(
            "norm", MatrixSpec("N = LayerNorm", layer.normed, note=normed, **common), _norm_formula(layer.added)
        ),
        MatrixStep(
            "inner",
            MatrixSpec("N·W_1", layer.hidden, note=_("feed-forward, each token alone"), **inside),
            product(layer.normed, example.w_1),
        ),
        MatrixStep(
            "relu",
            MatrixSpec("ReLU", layer.active, note=_("negative numbers become zero"), **inside),
            lambda row, column: f"max(0, {figure(layer.hidden[row, column])})",
        ),
        MatrixStep(
            "outer",
            MatrixSpec("ReLU·W_2", layer.forward, note=_("back to X's columns"), **common),
            product(layer.active, example.w_2),
        ),
        MatrixStep(
            "add2",
            MatrixSpec(_("N + feed-forward"), layer.summed, note=_("the residual sum"), **common),
            _sum(layer.normed, layer.forward),
        ),
        MatrixStep(
            "norm2", MatrixSpec("Y = LayerNorm", layer.closed, note=normed, **common), _norm_formula(layer.summed)
        ),
    ]


def next_word_steps(example: Example, found: ToyExample) -> list[MatrixStep]:
    """Return the steps from the final vectors to the probabilities of the words."""
    name = "Y·Eᵀ" if found.layer is not None else "O·Eᵀ"
    common: dict[str, Any] = {"rows": example.tokens, "columns": example.words}
    note = _("{words} logits: dot products with E", words=len(example.words))
    logits = MatrixStep("logit", MatrixSpec(name, found.logits, note=note, **common), product(found.last, example.e.T))
    made = (found.shift, found.powers, found.sums, found.chances)
    return [logits, *softmax_steps("z", found.logits, made, "", common, _("next word"))]


def _column_labels(example: Example, matrix: Numbers) -> dict[str, Any]:
    return {"rows": example.tokens, "columns": number_columns(matrix.shape[1])}


def _sum(one: Numbers, other: Numbers) -> Callable[[int, int], str]:
    return lambda row, column: format_sum([one[row, column], other[row, column]])


def _norm_formula(rows: Numbers) -> Callable[[int, int], str]:
    def how(row: int, column: int) -> str:
        mean, variance = float(np.mean(rows[row])), float(np.var(rows[row]))
        above = f"({format_four_digits(rows[row, column])} − {format_four_digits(mean)})"
        return f"{above} / √({format_four_digits(variance)} + {EPSILON:.5f})"

    return how
