"""The cost of ablating every head of a short text, against plain forward passes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.models import EMBEDDED, RECORDING, build, inputs
from bench.report import ReportRow, upper_limit_row
from bench.timing import ratio, time_in_turns

LIMIT = 30.0
TOKENS = 16
REPEATS = 30


def measure() -> Iterator[ReportRow]:
    """Yield a row for the ablations of all heads of the embedded model and the unedited text."""
    import torch

    from attention.edits import Ablate
    from inference.record.edit_hooks import HEADS
    from inference.runners.edit_batches import one_pass
    from inference.settings import Settings

    torch.set_num_threads(Settings().forward_threads)
    plain, editable = build(EMBEDDED, "sdpa"), build(EMBEDDED, RECORDING)
    [heads] = getattr(editable, HEADS).values()
    sets = [(), *((Ablate(layer, head),) for layer, many in enumerate(heads) for head in range(many))]
    given = inputs(TOKENS)
    every = partial(one_pass, editable, given, sets)
    with torch.inference_mode():
        times = time_in_turns({"plain": partial(plain, **given), "every": every}, REPEATS)
    found = ratio(times["every"], times["plain"])
    note = f"processor time, median of {REPEATS} rounds in turns; {len(sets)} samples, one pass"
    what = f"{len(sets) - 1} single-head ablations / one plain forward pass, {EMBEDDED}, {TOKENS} tokens"
    yield upper_limit_row(what, LIMIT, found.cpu, str(found), note)
