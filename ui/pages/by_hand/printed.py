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
    """The sentence and the matrices: printed, and the softmax of the same scores with both divisors."""
    say(printed_against(printed, example.tokens, worked), role="status")
    matrices.mount(beside(np.array(printed), example, worked), "by_hand_printed")


def beside(printed: Numbers, example: Example, worked: Worked) -> list[Sheet]:
    """As printed, over √d_k with the d_k that the matrices have, and with d_k = 1 as the tutorial counts."""
    rows = len(printed)
    dots = worked.products[0, :rows]
    common: dict[str, Any] = {
        "rows": example.tokens[:rows],
        "columns": example.tokens,
        "palette": "sequential",
        "limit": 0.5,
    }
    return [
        Sheet("Printed", printed, note="what the tutorial prints", **common),
        Sheet(
            f"True, d_k = {worked.channels}",
            softmax(dots / np.sqrt(worked.channels))[-1],
            note=f"softmax of Q·Kᵀ / √{worked.channels}",
            **common,
        ),
        Sheet("True, d_k = 1", softmax(dots)[-1], note="softmax of Q·Kᵀ as it is", **common),
    ]
