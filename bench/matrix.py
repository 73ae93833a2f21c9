"""The cost of computing a head's complete matrix from a trace."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.models import BERT_BASE, EMBEDDED, RECORDING, build, inputs
from bench.report import ReportRow, upper_limit_row
from bench.timing import ratio, time_in_turns

LIMIT = 1 / 50
TOKENS, REPEATS = 512, 15


def measure() -> Iterator[ReportRow]:
    """Yield a row for each model: a head's 512 × 512 weights against a plain forward pass."""
    import torch

    from inference.record.capture import record_parts
    from inference.settings import Settings
    from inference.threads import calm_blas

    torch.set_num_threads(Settings().forward_threads)
    calm_blas()
    for name in (EMBEDDED, BERT_BASE):
        plain = build(name, "sdpa")
        given = inputs(TOKENS)
        [parts] = record_parts(build(name, RECORDING), given, [TOKENS])
        record = parts["encoder"][3]
        with torch.inference_mode():
            times = time_in_turns({"forward": partial(plain, **given), "matrix": partial(record.weights, 5)}, REPEATS)
        found = ratio(times["matrix"], times["forward"])
        milliseconds = min(times["matrix"].cpu) * 1000
        note = f"processor time, median of {REPEATS} rounds in turns; the matrix takes {milliseconds:.2f} ms"
        what = f"one head's matrix / whole forward pass, {name}, {TOKENS} tokens"
        yield upper_limit_row(what, LIMIT, found.cpu, str(found), note)
