"""Peak memory of recording, against requesting every map (`output_attentions=True`).

Each variant runs in a separate process. The model first reads the text plainly, so that all permanent memory is
allocated; then it reads the text by the measured variant, whose result is kept. The peak is the kernel's (VmHWM,
reset before the measured pass) minus the resident memory before the pass. The peak of a plain SDPA pass, measured
alike, is subtracted. Malloc settings return large blocks to the system immediately, so that the peak contains only
memory in use.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.models import BERT_BASE, EMBEDDED, RECORDING, build, inputs
from bench.report import ReportRow, upper_limit_row

LIMITS = {EMBEDDED: 1 / 3, BERT_BASE: 1 / 2}
TOKENS, REPEATS = 512, 3
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
WAYS = ("plain", "recording", "eager")


def measure() -> Iterator[ReportRow]:
    """Yield a row for each model."""
    for name in (EMBEDDED, BERT_BASE):
        peaks: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(REPEATS):
            for way in WAYS:
                peaks[way].append(peak_apart(name, way))
        plain, recording, eager = (median(peaks[way]) for way in WAYS)
        added, asked = recording - plain, eager - plain
        figure = f"{max(added, 0) / asked:.3f} ({added:+.0f} MiB against {asked:+.0f} MiB)"
        note = (
            f"peak above the loaded model: plain {plain:.0f}, recording {recording:.0f}, eager {eager:.0f} MiB; "
            f"medians of {REPEATS} processes each"
        )
        what = f"peak memory added by recording / by output_attentions, {name}, {TOKENS} tokens"
        yield upper_limit_row(what, LIMITS[name], added / asked, figure, note)


def peak_apart(name: str, way: str) -> float:
    """Measure the peak of a variant in a new process, in MiB above the resident memory before."""
    command = [sys.executable, "-m", "bench.memory", name, way]
    done = subprocess.run(command, env={**os.environ, **MALLOC}, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1])["mib"])


def peak(name: str, way: str) -> float:
    """Measure the peak of a variant in this process, in MiB above the resident memory before."""
    import torch

    from inference.record.capture import record_parts

    model = build(name, {"plain": "sdpa", "recording": RECORDING, "eager": "eager"}[way])
    given = inputs(TOKENS)
    with torch.inference_mode():
        model(**given)
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # reset VmHWM
        before = status("VmRSS")
        if way == "recording":
            result = record_parts(model, given, [TOKENS])
        else:
            result = model(**given, output_attentions=way == "eager")
        highest = status("VmHWM") - before
        del result
    return highest / 2**20


def status(field: str, process: int | str = "self") -> int:
    """Return a field of a process's /proc status in bytes; raise KeyError if the kernel lacks it."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(f"This kernel tells no {field}.")


if __name__ == "__main__":
    print(json.dumps({"mib": peak(*sys.argv[1:])}))
