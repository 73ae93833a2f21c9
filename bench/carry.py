"""The time of activation patching of every vector and head, with random controls."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from statistics import median
from typing import Any

from bench.models import EMBEDDED
from bench.report import ReportRow, upper_limit_row

LIMIT = 5.0  # seconds
TIRED = "The animal didn't cross the street because it was too tired."
WIDE = TIRED.replace("tired", "wide")
ROUNDS, AT_ONCE = 5, 500  # repetitions; edit sets per request


def measure() -> Iterator[ReportRow]:
    """Yield a row for the embedded model's sentence vector, and a row for headlight-bert's masked word."""
    from inference.tasks.edit_effects import BlankEffects, VectorEffects

    hidden = ((0, TIRED.index("animal"), TIRED.index("animal") + len("animal")),)
    words = ("people", "street")
    yield _row(EMBEDDED, "sentence vector", *(VectorEffects(EMBEDDED, text=text) for text in (TIRED, WIDE)))
    blanks = (BlankEffects("headlight-bert", text=text, hidden=hidden, words=words) for text in (TIRED, WIDE))
    yield _row("headlight-bert", "masked word", *blanks)


def _row(model: str, what: str, here: Any, there: Any) -> ReportRow:
    from dataclasses import replace

    from attention.comparison import align
    from attention.edits import head_patches, paired_tokens, random_patches, residual_patches
    from attention.view import View
    from inference import LocalBackend, TraceRequest
    from inference.runners import edit_effects
    from probing.statistics import draws

    backend = LocalBackend()
    left, right = (View(trace, words=True) for trace in backend.traces(
        [TraceRequest(model, text=text) for text in (TIRED, WIDE)]))  # fmt: skip
    pairs = paired_tokens(left, right, align(left, right)[0])
    sets = [
        *residual_patches(left.layers, pairs),
        *head_patches([*product(range(left.layers), range(left.heads))], pairs),
    ]
    places, width = len(sets), left.heads
    states_of, heads_of = sets[: -left.layers * width], sets[-left.layers * width :]
    sets = [*sets, *random_patches(states_of, draws(len(pairs))), *random_patches(heads_of, draws(width))]
    loaded = backend.loaded(model, None, here.HEAD)
    wall, processor = [], []
    for _ in range(ROUNDS):
        began, used = time.perf_counter(), time.process_time()
        for at in range(0, len(sets), AT_ONCE):
            some = tuple(sets[at : at + AT_ONCE])
            edit_effects.answer(loaded, replace(here, edits=some, other=there))
        wall.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    told = f"{median(wall):.1f} s (processor {median(processor):.1f} s)"
    note = f"median of {ROUNDS}; {len(sets)} readings, of which {len(sets) - places} are random changes"
    return upper_limit_row(f"tired | wide, {what} of {model}: every vector and head taken from the other text", LIMIT,
                median(wall), told, note)  # fmt: skip
