"""Values of a model's answer under many sets of edits, requested in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attention.mask import FloatArray
from attention.record import Record
from attention.trace import Trace
from inference import Backend
from inference.tasks.edit_effects import Effect
from inference.tasks.model_request import InspectRequest

AT_ONCE = 8192  # tokens in a request, summed over its sets
MOST_SETS = 500  # sets in a request
STEP_WORK = 2e10  # multiplications in a step of a progress bar, about a second or two on two cores


def sets_per_request(tokens: int, at_once: int = AT_ONCE) -> int:
    """Return how many sets of edits fit into a single request about a text of ``tokens`` tokens.

    The text counts once for each set, and a request has at most ``at_once`` tokens. The result is at least 1.

    >>> sets_per_request(16), sets_per_request(1024), sets_per_request(10_000)
    (500, 8, 1)
    """
    return min(MOST_SETS, max(1, at_once // tokens))


def tokens_per_step(trace: Trace, part: str | None = None) -> int:
    """Return how many tokens a step of a progress bar has, so that it lasts about a second, at most AT_ONCE.

    ``trace`` is of the model that answers, and ``part`` a stack of it, by default the first.
    """
    records = trace.records(part)
    record = next((layer for layer in records if isinstance(layer, Record)), None)
    width = record.heads * int(record.query.shape[2]) if record is not None else 1
    return tokens_for_size(len(records), width)


def tokens_for_size(layers: int, width: int) -> int:
    """Return the number of tokens per step for a model with ``layers`` layers of ``width`` channels.

    A layer has about 12 · width² weights.

    >>> tokens_for_size(30, 576), tokens_for_size(12, 768), tokens_for_size(6, 384)
    (167, 235, 1883)
    """
    return min(AT_ONCE, int(STEP_WORK / (12 * layers * width**2)))


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
