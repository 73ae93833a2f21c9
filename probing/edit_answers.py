"""Values of a model's answer under many sets of edits, requested in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attention.mask import FloatArray
from inference import Backend
from inference.tasks.edit_effects import Effect
from inference.tasks.model_request import InspectRequest

AT_ONCE = 8192  # tokens in a request, summed over its sets
MOST_SETS = 500  # sets in a request


def sets_per_request(tokens: int, at_once: int = AT_ONCE) -> int:
    """Return how many sets of edits fit into a single request about a text of ``tokens`` tokens.

    The text counts once for each set, and a request has at most ``at_once`` tokens. The result is at least 1.

    >>> sets_per_request(16), sets_per_request(1024), sets_per_request(10_000)
    (500, 8, 1)
    """
    return min(MOST_SETS, max(1, at_once // tokens))


def answers_under(backend: Backend, request: Any, sets: Sequence[Any], tokens: int) -> FloatArray:
    """Return the values of a model's answer under each set of edits, shape (set, value).

    ``request`` is a model request with a field ``edits``, about a text of ``tokens`` tokens. Raise UserError if the
    model cannot answer.
    """
    step = sets_per_request(tokens)
    found: list[FloatArray] = []
    for at in range(0, len(sets), step):
        asked = replace(request, edits=tuple(sets[at : at + step]))
        answer: Effect = backend.inspect(asked) if isinstance(asked, InspectRequest) else backend.predict(asked)
        found.append(answer.values)
    return np.concatenate(found)
