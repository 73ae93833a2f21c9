"""The cost of `headlight.explore` for a small encoder in memory, including its forward pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

from bench.models import EMBEDDED, build, count_embedded, tokenizer
from bench.report import ReportRow, upper_limit_row
from bench.texts import text_of

FIRST, AFTER = 200, 60  # limits in milliseconds of CPU time
TOKENS, TEXTS, MODELS = 24, 12, 5


def measure() -> Iterator[ReportRow]:
    """Yield rows for the first text of a model, which prepares it, and for later texts."""
    import torch

    from headlight import explore

    torch.set_num_threads(1)  # the CPU time of several threads includes waiting, which is long on a busy machine
    names = tokenizer()
    texts = [text_of(TOKENS, count_embedded, seed) for seed in range(TEXTS)]
    explore(build(EMBEDDED, "sdpa"), names, texts[0])  # imports and disk caches are not measured
    first, after = [], []
    for seed in range(MODELS):
        model = build(EMBEDDED, "sdpa")
        first.append(time_call(lambda model=model, text=texts[seed]: explore(model, names, text)))  # type: ignore[misc]
        after += [time_call(lambda model=model, text=text: explore(model, names, text)) for text in texts]  # type: ignore[misc]
    for what, limit, times in (("first text of a model", FIRST, first), ("the texts after it", AFTER, after)):
        cpu, wall = (median(values) for values in zip(*times, strict=True))
        note = f"median of {len(times)}; on the wall {wall:.0f} ms; {TOKENS} tokens, one thread, imports not counted"
        yield upper_limit_row(f"headlight.explore, {what}, ms of processor time", limit, cpu, f"{cpu:.0f} ms", note)


def time_call(call: Callable[[], object]) -> tuple[float, float]:
    """Return the milliseconds of a call: CPU time and wall time."""
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall)
