"""What follows attention on the small example, as matrices: W_O, the rest of the layer, and the next word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attention.by_hand import Numbers
from attention.by_hand_layer import EPSILON, Whole
from ui.pages.by_hand.example import Example
from ui.pages.by_hand.figures import figure, finer, plus
from ui.pages.by_hand.sheets import counted, softmax_steps
from ui.pages.by_hand.steps import Step, product
from viz.components.matrices.matrices import Sheet
from wording import _


def joined(example: Example, found: Whole) -> list[Step]:
    """The heads' results mixed by W_O, as many columns as X again."""
    common = _common(example, found.joined)
    name = "A·V·W_O" if found.worked.heads == 1 else "Concat(heads)·W_O"
    note = _(
        "{tokens} tokens × {columns}: as many columns as X has",
        tokens=len(example.tokens),
        columns=found.joined.shape[1],
    )
    return [Step("o", Sheet(name, found.joined, note=note, **common), product(found.worked.result, example.w_o))]


def around(example: Example, found: Whole) -> list[Step]:
    """Residual sum and LayerNorm, the feed-forward part, and both again."""
    layer = found.layer
    if layer is None:
        return []
    common, inside = _common(example, layer.added), _common(example, layer.hidden)
    normed = _("each row less its mean, over its standard deviation")
    return [
        Step(
            "add",
            Sheet(_("X + attention"), layer.added, note=_("the residual sum"), **common),
            _sum(found.x, found.joined),
        ),
        Step("norm", Sheet("N = LayerNorm", layer.normed, note=normed, **common), _normed(layer.added)),
        Step(
            "inner",
            Sheet("N·W_1", layer.hidden, note=_("each token alone, into the feed-forward part"), **inside),
            product(layer.normed, example.w_1),
        ),
        Step(
            "relu",
            Sheet("ReLU", layer.active, note=_("what is below zero becomes zero"), **inside),
            lambda row, column: f"max(0, {figure(layer.hidden[row, column])})",
        ),
        Step(
            "outer",
            Sheet("ReLU·W_2", layer.forward, note=_("as many columns as X again"), **common),
            product(layer.active, example.w_2),
        ),
        Step(
            "add2",
            Sheet(_("N + feed-forward"), layer.summed, note=_("the residual sum"), **common),
            _sum(layer.normed, layer.forward),
        ),
        Step("norm2", Sheet("Y = LayerNorm", layer.closed, note=normed, **common), _normed(layer.summed)),
    ]


def words(example: Example, found: Whole) -> list[Step]:
    """From the last vectors to a probability for each word."""
    name = "Y·Eᵀ" if found.layer is not None else "O·Eᵀ"
    common: dict[str, Any] = {"rows": example.tokens, "columns": example.words}
    note = _("{words} words: a logit each, the dot product with its vector in E", words=len(example.words))
    logits = Step("logit", Sheet(name, found.logits, note=note, **common), product(found.last, example.e.T))
    made = (found.shift, found.powers, found.sums, found.chances)
    return [logits, *softmax_steps("z", found.logits, made, "", common, _("next word"))]


def _common(example: Example, matrix: Numbers) -> dict[str, Any]:
    return {"rows": example.tokens, "columns": counted(matrix.shape[1])}


def _sum(one: Numbers, other: Numbers) -> Callable[[int, int], str]:
    return lambda row, column: plus([one[row, column], other[row, column]])


def _normed(rows: Numbers) -> Callable[[int, int], str]:
    def how(row: int, column: int) -> str:
        mean, variance = float(np.mean(rows[row])), float(np.var(rows[row]))
        return f"({finer(rows[row, column])} − {finer(mean)}) / √({finer(variance)} + {EPSILON:.5f})"

    return how
