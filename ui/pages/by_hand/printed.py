"""What a tutorial prints for its example, beside what its numbers give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention.by_hand import Numbers, Worked, softmax
from ui.pages.by_hand.example import Example
from ui.pages.by_hand.said import printed_against
from ui.run.refusals import say
from viz.components.matrices import matrices
from viz.components.matrices.matrices import Sheet


def printed_beside(printed: Sequence[Sequence[float]], example: Example, worked: Worked) -> None:
    """The sentence and the matrices: printed, and what is true of the same scores."""
    given = np.array(printed)
    said = printed_against(printed, example.tokens, worked) if worked.heads == 1 else nearest(given, worked)
    say(said, role="status")
    matrices.mount(beside(given, example, worked), "by_hand_printed")


def nearest(printed: Numbers, worked: Worked) -> str:
    """Which of several heads comes nearest to what is printed, and how near."""
    apart = np.abs(worked.weights[:, : len(printed)] - printed).max(axis=(1, 2))
    head = int(apart.argmin())
    return (
        f"Of the {worked.heads} heads with d_k = {worked.channels}, head {head + 1} comes nearest to the weights that "
        f"a well-known tutorial prints: up to {apart[head]:.2f} apart."
    )


def beside(printed: Numbers, example: Example, worked: Worked) -> list[Sheet]:
    """As printed, then over √d_k with the d_k that the matrices have, as if d_k were 1; or of each head."""
    rows = len(printed)
    common: dict[str, Any] = {
        "rows": example.tokens[:rows],
        "columns": example.tokens,
        "palette": "sequential",
        "limit": 0.5,
    }
    first = Sheet("Printed", printed, note="what the tutorial prints", **common)
    if worked.heads > 1:
        note = f"its own weights, d_k = {worked.channels}"
        return [
            first,
            *(
                Sheet(f"True, head {head + 1}", weights[:rows], note=note, **common)
                for head, weights in enumerate(worked.weights)
            ),
        ]
    dots = worked.products[0, :rows]
    over = softmax(dots / np.sqrt(worked.channels))[-1]
    return [
        first,
        Sheet(f"True, d_k = {worked.channels}", over, note=f"softmax of Q·Kᵀ / √{worked.channels}", **common),
        Sheet("True, d_k = 1", softmax(dots)[-1], note="softmax of Q·Kᵀ as it is", **common),
    ]
