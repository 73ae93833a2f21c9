"""Effect of the division by √d_k on the gradient of the softmax, as matrices and as a curve."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from attention.softmax import by_width, slopes, softmax_sensitivity
from attention.toy_example import Numbers, ToyAttention, softmax
from i18n import _
from ui.pages.by_hand.example import Example
from ui.pages.by_hand.figures import figure
from ui.pages.by_hand.steps import MatrixStep
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.text import format_comma_list
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.formulas import softmax_slope

WIDTHS = tuple(2**power for power in range(11))
DRAWN = 8  # keys in each random row of the curve
LARGER = 8.0  # factor of the scores in the last matrix: √d_k of a head with d_k = 64


@cache
def curve(here: int) -> tuple[tuple[int, ...], Numbers, Numbers]:
    """Return the widths including ``here``, and the sensitivity with and without the division by √d_k."""
    widths = tuple(sorted({*WIDTHS, here}))
    return widths, *by_width(widths, DRAWN)


def row_scores(worked: ToyAttention, head: int, row: int) -> dict[str, Numbers]:
    """Return the unmasked scores of a row, (key,), by the title of their scale."""
    free = np.isfinite(worked.masked[head, row])
    dots = worked.products[head, row, free]
    over = dots / np.sqrt(worked.channels)
    return {
        _("scores over √{channels}", channels=worked.channels): over,
        _("unscaled"): dots,
        _("unscaled, times {larger:.0f}", larger=LARGER): LARGER * dots,
    }


def gradient(example: Example, worked: ToyAttention, head: int, row: int) -> list[MatrixStep]:
    """Return a step per scale: the Jacobian of a row's weights with respect to its scores."""
    free = np.isfinite(worked.masked[head, row])
    names = tuple(name for name, seen in zip(example.tokens, free, strict=True) if seen)
    limit = 0.25  # the maximum of a·(1 − a), at a = 0.5
    steps = []
    for at, (title, scores) in enumerate(row_scores(worked, head, row).items()):
        weights = softmax(scores[None])[-1][0]
        note = _("sum of a·(1 − a): {slope:.3f}", slope=softmax_sensitivity(weights))
        sheet = MatrixSpec(_("∂a / ∂s, {scores}", scores=title), slopes(weights), names, names, note, limit=limit)
        steps.append(MatrixStep(f"slope{at}", sheet, _slope(weights)))
    return steps


def what_is_left(example: Example, worked: ToyAttention, head: int, row: int) -> str:
    """Describe the softmax sensitivity of a row under the three scales."""
    steep = {
        title: float(softmax_sensitivity(softmax(s[None])[-1][0])) for title, s in row_scores(worked, head, row).items()
    }
    each = format_comma_list(
        [_("{slope:.3f} with {scores}", slope=slope, scores=title) for title, slope in steep.items()]
    )
    return _(
        "Sensitivity of the weights of “{token}”, the sum of a·(1 − a): {each}.",
        token=example.tokens[row],
        each=each,
    )


def draw_curve(worked: ToyAttention) -> None:
    """Draw the softmax sensitivity over d_k for random rows."""
    widths, over, plain = curve(worked.channels)
    here = widths.index(worked.channels)
    show_notice(
        _(
            "For random rows: {over:.2f} with √d_k and {plain:.2f} without at d_k = {width}; "
            "{over_there:.2f} and {plain_there:.2f} at d_k = {widest:,}.",
            over=over[here],
            plain=plain[here],
            width=widths[here],
            widest=widths[-1],
            over_there=over[-1],
            plain_there=plain[-1],
        ),
        role="status",
    )
    draw_chart(softmax_slope(widths, over, plain, theme(), widths[here]), "by_hand_slope", about=dict)
    st.caption(
        _(
            "Mean over 200 random rows of {keys} keys (standard normal, seed 0), so q·k has variance d_k. "
            "Near zero the gradient vanishes ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section "
            "3.2.1, footnote 4).",
            keys=DRAWN,
        )
    )


def _slope(weights: Numbers) -> Any:
    def how(row: int, column: int) -> str:
        own, other = figure(weights[row]), figure(weights[column])
        return f"{own} × (1 − {own})" if row == column else f"−{own} × {other}"

    return how
