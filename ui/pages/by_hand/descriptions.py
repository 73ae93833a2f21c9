"""Sentences on the small example: its largest weight, the weights printed in a tutorial, and the gradient."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from attention.softmax import by_width, slopes, softmax_sensitivity
from attention.toy_example import Numbers, ToyAttention, ToyExample, softmax
from i18n import _
from ui.pages.by_hand.example import Example, strongest_link
from ui.pages.by_hand.steps import MatrixStep, figure
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.text import format_and_list, format_comma_list, join_sentences
from viz.components.matrices import matrices
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.formulas import softmax_slope


def describe_largest(tokens: Sequence[str], worked: ToyAttention, head: int, causal: bool) -> str:
    """Describe a head's largest weight, compared with uniform attention."""
    row, column = strongest_link(worked, head, causal)
    seen = row + 1 if causal else len(tokens)
    told = _(
        "“{token}” gives {target} {weight:.0%} of its attention, its largest weight (uniform over {seen}: {even:.0%}).",
        token=tokens[row],
        target=_("itself") if row == column else f"“{tokens[column]}”",
        weight=worked.weights[head, row, column],
        seen=seen,
        even=1 / seen,
    )
    return _("Head {head}: {told}", head=head, told=told) if worked.heads > 1 else told


def printed_against(printed: Sequence[Sequence[float]], tokens: Sequence[str], worked: ToyAttention) -> str:
    """Describe how a tutorial's printed attention weights differ from the true softmax of its scores.

    ``printed`` are the tutorial's weights (query, key), and ``worked`` is the correct calculation.
    """
    given = np.array(printed)
    true, scores = worked.weights[0, : len(given)], worked.scaled[0, : len(given)]

    def rows(table: Numbers) -> str:
        return format_and_list(
            [
                f"“{token}” {' '.join(f'{weight:.2f}' for weight in row)}"
                for row, token in zip(table, tokens, strict=False)
            ]
        )

    said = _(
        "A tutorial prints the weights {given}; the softmax is {true}, up to {apart:.2f} apart.",
        given=rows(given),
        true=rows(true),
        apart=np.abs(given - true).max(),
    )
    turned = [not np.array_equal(row.argsort(), order.argsort()) for row, order in zip(given, scores, strict=True)]
    never = _("A softmax keeps the order of scores; the printed weights do not.")
    return join_sentences(said, never if all(turned) else "")


def next_words(example: Example, found: ToyExample, said: Sequence[str]) -> str:
    """Describe the likeliest next word in the small example; compare it with a tutorial's words ``said``, if any."""
    best = found.chances.argmax(axis=1)
    if not said:
        at = int(best[-1])
        return _(
            "After “{token}” the model predicts “{word}” ({chance:.2f}, of {words} words).",
            token=example.tokens[-1],
            word=example.words[at],
            chance=found.chances[-1, at],
            words=len(example.words),
        )
    true = format_comma_list(
        [
            f"“{token}” → “{example.words[at]}” ({chances[at]:.2f})"
            for token, at, chances in zip(example.tokens, best, found.chances, strict=True)
        ]
    )
    same = [example.words[at] for at in best] == list(said)
    why = _("The residual sum does it: switch off “Rest of the layer”.") if same and found.layer is not None else ""
    return join_sentences(
        _("A tutorial concludes “{said}” from this example.", said=" ".join(said)),
        _("The same holds here: {words}.", words=true) if same else _("Here it is otherwise: {words}.", words=true),
        why,
    )


def draw_printed(printed: Sequence[Sequence[float]], example: Example, worked: ToyAttention) -> None:
    """Draw the comparison of a tutorial's printed weights with the true weights, as a sentence and matrices."""
    given = np.array(printed)
    said = printed_against(printed, example.tokens, worked) if worked.heads == 1 else describe_nearest(given, worked)
    show_notice(said, role="status")
    matrices.mount(scaled_versions(given, example, worked), "by_hand_printed")


def describe_nearest(printed: Numbers, worked: ToyAttention) -> str:
    """Describe the head whose weights are nearest to the weights printed in a tutorial."""
    apart = np.abs(worked.weights[:, : len(printed)] - printed).max(axis=(1, 2))
    head = int(apart.argmin())
    return _(
        "Of {heads} heads with d_k = {width}, head {head} is closest to the tutorial: up to {apart:.2f} apart.",
        heads=worked.heads,
        width=worked.channels,
        head=head,
        apart=apart[head],
    )


def scaled_versions(printed: Numbers, example: Example, worked: ToyAttention) -> list[MatrixSpec]:
    """Return the weights printed in a tutorial, then the true weights, as matrices.

    If there is a single head, the true weights are those with the scale 1/√d_k and those without it. Otherwise they are
    the weights of each head.
    """
    rows = len(printed)
    common: dict[str, Any] = {
        "rows": example.tokens[:rows],
        "columns": example.tokens,
        "palette": "sequential",
        "limit": 0.5,
    }
    first = MatrixSpec(_("Printed"), printed, **common)
    if worked.heads > 1:
        return [
            first,
            *(
                MatrixSpec(_("True, head {head}", head=head), weights[:rows], **common)
                for head, weights in enumerate(worked.weights)
            ),
        ]
    dots = worked.products[0, :rows]
    over = softmax(dots / np.sqrt(worked.channels))[-1]
    return [
        first,
        MatrixSpec(
            _("True, d_k = {width}", width=worked.channels),
            over,
            note=f"softmax(Q·Kᵀ / √{worked.channels})",
            **common,
        ),
        MatrixSpec(_("True, d_k = {width}", width=1), softmax(dots)[-1], note="softmax(Q·Kᵀ)", **common),
    ]


WIDTHS = tuple(2**power for power in range(11))
DRAWN = 8  # keys in each random row of the curve
LARGER = 8.0  # factor of the scores in the last matrix: √d_k of a head with d_k = 64


@cache
def curve(here: int) -> tuple[tuple[int, ...], Numbers, Numbers]:
    """Return head widths d_k, and the mean softmax sensitivity at each width, with and without 1/√d_k.

    The widths include ``here``. The sensitivity is Σ a·(1 − a), the trace of the softmax Jacobian, over random rows.
    """
    widths = tuple(sorted({*WIDTHS, here}))
    return widths, *by_width(widths, DRAWN)


def row_scores(worked: ToyAttention, head: int, row: int) -> dict[str, Numbers]:
    """Return the scores of a query in three scales, (key,) each; masked keys are left out.

    The keys of the dictionary name the scale: q·k / √d_k, q·k, and LARGER times q·k.
    """
    free = np.isfinite(worked.masked[head, row])
    dots = worked.products[head, row, free]
    over = dots / np.sqrt(worked.channels)
    return {
        f"q·k / √{worked.channels}": over,
        "q·k": dots,
        f"{LARGER:.0f} q·k": LARGER * dots,
    }


def gradient(example: Example, worked: ToyAttention, head: int, row: int) -> list[MatrixStep]:
    """Return the Jacobian of a row's attention weights with respect to its scores, a matrix for each scale.

    The scales are those of ``row_scores``.
    """
    free = np.isfinite(worked.masked[head, row])
    names = tuple(name for name, seen in zip(example.tokens, free, strict=True) if seen)
    limit = 0.25  # the maximum of a·(1 − a), at a = 0.5
    steps = []
    for at, (title, scores) in enumerate(row_scores(worked, head, row).items()):
        weights = softmax(scores[None])[-1][0]
        note = f"Σ a·(1 − a) = {softmax_sensitivity(weights):.3f}"
        sheet = MatrixSpec(f"∂a / ∂s, s = {title}", slopes(weights), names, names, note, limit=limit)
        steps.append(MatrixStep(f"slope{at}", sheet, _slope(weights)))
    return steps


def what_is_left(example: Example, worked: ToyAttention, head: int, row: int) -> str:
    """Describe the sensitivity of a row's weights to its scores, Σ a·(1 − a), for each scale of ``row_scores``."""
    steep = {
        title: float(softmax_sensitivity(softmax(s[None])[-1][0])) for title, s in row_scores(worked, head, row).items()
    }
    each = format_comma_list([f"{slope:.3f} (s = {title})" for title, slope in steep.items()])
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
            "Mean sensitivity for random rows: {over:.2f} with √d_k and {plain:.2f} without at d_k = "
            "{width}; {over_there:.2f} and {plain_there:.2f} at d_k = {widest:,}.",
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
            "Mean over 200 random rows of {keys} keys (standard normal, seed 0); q·k has variance "
            "d_k. Near zero the gradient vanishes "
            "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.2.1).",
            keys=DRAWN,
        )
    )


def _slope(weights: Numbers) -> Any:
    def how(row: int, column: int) -> str:
        own, other = figure(weights[row]), figure(weights[column])
        return f"{own} × (1 − {own})" if row == column else f"−{own} × {other}"

    return how
