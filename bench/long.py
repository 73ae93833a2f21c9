"""The longest text: 8,192 tokens on a random model of ModernBERT's size (22 layers of 12 heads)."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from bench.browser import Page, chromium
from bench.hover import REPEATS, click_head, hover_head
from bench.memory import status
from bench.models import count_long, save_long, text_of
from bench.report import ReportRow
from bench.server import app

TOKENS = 8192
MEMORY = 24 * 2**30
PATIENCE = 1200.0  # seconds
FREEZE = 500.0  # ms for which a blocked main thread is perceived as a freeze


def measure() -> Iterator[ReportRow]:
    """Yield a row for the trace and a row for the app in the browser."""
    with tempfile.TemporaryDirectory() as name:
        folder = save_long(Path(name) / "long")
        text = text_of(TOKENS, count_long, seed=4)
        yield measure_trace(folder)
        with app(environment={"HEADLIGHT_MODEL_FOLDERS": name}) as server, chromium() as browser:
            page = Page(browser)
            page.open(f"{server.url}/?model={quote(str(folder))}&text=The+baker+bought+a+lantern.")
            page.wait_until_painted()
            page.settle()
            page.frames.clear()
            page.fetched.clear()
            took = page.submit(text, PATIENCE)
            page.settle(2)
            longest = max((task["length"] for task in page.note("long")), default=0.0)
            received = sum(page.frames) + sum(size for address, size in page.fetched.items())
            turns = range(3, 3 + REPEATS // 4)
            clicks = [click_head(page, turn) for turn in turns]
            hovers = [hover_head(page, turn) for turn in turns]
            peak = server.peak()
        passed = peak <= MEMORY and longest <= FREEZE
        figure = (
            f"painted after {took / 1000:.1f} s; longest browser task {longest:.0f} ms; "
            f"server's peak {peak / 2**30:.1f} GiB"
        )
        note = (
            f"{received / 1e6:.1f} MB to the browser; then a head chosen by click is painted in {max(clicks):.0f} ms "
            f"and a head pointed at in {max(hovers):.0f} ms, the slowest of {len(turns)} each"
        )
        bar = f"works in 24 GiB, no browser task over {FREEZE:.0f} ms"
        yield ReportRow(f"{TOKENS:,} tokens, 264 heads, text submitted → painted", bar, figure, passed, note)


def measure_trace(folder: Path) -> ReportRow:
    """Measure the trace in a separate process, without the app."""
    command = [sys.executable, "-m", "bench.long", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    seconds = f"{found['cpu']:.0f} s of processor time, {found['seconds']:.0f} s on the wall"
    figure = f"{seconds}; peak {found['peak'] / 2**30:.1f} GiB"
    whole = 22 * 12 * TOKENS**2 * 4 / 2**30
    note = (
        f"model loaded before; {found['threads']} threads; the trace holds {found['bytes'] / 2**30:.2f} GiB where all "
        f"maps would be {whole:.0f} GiB"
    )
    return ReportRow(f"{TOKENS:,} tokens, trace alone", "works in 24 GiB", figure, found["peak"] <= MEMORY, note)


def trace(folder: Path) -> dict[str, float]:
    """Compute the trace; return its seconds, CPU seconds, peak memory, size and number of threads."""
    from dataclasses import replace

    import torch

    from inference import LocalBackend, TraceRequest
    from inference.settings import Settings

    backend = LocalBackend(replace(Settings.from_env(), model_folders=(folder.parent,)))
    backend.trace(TraceRequest(model=str(folder), text="The baker bought a lantern."))
    began, cpu = time.perf_counter(), time.process_time()
    made = backend.trace(TraceRequest(model=str(folder), text=text_of(TOKENS, count_long, seed=4)))
    seconds, spent = time.perf_counter() - began, time.process_time() - cpu
    if len(made.source) != TOKENS:
        raise RuntimeError(f"The text has {len(made.source)} tokens, not {TOKENS}.")
    found = {"seconds": seconds, "cpu": spent, "peak": status("VmHWM"), "bytes": made.nbytes}
    return {**found, "threads": torch.get_num_threads()}


if __name__ == "__main__":
    print(json.dumps(trace(Path(sys.argv[1]))))
