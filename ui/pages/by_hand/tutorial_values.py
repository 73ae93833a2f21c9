"""Comparison of the weights that a tutorial prints with those that its numbers give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention.toy_example import Numbers, ToyAttention, softmax
from i18n import _
from ui.pages.by_hand.descriptions import printed_against
from ui.pages.by_hand.example import Example
from ui.run.notices import show_notice
from viz.components.matrices import matrices
from viz.components.matrices.matrices import MatrixSpec


def draw_printed(printed: Sequence[Sequence[float]], example: Example, worked: ToyAttention) -> None:
    """Draw the comparison as a sentence and as matrices."""
    given = np.array(printed)
    said = printed_against(printed, example.tokens, worked) if worked.heads == 1 else describe_nearest(given, worked)
    show_notice(said, role="status")
    matrices.mount(scaled_versions(given, example, worked), "by_hand_printed")


def describe_nearest(printed: Numbers, worked: ToyAttention) -> str:
    """Describe the head with the weights nearest to the printed weights."""
    apart = np.abs(worked.weights[:, : len(printed)] - printed).max(axis=(1, 2))
    head = int(apart.argmin())
    return _(
        "Of {heads} heads with d_k = {width}, head {head} is closest to the tutorial's weights: up to "
        "{apart:.2f} apart.",
        heads=worked.heads,
        width=worked.channels,
        head=head + 1,
        apart=apart[head],
    )


def scaled_versions(printed: Numbers, example: Example, worked: ToyAttention) -> list[MatrixSpec]:
    """Return the printed weights, then the true weights.

    With a single head these are the weights over √d_k and those for d_k = 1; otherwise the weights of each head.
    """
    rows = len(printed)
    common: dict[str, Any] = {
        "rows": example.tokens[:rows],
        "columns": example.tokens,
        "palette": "sequential",
        "limit": 0.5,
    }
    first = MatrixSpec(_("Printed"), printed, note=_("from the tutorial"), **common)
    if worked.heads > 1:
        note = _("its own weights, d_k = {width}", width=worked.channels)
        return [
            first,
            *(
                MatrixSpec(_("True, head {head}", head=head + 1), weights[:rows], note=note, **common)
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
            note=_("softmax of Q·Kᵀ / √{width}", width=worked.channels),
            **common,
        ),
        MatrixSpec(_("True, d_k = {width}", width=1), softmax(dots)[-1], note=_("softmax of Q·Kᵀ"), **common),
    ]
