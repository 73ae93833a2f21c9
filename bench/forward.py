"""The cost of recording queries, keys and values in a forward pass, against a plain pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.models import BERT_BASE, EMBEDDED, RECORDING, build, inputs
from bench.report import ReportRow, upper_limit_row
from bench.timing import ratio, time_in_turns

LIMIT = 1.10
REPEATS = {(EMBEDDED, 128): 100, (EMBEDDED, 512): 40, (BERT_BASE, 128): 30, (BERT_BASE, 512): 14}


def measure() -> Iterator[ReportRow]:
    """Yield a row for each model and length."""
    import torch

    from inference.record.capture import record_parts
    from inference.settings import Settings

    torch.set_num_threads(Settings().forward_threads)
    for name in (EMBEDDED, BERT_BASE):
        plain, recording = build(name, "sdpa"), build(name, RECORDING)
        for tokens in (128, 512):
            given = inputs(tokens)
            repeats = REPEATS[name, tokens]
            ways = {"plain": partial(plain, **given), "recorded": partial(record_parts, recording, given, [tokens])}
            with torch.inference_mode():
                times = time_in_turns(ways, repeats)
            found = ratio(times["recorded"], times["plain"])
            least, threads = min(times["plain"].cpu) * 1000, torch.get_num_threads()
            note = f"processor time, median of {repeats} rounds in turns; plain {least:.0f} ms, {threads} threads"
            what = f"forward pass with recording / plain SDPA, {name}, {tokens} tokens"
            yield upper_limit_row(what, LIMIT, found.cpu, str(found), note)
