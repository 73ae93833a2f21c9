"""Why scores are divided by √d_k: what large scores leave of the softmax's gradient, as numbers and as a curve."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from attention.by_hand import Numbers, Worked, softmax
from attention.softmax_slope import by_width, slopes, steepness
from ui.pages.by_hand.example import Example
from ui.pages.by_hand.figures import figure
from ui.pages.by_hand.steps import Step
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from viz.components.matrices.matrices import Sheet
from viz.figures.softmax_slope import softmax_slope

WIDTHS = tuple(2**power for power in range(11))
DRAWN = 8  # keys of a random row
LARGER = 8.0  # by which the last matrix's scores are multiplied: √64, what a usual head's d_k would do
CURVE = (
    "Mean over 200 random rows of {} keys, queries and keys from the standard normal distribution (seed 0): then q·k "
    "has variance d_k. Where the line is near zero one weight is nearly one, and whatever is multiplied with such a "
    "gradient in training is lost ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.2.1, footnote 4)."
)


@cache
def curve(here: int) -> tuple[tuple[int, ...], Numbers, Numbers]:
    """The widths, the example's own d_k among them, and the two lines."""
    widths = tuple(sorted({*WIDTHS, here}))
    return widths, *by_width(widths, DRAWN)


def row_scores(worked: Worked, head: int, row: int) -> dict[str, Numbers]:
    """One row's scores that are not hidden, (key,), by how they are scaled."""
    free = np.isfinite(worked.masked[head, row])
    dots = worked.products[head, row, free]
    over = dots / np.sqrt(worked.channels)
    return {f"over √{worked.channels}": over, "as they are": dots, f"as they are, times {LARGER:.0f}": LARGER * dots}


def gradient(example: Example, worked: Worked, head: int, row: int) -> list[Step]:
    """How each weight of a row changes with each of its scores, a matrix for each scale."""
    free = np.isfinite(worked.masked[head, row])
    names = tuple(name for name, seen in zip(example.tokens, free, strict=True) if seen)
    limit = 0.25  # of a·(1 − a), at a half
    steps = []
    for at, (title, scores) in enumerate(row_scores(worked, head, row).items()):
        weights = softmax(scores[None])[-1][0]
        note = f"sum of a·(1 − a): {steepness(weights):.3f}"
        sheet = Sheet(f"∂a / ∂s, scores {title}", slopes(weights), names, names, note, limit=limit)
        steps.append(Step(f"slope{at}", sheet, _slope(weights)))
    return steps


def what_is_left(example: Example, worked: Worked, head: int, row: int) -> str:
    """One sentence about the row's gradient under the three scales."""
    steep = {title: float(steepness(softmax(s[None])[-1][0])) for title, s in row_scores(worked, head, row).items()}
    told = ", ".join(f"{value:.3f} with scores {title}" for title, value in steep.items())
    return f"How much the weights of “{example.tokens[row]}” move when its scores do, the sum of a·(1 − a): {told}."


def draw_curve(worked: Worked) -> None:
    """The same over d_k, for random rows."""
    widths, over, plain = curve(worked.channels)
    here = widths.index(worked.channels)
    say(
        f"For random rows it is {over[here]:.2f} over √d_k and {plain[here]:.2f} without at d_k = {widths[here]}; at "
        f"d_k = {widths[-1]:,} it is {over[-1]:.2f} and {plain[-1]:.2f}.",
        role="status",
    )
    draw_chart(softmax_slope(widths, over, plain, theme(), widths[here]), "by_hand_slope")
    st.caption(CURVE.format(DRAWN))


def _slope(weights: Numbers) -> Any:
    def how(row: int, column: int) -> str:
        own, other = figure(weights[row]), figure(weights[column])
        return f"{own} × (1 − {own})" if row == column else f"−{own} × {other}"

    return how
